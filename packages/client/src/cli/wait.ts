// Waiting for the end of a job, shared by try-on run and try-on jobs wait.
import { ApiError, TimeoutError, TryOnError, type Job, type TryOnClient } from '../index.ts'
import { CliError, EXIT, InterruptedError } from './errors.ts'
import { failureOf } from './failure.ts'

interface JobWait {
  client: TryOnClient
  jobId: string
  /** Seconds. */
  timeout: number
  /** The option --output, which is repeated in the hint that says how to continue. */
  output?: string | undefined
  signal: AbortSignal
  /** Shows the progress. */
  show(text: string): void
}

/**
 * The job in a final status.
 * @throws InterruptedError and CliError that say how to continue; ApiError for an unknown job
 */
export async function waitForJob(wait: JobWait): Promise<Job> {
  const { client, jobId, timeout, output, signal, show } = wait
  const next = `The job continues. Wait for it: try-on jobs wait ${jobId}${output ? ` -o ${output}` : ''}`
  try {
    return await client.jobs.wait(jobId, {
      timeoutMs: timeout * 1000,
      signal,
      onUpdate: ({ status }) => show(`${jobId} ${status}`),
    })
  } catch (error) {
    if (signal.aborted) throw new InterruptedError(next)
    if (error instanceof ApiError && error.status === 404) throw error
    if (!(error instanceof TimeoutError)) {
      const { code, message, exitCode, hints } = failureOf(error)
      throw new CliError(code, message, { exitCode, hints: [next, ...hints] })
    }
    const { cause } = error
    throw new CliError('timeout', `${jobId} has not ended within ${timeout} s.`, {
      exitCode: EXIT.timeout,
      hints: [...(cause instanceof TryOnError ? [`Last error: ${cause.message}`] : []), next],
    })
  }
}

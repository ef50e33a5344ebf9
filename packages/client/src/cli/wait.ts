// Waiting for the end of a job, shared by try-on run and try-on jobs wait.
import { ApiError, TimeoutError, TryOnError } from '../index.ts'
import type { Job, TryOnClient } from '../index.ts'
import type { Options } from './args.ts'
import type { Context, OptionSpec } from './command.ts'
import { CliError, EXIT, InterruptedError } from './errors.ts'
import { failureOf } from './failure.ts'
import { download, noteExtension } from './images.ts'
import { printable } from './output.ts'
import type { Progress } from './output.ts'
import type { Session } from './settings.ts'

export const TIMEOUT_OPTION: OptionSpec = {
  name: 'timeout',
  value: 'SECONDS',
  summary: 'Time limit of the wait. Default: 300.',
}

/** @throws UsageError unless the value is a whole number of seconds, at most a day */
export const timeoutSecondsOf = (options: Options): number =>
  options.integer('timeout', { min: 1, max: 86_400 }) ?? 300

/**
 * The job in a final status.
 * @throws InterruptedError and CliError that say how to continue; ApiError for an unknown job
 */
export async function waitForJob(
  { options, signal }: Context,
  client: TryOnClient,
  jobId: string,
  timeoutSeconds: number,
  progress: Progress,
): Promise<Job> {
  const target = options.text('output')
  const next = `The job continues. Wait for it: try-on jobs wait ${jobId}${target ? ` -o ${target}` : ''}`
  try {
    return await client.jobs.wait(jobId, {
      timeoutMs: timeoutSeconds * 1000,
      signal,
      onUpdate: ({ status }) => progress.update(`${jobId} ${status}`),
    })
  } catch (error) {
    if (signal.aborted) throw new InterruptedError(next)
    if (error instanceof ApiError && error.status === 404) throw error
    if (!(error instanceof TimeoutError)) {
      const { code, message, exitCode, hints } = failureOf(error, false)
      throw new CliError(code, message, { exitCode, hints: [next, ...hints] })
    }
    const { cause } = error
    throw new CliError('timeout', `${jobId} has not ended within ${timeoutSeconds} s.`, {
      exitCode: EXIT.timeout,
      hints: [...(cause instanceof TryOnError ? [`Last error: ${cause.message}`] : []), next],
    })
  }
}

/**
 * Downloads the picture of a completed job, if `target` names a file, and prints the result.
 * @throws CliError for any other status, after it has printed the document with --json
 */
export async function finish(
  { output, signal }: Context,
  { baseUrl }: Session,
  job: Job,
  target: ((job: Job) => string) | undefined,
  document: (path: string | null) => object,
): Promise<void> {
  const { job_id: id, status, duration_ms: durationMs } = job
  if (status !== 'completed') {
    if (output.isJson) output.result(document(null), [])
    throw jobFailure(job, baseUrl)
  }
  const path = target?.(job) ?? null
  if (path) {
    await download(job, path, signal)
    noteExtension(job, path, output)
  }
  const seconds = durationMs === null ? '' : ` in ${(durationMs / 1000).toFixed(1)} s`
  output.result(document(path), [
    `${output.colour(printable(`${id} ${status}`), 'green')}${seconds}`,
    ...(path ? [path] : []),
  ])
}

function jobFailure({ job_id: id, status, error_code: code }: Job, baseUrl: string): CliError {
  if (!code) return new CliError(`job_${status}`, `${id} ended with the status ${status}.`)
  return new CliError(code, `${id} failed: ${code}. No credit was consumed.`, {
    hints: [`Help: ${baseUrl}/docs/errors#${code}`],
  })
}

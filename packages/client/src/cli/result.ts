// The end of try-on run and try-on jobs wait: the picture and the printed result.
import type { Job } from '../index.ts'
import { CliError } from './errors.ts'
import { download, noteExtension } from './images.ts'
import { printable, type Output } from './output.ts'

interface EndedJob {
  job: Job
  /** Where its picture is stored. Without it, the picture is not downloaded. */
  target: ((job: Job) => string) | undefined
  baseUrl: string
  output: Output
  signal: AbortSignal
}

/**
 * Downloads the picture of a completed job and prints the result.
 * @throws CliError for any other status, after it has printed the document with --json
 */
export async function finish({ job, target, baseUrl, output, signal }: EndedJob): Promise<void> {
  const document = (path: string | null) => (target ? { job, path } : job)
  if (job.status !== 'completed') {
    if (output.isJson) output.result(document(null), [])
    throw jobFailure(job, baseUrl)
  }
  const path = target?.(job) ?? null
  if (path) {
    await download(job, path, signal)
    noteExtension(job, path, output)
  }
  const seconds = secondsOf(job)
  output.result(document(path), [
    `${output.colour(printable(`${job.job_id} completed`), 'green')}${seconds && ` in ${seconds}`}`,
    ...(path ? [path] : []),
  ])
}

/** The processing time, for example `5.2 s`; empty before the end. */
export const secondsOf = ({ duration_ms: durationMs }: Pick<Job, 'duration_ms'>): string =>
  durationMs === null ? '' : `${(durationMs / 1000).toFixed(1)} s`

function jobFailure({ job_id: id, status, error_code: code }: Job, baseUrl: string): CliError {
  if (!code) return new CliError(`job_${status}`, `${id} ended with the status ${status}.`)
  return new CliError(code, `${id} failed: ${code}. No credit was consumed.`, {
    hints: [`Help: ${baseUrl}/docs/errors#${code}`],
  })
}

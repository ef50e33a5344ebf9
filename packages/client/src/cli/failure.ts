// Translates errors of the client to what the command line prints, and to an exit code.
import { ApiError, ConnectionError, TimeoutError, TryOnError } from '../index.ts'
import { CliError, EXIT, type ExitCode, type Failure } from './errors.ts'

export function failureOf(error: unknown): Failure {
  if (error instanceof CliError) return error
  if (error instanceof ApiError) return apiFailure(error)
  if (error instanceof TimeoutError) return failure('timeout', error.message, EXIT.timeout)
  if (error instanceof ConnectionError) {
    const hint = 'Check the address: --base-url, TRY_ON_BASE_URL or try-on login.'
    return failure('connection_error', error.message, EXIT.failure, [hint])
  }
  if (error instanceof TryOnError) return failure('client_error', error.message, EXIT.failure)
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const frames = (stack ?? '').split('\n').filter((line) => /^ +at /.test(line))
  return failure('unexpected_error', message, EXIT.failure, frames)
}

function apiFailure(error: ApiError): Failure {
  const { code, status, message, requestId, retryAfterSeconds, docsUrl } = error
  const [baseUrl = ''] = docsUrl.split('/docs/')
  const hints: string[] = []
  if (status === 401) {
    hints.push(`Create a key at ${baseUrl}/console/settings/api-keys, then run: try-on login`)
  }
  if (code === 'insufficient_credits') hints.push(`Buy credits: ${baseUrl}/console/billing`)
  if (code === 'workspace_not_found') hints.push('See your workspaces: try-on workspaces')
  if (code === 'job_not_found') hints.push('See your jobs: try-on jobs list')
  if (retryAfterSeconds !== null) hints.push(`Try again in ${retryAfterSeconds} s.`)
  hints.push(`Help: ${docsUrl}`)
  if (requestId) hints.push(`Request ID: ${requestId}`)
  return failure(code, message, status === 401 ? EXIT.authentication : EXIT.failure, hints)
}

const failure = (
  code: string,
  message: string,
  exitCode: ExitCode,
  hints: readonly string[] = [],
): Failure => ({ code, message, hints, exitCode })

// Errors that a caller causes: the error codes of the API and their default messages. http/on-error maps
// each code to an HTTP status.

const MESSAGES = {
  invalid_api_key: 'The API key is missing or not valid. Send "Authorization: Bearer <API key>".',
  api_key_revoked: 'This API key has been revoked. Use another key or create one in the console.',
  unauthorized: 'The operator token is missing or not valid.',
  insufficient_credits: 'There are no credits left. Buy credits and submit the job again.',
  account_suspended: 'This organisation is suspended or scheduled for deletion. See the console.',
  forbidden: 'This job belongs to a different organisation.',
  invalid_signature: 'The signature of this link is not valid. Read the job to get a new link.',
  url_expired: 'This link has expired. Read the job to get a new link.',
  not_found: 'Not found.',
  workspace_not_found: 'This organisation has no active workspace with this workspace_id.',
  job_not_found: 'There is no job with this id.',
  method_not_allowed: 'Method not allowed. The Allow header lists the methods of this URL.',
  job_not_cancellable: 'Only a pending job can be cancelled.',
  deletion_scheduled: 'This organisation is scheduled for deletion.',
  delivery_in_progress:
    'An attempt at this delivery is in progress or about to start. Try again in a minute.',
  job_not_finished: 'The job has not finished. Cancel it, or try again once it has.',
  payload_too_large: 'The request body is too large. The limit is 65,536 bytes.',
  validation_error: 'The request is not valid.',
  idempotency_key_reused:
    'This Idempotency-Key was used with a different request body. Use a new key for a new request.',
  rate_limit_exceeded:
    'Too many requests. Wait for the number of seconds in the Retry-After header.',
  payment_provider_unavailable:
    'The payment provider cannot be reached. Repeat the request, which is safe.',
  internal_error:
    'Something went wrong on our side. Try again, and quote the X-Request-Id header if it persists.',
} as const

export type ErrorCode = keyof typeof MESSAGES

/** A caller's mistake. Use cases throw it; the app's onError writes the response. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  /** Headers of the response. */
  readonly headers: Record<string, string>

  constructor(
    code: ErrorCode,
    message: string = MESSAGES[code],
    headers: Record<string, string> = {},
  ) {
    super(message)
    this.code = code
    this.headers = headers
  }
}

/** The error of a request that may be repeated after a time. @param message by default that of the code */
export const rateLimited = (retryAfterSeconds: number, message?: string): AppError =>
  new AppError('rate_limit_exceeded', message, { 'Retry-After': String(retryAfterSeconds) })

/** The error of a request that says what the caller has to change. */
export const invalid = (message: string): AppError => new AppError('validation_error', message)

// Every error a caller can be given: code → status and the words said unless the thrower has better
// ones. Only the app's onError writes the envelope.

const ERRORS = {
  invalid_api_key: [401, 'No valid API key was given. Send "Authorization: Bearer <API key>".'],
  api_key_revoked: [
    401,
    'This API key has been revoked. Use another or create one in the console.',
  ],
  unauthorized: [401, 'The operator token is missing or wrong.'],
  insufficient_credits: [402, 'The credit balance is 0. Add credits and submit again.'],
  account_suspended: [
    403,
    'This organisation is suspended or scheduled for deletion. See the console.',
  ],
  forbidden: [403, 'This job belongs to a different organisation.'],
  invalid_signature: [403, 'The signature of this link is wrong. Read the job for a new link.'],
  url_expired: [403, 'This link has expired. Read the job for a new link.'],
  not_found: [404, 'There is nothing at this address.'],
  workspace_not_found: [404, 'No active workspace with this workspace_id in this organisation.'],
  job_not_found: [404, 'No job with this id.'],
  method_not_allowed: [405, 'This address does not take that method; see the Allow header.'],
  job_not_cancellable: [409, 'Only a pending job can be cancelled.'],
  deletion_scheduled: [409, 'This organisation is scheduled for deletion.'],
  job_not_finished: [409, 'The job is not finished. Cancel it, or try again when it is over.'],
  payload_too_large: [413, 'The request body is too large; at most 65,536 bytes are taken.'],
  validation_error: [422, 'The request is not valid.'],
  idempotency_key_reused: [
    422,
    'This Idempotency-Key was used with a different request body. Use a new key for a new request.',
  ],
  rate_limit_exceeded: [
    429,
    'Too many requests. Wait for the number of seconds in the Retry-After header.',
  ],
  internal_error: [500, 'Something went wrong on our side. Try again; quote the X-Request-Id.'],
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof ERRORS

/** Required on every 401 (RFC 9110, 15.5.2); the parameters are those of RFC 6750, 3. */
const BEARER_CHALLENGE = 'Bearer realm="try-on"'

/** A mistake of the caller's, to be answered with the table's status. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, message?: string, headers: Record<string, string> = {}) {
    super(message ?? ERRORS[code][1])
    this.code = code
    this.headers =
      ERRORS[code][0] === 401 ? { 'WWW-Authenticate': BEARER_CHALLENGE, ...headers } : headers
  }
}

export const statusOf = (code: ErrorCode) => ERRORS[code][0]

// Error responses: the status of each code, and the JSON envelope.
import type { Context } from 'hono'
import { errorDocsPath } from '../domain/docs.ts'
import type { AppError, ErrorCode } from '../domain/errors.ts'

const STATUS = {
  invalid_api_key: 401,
  api_key_revoked: 401,
  unauthorized: 401,
  insufficient_credits: 402,
  account_suspended: 403,
  forbidden: 403,
  invalid_signature: 403,
  url_expired: 403,
  not_found: 404,
  workspace_not_found: 404,
  job_not_found: 404,
  method_not_allowed: 405,
  job_not_cancellable: 409,
  deletion_scheduled: 409,
  job_not_finished: 409,
  delivery_in_progress: 409,
  payload_too_large: 413,
  validation_error: 422,
  idempotency_key_reused: 422,
  rate_limit_exceeded: 429,
  internal_error: 500,
  payment_provider_unavailable: 503,
} as const satisfies Record<ErrorCode, number>

export const statusOf = (code: ErrorCode) => STATUS[code]

/** Required on every 401 (RFC 9110, 15.5.2). The parameters are those of RFC 6750, 3. */
const BEARER_CHALLENGE = 'Bearer realm="try-on"'

/** Codes that /v1 does not have, so that its documentation does not describe them. */
const UNDOCUMENTED: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'deletion_scheduled',
  'payment_provider_unavailable',
])

/** The response to an error: `{ error: { code, message } }`, with a link to its description (RFC 8288). */
export function errorResponse(c: Context, { code, message, headers }: AppError): Response {
  const status = statusOf(code)
  if (status === 401) c.header('WWW-Authenticate', BEARER_CHALLENGE)
  if (!UNDOCUMENTED.has(code)) c.header('Link', `<${errorDocsPath(code)}>; rel="help"`)
  return c.json({ error: { code, message } }, status, headers)
}

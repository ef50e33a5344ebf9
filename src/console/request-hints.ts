// What a developer can change after each error of the API, for the request log.
import type { ErrorCode } from '../domain/errors.ts'

const HINTS = {
  invalid_api_key:
    'Send the complete key in the header “Authorization: Bearer <API key>”, and check that it was not deleted.',
  api_key_revoked: 'The key was revoked. Create another key and deploy it.',
  insufficient_credits:
    'Buy credits or turn on auto-reload, or raise the limit that the message names, then submit the job again.',
  account_suspended:
    'The organisation is suspended or scheduled for deletion. An owner can cancel a deletion; otherwise, contact support.',
  forbidden:
    'The job belongs to a different organisation, or the key can only read. Use a key of the organisation that submitted the job, with full access.',
  not_found: 'Check the path. Every endpoint starts with /v1, without a slash at the end.',
  workspace_not_found:
    'Send the id of an active workspace as workspace_id, or no workspace_id at all.',
  job_not_found: 'Check the job ID. Test jobs are deleted after 7 days, live jobs after 400 days.',
  method_not_allowed: 'Use a method that the Allow header of the response lists.',
  job_not_cancellable: 'Only a pending job can be cancelled. Read the job for its current status.',
  job_not_finished: 'Wait until the job has ended, or cancel it first.',
  payload_too_large:
    'Send at most 64 KB of JSON, or an image of at most 10 MB. Send image URLs instead of image data.',
  validation_error: 'Read the message: it names each wrong field and what it expects.',
  idempotency_key_reused: 'Use a new Idempotency-Key for each request with a different body.',
  rate_limit_exceeded:
    'Wait for the number of seconds in the Retry-After header, and send fewer requests at a time.',
  internal_error:
    'Repeat the request, with the same Idempotency-Key for a submission. If it fails again, contact support with the request ID.',
} as const satisfies Partial<Record<ErrorCode, string>>

/** The error codes that requests to /v1 can have. */
export const LOGGED_CODES = Object.keys(HINTS)

/** @returns undefined for a code without a hint */
export const requestHint = (code: string): string | undefined =>
  Object.entries(HINTS).find(([known]) => known === code)?.[1]

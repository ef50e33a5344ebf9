// Parameters and results of the Organisation's RPC methods.
import type { CreditLimit } from '../domain/credit-limit.ts'
import type { RateLimitState } from './rate-window.ts'

/** The maximum duration of a submission, ms: less than the age at which reservations are reconciled. */
export const MAX_SUBMISSION_MS = 4 * 60_000

export type Rejection =
  | 'invalid_api_key'
  | 'api_key_revoked'
  | 'account_suspended'
  /** The key can only read. */
  | 'read_only_key'
  | 'rate_limit_exceeded'
  | 'storage_allowance_exceeded'
  | 'upload_allowance_exceeded'
  /** Too many live jobs failed in this hour. */
  | 'failed_jobs_exceeded'
  | 'workspace_not_found'
  | 'insufficient_credits'
  /** With the limit. */
  | 'credit_limit_reached'
  | 'idempotency_key_reused'
  /** Only for a submission with `mustReplay` that repeats no earlier one. */
  | 'validation_error'
  /** Only as a scenario of test mode. */
  | 'internal_error'

export type Rejected = { ok: false; rejection: Rejection; creditLimit?: CreditLimit }

export type Result<T> = { ok: true; value: T } | Rejected

/**
 * The result of a client's request. The quota is missing only when the key is not valid. `keyId` is the
 * id of the API key, also of a revoked one; undefined for an unknown key and for the console.
 * `workspaceId` is the only workspace that the key reaches; undefined for all.
 */
export type RequestResult<T> = { keyId?: string | undefined; workspaceId?: string | undefined } & (
  { ok: true; quota: RateLimitState; value: T } | (Rejected & { quota?: RateLimitState })
)

export interface Submission {
  /** undefined selects the first active workspace. */
  workspaceId: string | undefined
  idempotency: { key: string; fingerprint: string } | undefined
  /** Whether to accept only a replay. Such a submission cannot create a job. */
  mustReplay: boolean
  /** The total length of both image URLs and the base URL, characters. */
  imageUrlsLength: number
  /** The length of the request's id, which the client can choose, characters. */
  requestIdLength: number
  /** The length of the webhook URL, characters; undefined selects the organisation's default webhook. */
  webhookUrlLength: number | undefined
}

/** The job that the Worker inserts and queues. */
export interface Admission {
  jobId: string
  workspaceId: string
  defaultWebhookUrl: string | null
  /** The key of this request, which can differ from that of the earlier one; null for the console. */
  apiKeyId: string | null
  /** ms since 1970 */
  createdAt: number
  /** Whether an earlier request with this Idempotency-Key created the job. */
  replayed: boolean
}

/** `low`: at most 20 % of the last grant. `empty`: 0 or less. */
export type BalanceLevel = 'ok' | 'low' | 'empty'

export interface CreditStatus {
  /** Credits; negative after a refund of credits that were used. */
  balance: number
  level: BalanceLevel
}

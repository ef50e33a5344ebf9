// What an Organisation is asked and what it answers.
import type { Quota } from './rate-window.ts'
import type { OrganisationSnapshot } from './snapshot.ts'

/** A reservation is not reconciled before this age: so long a submission may take, ms. */
export const RESERVATION_HELD_MS = 4 * 60_000

export type Rejection =
  | 'invalid_api_key'
  | 'api_key_revoked'
  | 'account_suspended'
  | 'rate_limit_exceeded'
  | 'storage_allowance_exceeded'
  | 'workspace_not_found'
  | 'insufficient_credits'
  | 'idempotency_key_reused'

/** Every answer to a client's request. The quota is missing only where no key was recognised. */
export type Answer<T> =
  { ok: true; quota: Quota; value: T } | { ok: false; rejection: Rejection; quota?: Quota }

export interface Submission {
  /** undefined asks for the first active workspace. */
  workspaceId: string | undefined
  idempotency: { key: string; fingerprint: string } | undefined
  /** Characters of both image URLs and of the link base together. */
  imageUrls: number
  /** Characters; undefined takes the organisation's default webhook. */
  webhookUrl: number | undefined
}

/** What the Worker has to insert and queue. */
export interface Admission {
  jobId: string
  workspaceId: string
  defaultWebhookUrl: string | null
  /** ms since 1970 */
  createdAt: number
  /** True when an earlier request with this Idempotency-Key was given the same job. */
  replayed: boolean
}

export interface Account {
  organisation: OrganisationSnapshot['organisation']
  credits: number
}

/** An answer before the quota is put to it. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; rejection: Rejection }

// The checks that every request of a client passes: key, rate limit and suspension.
import type { Caller } from './api-key.ts'
import { RateWindow } from './rate-window.ts'
import type { RateLimitState } from './rate-window.ts'
import type { Rejection } from './rpc.ts'
import { isDeleted, isSuspended } from './snapshot.ts'
import type { OrganisationSnapshot } from './snapshot.ts'

/** The storage key of the rate window. */
const RATE_WINDOW = 'rate-window'

export interface CheckOptions {
  /** Whether to reject requests for an organisation that is suspended or scheduled for deletion. */
  rejectSuspended: boolean
  /** Whether the request counts against the rate limit. */
  isCounted?: boolean
}

/** `keyId` is undefined for an unknown key and for the console. */
export type CheckResult = { keyId?: string | undefined } & (
  | { ok: true; snapshot: OrganisationSnapshot; quota: RateLimitState }
  | { ok: false; rejection: Rejection; quota?: RateLimitState }
)

export class RequestChecks {
  readonly #kv: SyncKvStorage
  readonly #rateWindow: RateWindow

  constructor(kv: SyncKvStorage) {
    this.#kv = kv
    this.#rateWindow = new RateWindow(kv.get<Float64Array>(RATE_WINDOW))
  }

  /** Checks a request and, if its key is valid, counts it unless `isCounted` is false. */
  check(
    snapshot: OrganisationSnapshot | null,
    { mode, keyHash }: Caller,
    { rejectSuspended, isCounted = true }: CheckOptions,
  ): CheckResult {
    if (!snapshot || isDeleted(snapshot.organisation)) {
      return { ok: false, rejection: 'invalid_api_key' }
    }
    const key = keyHash === null ? undefined : snapshot.keys.get(keyHash)
    const keyId = key?.id
    if (keyHash !== null) {
      if (key?.mode !== mode) return { ok: false, rejection: 'invalid_api_key' }
      if (key.revokedAt && key.revokedAt.getTime() <= Date.now()) {
        return { ok: false, rejection: 'api_key_revoked', keyId }
      }
    }
    const { rateLimitPerMinute } = snapshot.organisation
    const { passed, ...quota } = this.#rateWindow.take(rateLimitPerMinute, Date.now(), isCounted)
    const unwritten = this.#rateWindow.toWrite(rateLimitPerMinute)
    if (unwritten) this.#kv.put(RATE_WINDOW, unwritten)
    if (rejectSuspended && isSuspended(snapshot.organisation)) {
      return { ok: false, rejection: 'account_suspended', quota, keyId }
    }
    if (!passed) return { ok: false, rejection: 'rate_limit_exceeded', quota, keyId }
    return { ok: true, snapshot, quota, keyId }
  }
}

// The checks that every request of a client passes: key, rate limit and suspension.
import type { ApiKeyRow } from '../platform/db/schema.ts'
import type { Caller } from './api-key.ts'
import { KeyUses } from './key-uses.ts'
import type { ObjectAlarm } from './object-alarm.ts'
import { RateWindow, type RateLimitState } from './rate-window.ts'
import type { Rejection, RequestResult, Result } from './rpc.ts'
import {
  isDeleted,
  isSuspended,
  type OrganisationSnapshot,
  type SnapshotCache,
} from './snapshot.ts'

/** The storage key of the rate window. */
const RATE_WINDOW = 'rate-window'

export interface CheckOptions {
  /** Whether to reject requests for an organisation that is suspended or scheduled for deletion. */
  rejectSuspended: boolean
  /** Whether a key that can only read is accepted. */
  isRead: boolean
  /** Whether the request counts against the rate limit. */
  isCounted?: boolean
}

/** `key` is undefined for an unknown key and for the console. */
type CheckResult = { key?: ApiKeyRow | undefined } & (
  | { ok: true; snapshot: OrganisationSnapshot; quota: RateLimitState }
  | { ok: false; rejection: Rejection; quota?: RateLimitState }
)

export class RequestChecks {
  readonly #kv: SyncKvStorage
  readonly #alarm: ObjectAlarm
  readonly #snapshots: SnapshotCache
  readonly #rateWindow: RateWindow
  readonly #keyUses: KeyUses

  constructor(
    env: Env,
    kv: SyncKvStorage,
    parts: { alarm: ObjectAlarm; snapshots: SnapshotCache },
  ) {
    this.#kv = kv
    this.#alarm = parts.alarm
    this.#snapshots = parts.snapshots
    this.#rateWindow = new RateWindow(kv.get<Float64Array>(RATE_WINDOW))
    this.#keyUses = new KeyUses(env)
  }

  /** Checks a request, and runs `operation` if it passes. */
  async run<T>(
    caller: Caller,
    options: CheckOptions,
    operation: (snapshot: OrganisationSnapshot, key: ApiKeyRow | undefined) => Result<T>,
  ): Promise<RequestResult<T>> {
    await this.#alarm.load()
    const snapshot = await this.#snapshots.current(caller.organisationId)
    // Must not await between the check and the operation, so that the result of the check remains valid.
    const check = this.#check(snapshot, caller, options)
    const { key, quota } = check
    const result: RequestResult<T> = {
      ...(check.ok
        ? { ...operation(check.snapshot, key), quota: check.quota }
        : { ok: false, rejection: check.rejection, ...(quota && { quota }) }),
      keyId: key?.id,
      workspaceId: key?.workspaceId ?? undefined,
    }
    if (result.quota && caller.keyHash !== null) {
      const flushAt = this.#keyUses.record(caller, Date.now())
      if (flushAt !== undefined) await this.#alarm.wakeBy(flushAt)
    }
    return result
  }

  /** Writes when the keys were last used. May be called again after a failure. */
  flush(): Promise<void> {
    return this.#keyUses.flush()
  }

  /** Checks a request and, if its key is valid, counts it unless `isCounted` is false. */
  #check(
    snapshot: OrganisationSnapshot | null,
    { mode, keyHash }: Caller,
    { rejectSuspended, isRead, isCounted = true }: CheckOptions,
  ): CheckResult {
    if (!snapshot || isDeleted(snapshot.organisation)) {
      return { ok: false, rejection: 'invalid_api_key' }
    }
    const key = keyHash === null ? undefined : snapshot.keys.get(keyHash)
    if (keyHash !== null) {
      if (key?.mode !== mode) return { ok: false, rejection: 'invalid_api_key' }
      if (key.revokedAt && key.revokedAt.getTime() <= Date.now()) {
        return { ok: false, rejection: 'api_key_revoked', key }
      }
    }
    const { rateLimitPerMinute } = snapshot.organisation
    const { passed, ...quota } = this.#rateWindow.take(rateLimitPerMinute, Date.now(), isCounted)
    const unwritten = this.#rateWindow.toWrite(rateLimitPerMinute)
    if (unwritten) this.#kv.put(RATE_WINDOW, unwritten)
    if (rejectSuspended && isSuspended(snapshot.organisation)) {
      return { ok: false, rejection: 'account_suspended', quota, key }
    }
    if (!isRead && key?.access === 'read') {
      return { ok: false, rejection: 'read_only_key', quota, key }
    }
    if (!passed) return { ok: false, rejection: 'rate_limit_exceeded', quota, key }
    return { ok: true, snapshot, quota, key }
  }
}

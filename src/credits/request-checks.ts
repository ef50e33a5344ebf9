// The checks that every request of a client passes: key, rate limit and suspension.
import type { ApiKeyRow } from '../platform/db/schema.ts'
import type { Caller } from './api-key.ts'
import { KeyUses } from './key-uses.ts'
import type { ObjectAlarm } from './object-alarm.ts'
import { RateWindow } from './rate-window.ts'
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

/** What a request that passes the checks does. */
type Operation<T> = (snapshot: OrganisationSnapshot, key: ApiKeyRow | undefined) => Result<T>

const UNKNOWN_KEY = { ok: false, rejection: 'invalid_api_key' } as const

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
  async run<T>(caller: Caller, options: CheckOptions, operation: Operation<T>) {
    await this.#alarm.load()
    const snapshot = await this.#snapshots.current(caller.organisationId)
    const result = this.#check(snapshot, caller, options, operation)
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

  /**
   * Checks a request and, if its key is valid, counts it unless `isCounted` is false. Does not await between the
   * checks and the operation, so that the checks remain valid.
   */
  #check<T>(
    snapshot: OrganisationSnapshot | null,
    { mode, keyHash }: Caller,
    { rejectSuspended, isRead, isCounted = true }: CheckOptions,
    operation: Operation<T>,
  ): RequestResult<T> {
    if (!snapshot || isDeleted(snapshot.organisation)) return UNKNOWN_KEY
    const key = keyHash === null ? undefined : snapshot.keys.get(keyHash)
    if (keyHash !== null && key?.mode !== mode) return UNKNOWN_KEY
    const ids = { keyId: key?.id, workspaceId: key?.workspaceId ?? undefined }
    if (key?.revokedAt && key.revokedAt.getTime() <= Date.now()) {
      return { ...ids, ok: false, rejection: 'api_key_revoked' }
    }
    const { rateLimitPerMinute } = snapshot.organisation
    const { passed, ...quota } = this.#rateWindow.take(rateLimitPerMinute, Date.now(), isCounted)
    const unwritten = this.#rateWindow.toWrite(rateLimitPerMinute)
    if (unwritten) this.#kv.put(RATE_WINDOW, unwritten)
    const rejected = (rejection: Rejection) => ({ ...ids, ok: false, rejection, quota }) as const
    if (rejectSuspended && isSuspended(snapshot.organisation)) return rejected('account_suspended')
    if (!isRead && key?.access === 'read') return rejected('read_only_key')
    if (!passed) return rejected('rate_limit_exceeded')
    return { ...ids, ...operation(snapshot, key), quota }
  }
}

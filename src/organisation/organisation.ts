// The Durable Object of one organisation. It admits or rejects every request of its clients and owns
// its credits. Its SQLite is the source of truth for credits, idempotency and the storage allowance;
// the snapshot is a cache of D1, and the rate window may lose recent entries.
import { DurableObject } from 'cloudflare:workers'
import { log } from '../log.ts'
import { DAY_MS, IDEMPOTENCY_TTL_MS } from '../domain/limits.ts'
import type { WorkspaceRow } from '../db/schema.ts'
import { admitSubmission } from './admission.ts'
import type { Caller, Credentials } from './api-key.ts'
import { KeyUses } from './key-uses.ts'
import { ZERO_TOTALS } from './ledger.ts'
import type { ClosingRecord, LedgerEntry, Totals } from './ledger.ts'
import { nextReconciliation, reconcile, RECONCILE_AFTER_MS } from './reconciliation.ts'
import { RequestChecks } from './request-checks.ts'
import type { CheckOptions } from './request-checks.ts'
import type { Account, Admission, RequestResult, Result, Submission } from './rpc.ts'
import { SnapshotCache } from './snapshot.ts'
import type { OrganisationSnapshot } from './snapshot.ts'
import { StorageAllowance } from './storage-allowance.ts'
import { Stores } from './stores.ts'

const RETRY_RECONCILE_MS = 60_000
/** The minimum time until an alarm that is set only to delete old ledger data. */
const CLEANUP_INTERVAL_MS = DAY_MS
/** The pause between two batches of a cleanup, so that requests are not blocked. */
const NEXT_BATCH_MS = 1_000

export class Organisation extends DurableObject<Env> {
  readonly #snapshots = new SnapshotCache(this.env)
  #checks = new RequestChecks(this.ctx.storage.kv)
  #allowance = new StorageAllowance(this.ctx.storage.kv)
  #keyUses = new KeyUses(this.env)
  readonly #stores = new Stores(this.ctx.storage)
  /** ms since 1970; Infinity when no alarm is set, undefined when not read yet. */
  #alarmAt: number | undefined

  /** Checks the key, the suspension and the rate limit, in this order. */
  async authenticate(
    credentials: Credentials,
    options: CheckOptions,
  ): Promise<RequestResult<null>> {
    return this.#handle(credentials, options, () => ({ ok: true, value: null }))
  }

  async account(credentials: Credentials): Promise<RequestResult<Account>> {
    return this.#handle(credentials, { rejectSuspended: false }, ({ organisation }) => {
      const { id, name, plan, regionCode, autoReloadEnabled } = organisation
      const credits = this.#stores.open().ledger.totals().balance
      return { ok: true, value: { id, name, plan, regionCode, autoReloadEnabled, credits } }
    })
  }

  async workspaces(credentials: Credentials): Promise<RequestResult<WorkspaceRow[]>> {
    return this.#handle(credentials, { rejectSuspended: false }, ({ workspaces }) => ({
      ok: true,
      value: workspaces,
    }))
  }

  /**
   * Accepts a submission. One transaction makes all checks, takes the job's bytes from the storage
   * allowance and, in live mode, reserves one credit under the new job's id. The caller then inserts the
   * job or calls `abandon`; otherwise, the alarm releases the reservation.
   */
  async admit(caller: Caller, submission: Submission): Promise<RequestResult<Admission>> {
    const { mode } = caller
    const result = await this.#handle(caller, { rejectSuspended: true }, (snapshot) =>
      this.ctx.storage.transactionSync(() =>
        admitSubmission({
          stores: this.#stores.open(),
          allowance: this.#allowance,
          mode,
          snapshot,
          submission,
        }),
      ),
    )
    if (result.ok && mode === 'live') await this.#wakeBy(Date.now() + RECONCILE_AFTER_MS)
    if (result.ok && submission.idempotency) await this.#wakeBy(Date.now() + IDEMPOTENCY_TTL_MS)
    return result
  }

  /** Releases the credit of a job without an Idempotency-Key that could not be inserted. */
  abandon(jobId: string): void {
    this.release([jobId])
  }

  /** Renews the reservation of a job. @returns false when it is not open */
  renewReservation(jobId: string): boolean {
    return this.#stores.find()?.ledger.renewReservation(jobId) ?? false
  }

  /** Consumes the credit of a completed job. May be repeated. */
  capture(jobId: string): void {
    this.ctx.storage.transactionSync(() => this.#stores.find()?.ledger.capture(jobId))
  }

  /** Releases the credits of jobs that ended without a picture. May be repeated. */
  release(jobIds: string[]): void {
    this.ctx.storage.transactionSync(() =>
      jobIds.forEach((id) => this.#stores.find()?.ledger.release(id)),
    )
  }

  /** Adds credits, once per `reference`. */
  grant(grant: { amount: number; reference: string; reason: string }): Totals {
    return this.ctx.storage.transactionSync(() => this.#stores.open().ledger.grant(grant))
  }

  totals(): Totals {
    return this.#stores.find()?.ledger.totals() ?? ZERO_TOTALS
  }

  /** Ledger entries, newest first; `before` is the last id of the previous page. */
  entries(page: { limit: number; before?: number }): LedgerEntry[] {
    return this.#stores.find()?.ledger.list(page.limit, page.before) ?? []
  }

  /** The part of the ledger that remains when the organisation is deleted. */
  closingRecord(): ClosingRecord {
    return this.#stores.find()?.ledger.closingRecord() ?? { totals: ZERO_TOTALS, grants: [] }
  }

  /** Deletes everything stored and cached in this object. May be repeated. */
  async destroy(): Promise<void> {
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
    this.#stores.close()
    this.#alarmAt = undefined
    this.#checks = new RequestChecks(this.ctx.storage.kv)
    this.#allowance = new StorageAllowance(this.ctx.storage.kv)
    this.#keyUses = new KeyUses(this.env)
    this.#snapshots.clear()
  }

  /** Call this after every change to the organisation, its keys or its workspaces in D1. */
  refresh(): void {
    this.#snapshots.clear()
  }

  /** Reconciles open reservations, writes key uses and deletes old data. */
  override async alarm(): Promise<void> {
    this.#alarmAt = Infinity
    try {
      await reconcile({ env: this.env, storage: this.ctx.storage, stores: this.#stores })
      await this.#keyUses.flush()
    } catch (error) {
      // Sets an alarm instead of throwing, because the runtime limits the retries after a throw.
      log.error('reconciliation failed', error)
      await this.#wakeBy(Date.now() + RETRY_RECONCILE_MS)
      return
    }
    const expiresAt = this.#stores.find()?.idempotency.deleteExpired() ?? Infinity
    await this.#wakeBy(
      Math.min(nextReconciliation(this.#stores), expiresAt, this.#cleanUp(Date.now())),
    )
  }

  /** Deletes old data of the ledger. @returns when to call it again, ms since 1970 */
  #cleanUp(now: number): number {
    const dueAt = this.ctx.storage.transactionSync(() => this.#stores.find()?.ledger.cleanUp(now))
    if (dueAt === undefined) return Infinity
    return dueAt <= now ? now + NEXT_BATCH_MS : Math.max(dueAt, now + CLEANUP_INTERVAL_MS)
  }

  /** Checks a request, and runs `operation` if it passes. */
  async #handle<T>(
    caller: Caller,
    options: CheckOptions,
    operation: (snapshot: OrganisationSnapshot) => Result<T>,
  ): Promise<RequestResult<T>> {
    this.#alarmAt ??= (await this.ctx.storage.getAlarm()) ?? Infinity
    const snapshot = await this.#snapshots.current(caller.organisationId)
    // Must not await between the check and the operation, so that the result of the check remains valid.
    const check = this.#checks.check(snapshot, caller, options)
    const result = check.ok ? { ...operation(check.snapshot), quota: check.quota } : check
    if (result.quota && caller.keyHash !== null) {
      const flushAt = this.#keyUses.record(caller, Date.now())
      if (flushAt !== undefined) await this.#wakeBy(flushAt)
    }
    return result
  }

  async #wakeBy(at: number): Promise<void> {
    if (at >= (this.#alarmAt ?? Infinity)) return
    this.#alarmAt = at
    await this.ctx.storage.setAlarm(at)
  }
}

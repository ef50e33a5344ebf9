// The Durable Object of one organisation. It admits or rejects every request of its clients and owns
// its credits. Its SQLite is the source of truth for credits, idempotency and the storage allowance;
// the snapshot is a cache of D1, and the rate window may lose recent entries.
import { DurableObject } from 'cloudflare:workers'
import { log } from './platform/log.ts'
import type { CreditLimit } from './domain/credit-limit.ts'
import { IDEMPOTENCY_TTL_MS } from './domain/limits.ts'
import { BillingState } from './billing/billing-state.ts'
import { runBilling } from './billing/run-billing.ts'
import type { OrganisationRow, WorkspaceRow } from './platform/db/schema.ts'
import { admitSubmission } from './credits/admission.ts'
import { withAlarmLine } from './credits/alarm-line.ts'
import type { Caller, Credentials } from './credits/api-key.ts'
import { BillingSchedule } from './billing/billing-schedule.ts'
import { FailedJobs } from './credits/failed-jobs.ts'
import { JobWaiters } from './credits/job-waiters.ts'
import { KeyUses } from './credits/key-uses.ts'
import { cleanUp } from './credits/cleanup.ts'
import {
  entriesBefore,
  ledgerPage,
  NO_ENTRIES,
  type LedgerFilter,
  type LedgerPage,
} from './credits/ledger-reports.ts'
import { ZERO_TOTALS } from './credits/ledger.ts'
import type { ClosingRecord, LedgerEntry, Totals } from './credits/ledger.ts'
import { nextReconciliation, reconcile, RECONCILE_AFTER_MS } from './credits/reconciliation.ts'
import { RequestChecks } from './credits/request-checks.ts'
import type {
  LoggedRequest,
  RequestEntry,
  RequestQuery,
  RequestScan,
} from './credits/request-log.ts'
import type { CheckOptions } from './credits/request-checks.ts'
import type {
  Account,
  Admission,
  CreditStatus,
  RequestResult,
  Result,
  Submission,
} from './credits/rpc.ts'
import {
  allCreditLimits,
  creditLimitsOf,
  isDeleted,
  isReachable,
  SnapshotCache,
} from './credits/snapshot.ts'
import type { OrganisationSnapshot, SnapshotKey } from './credits/snapshot.ts'
import { StorageAllowance } from './credits/storage-allowance.ts'
import { Stores } from './credits/stores.ts'

const RETRY_RECONCILE_MS = 60_000

const READ = { rejectSuspended: false, isRead: true } as const
const WRITE = { rejectSuspended: true, isRead: false } as const

export class Organisation extends DurableObject<Env> {
  readonly #snapshots = new SnapshotCache(this.env)
  #checks = new RequestChecks(this.ctx.storage.kv)
  #allowance = new StorageAllowance(this.ctx.storage.kv, 'storage-taken')
  #uploadAllowance = new StorageAllowance(this.ctx.storage.kv, 'uploads-taken')
  #failedJobs = new FailedJobs(this.ctx.storage.kv)
  #keyUses = new KeyUses(this.env)
  readonly #waiters = new JobWaiters()
  readonly #stores = new Stores(this.ctx.storage)
  #billing = this.#openBilling()
  /** ms since 1970; Infinity when no alarm is set, undefined when not read yet. */
  #alarmAt: number | undefined

  /** Checks the key, the suspension and the rate limit, in this order. */
  async authenticate(caller: Caller, options: CheckOptions): Promise<RequestResult<null>> {
    return this.#handle(caller, options, () => ({ ok: true, value: null }))
  }

  async account(credentials: Credentials): Promise<RequestResult<Account>> {
    return this.#handle(credentials, READ, ({ organisation }) => {
      const { id, name, plan, regionCode, autoReloadEnabled } = organisation
      const credits = this.#stores.open().ledger.totals().balance
      return { ok: true, value: { id, name, plan, regionCode, autoReloadEnabled, credits } }
    })
  }

  async workspaces(credentials: Credentials): Promise<RequestResult<WorkspaceRow[]>> {
    return this.#handle(credentials, READ, ({ workspaces }, key) => ({
      ok: true,
      value: workspaces.filter(({ id }) => isReachable(key, id)),
    }))
  }

  /**
   * Accepts a submission. One transaction makes all checks, takes the job's bytes from the storage
   * allowance and, in live mode, reserves one credit under the new job's id. The caller then inserts the
   * job or calls `abandon`; otherwise, the alarm releases the reservation.
   */
  async admit(caller: Caller, submission: Submission): Promise<RequestResult<Admission>> {
    const { mode } = caller
    const result = await this.#handle(caller, WRITE, (snapshot, key) => {
      const admitted = this.#stores.transaction(() =>
        admitSubmission({
          stores: this.#stores.open(),
          allowance: this.#allowance,
          failedJobs: this.#failedJobs,
          mode,
          key,
          snapshot,
          submission,
        }),
      )
      if (mode === 'live') {
        const limits = admitted.ok
          ? snapshot.workspaces
              .filter(({ id }) => id === admitted.value.workspaceId)
              .flatMap((workspace) => creditLimitsOf(key, workspace))
          : [admitted.creditLimit ?? []].flat()
        this.#watchCredits(snapshot.organisation, limits)
      }
      return admitted
    })
    if (result.ok && mode === 'live') await this.#wakeBy(Date.now() + RECONCILE_AFTER_MS)
    if (mode === 'live') await this.#wakeBy(this.#billing.schedule.at)
    if (result.ok && submission.idempotency) await this.#wakeBy(Date.now() + IDEMPOTENCY_TTL_MS)
    return result
  }

  /** Accepts an upload, and takes its bytes from the upload allowance. */
  async admitUpload(caller: Caller, bytes: number): Promise<RequestResult<null>> {
    return this.#handle(caller, WRITE, ({ organisation }) => {
      const now = Date.now()
      if (!this.#uploadAllowance.has(bytes, organisation.rateLimitPerMinute, now)) {
        return { ok: false, rejection: 'upload_allowance_exceeded' }
      }
      this.#uploadAllowance.take(bytes, now)
      return { ok: true, value: null }
    })
  }

  /** Releases the credit of a job without an Idempotency-Key that could not be inserted. */
  abandon(jobId: string): void {
    this.release([jobId])
  }

  /** Renews the reservation of a job. @returns false when it is not open */
  renewReservation(jobId: string): boolean {
    return this.#stores.find()?.ledger.renewReservation(jobId) ?? false
  }

  /** Resolves when the job has ended, at the latest after `ms`. A lost signal also delays it by `ms`. */
  waitForEnd(jobId: string, ms: number): Promise<void> {
    return this.#waiters.wait(jobId, ms)
  }

  /** Wakes the requests that wait for these jobs. `capture` and `release` include it. */
  jobsEnded(jobIds: string[]): void {
    this.#waiters.end(jobIds)
  }

  /** Consumes the credit of a completed job. May be repeated. */
  async capture(jobId: string): Promise<void> {
    this.#waiters.end([jobId])
    const isLate = this.#stores.transaction(
      () => this.#stores.find()?.ledger.capture(jobId) ?? false,
    )
    const organisationId = this.ctx.id.name
    const { state } = this.#billing
    const { balance, reserved } = this.totals()
    const informs = state.noticeOf(balance + reserved) !== undefined
    if (organisationId === undefined || !(isLate || informs)) return
    // A late capture has lowered the balance. The billing tasks read the settings themselves.
    if (isLate) state.updateAutoReload({ requested: true })
    await this.scheduleBilling({ organisationId, at: Date.now() })
  }

  /**
   * Releases the credits of jobs that ended without a picture. May be repeated.
   * @param charged those of them for which an engine may have charged
   */
  release(jobIds: string[], charged: string[] = []): void {
    this.#waiters.end(jobIds)
    this.#stores.transaction(() => {
      for (const id of jobIds) {
        const isReleased = this.#stores.find()?.ledger.release(id) ?? false
        if (isReleased && charged.includes(id)) this.#failedJobs.add(this.ctx.id.name, Date.now())
      }
    })
  }

  /** Adds credits, once per `reference`. */
  grant(grant: { amount: number; reference: string; reason: string }): Totals {
    const { granted } = this.totals()
    const after = this.#stores.transaction(() => this.#stores.open().ledger.grant(grant))
    if (after.granted > granted) this.#billing.state.recordGrant(grant.amount, after.balance)
    return after
  }

  /** Takes back credits of a grant. @param reversal `credits` is the total taken back so far */
  reverse(reversal: { reference: string; credits: number; reason: string }): Totals {
    return this.#stores.transaction(() => this.#stores.open().ledger.reverse(reversal))
  }

  /** Makes the alarm run the billing tasks at `at` (ms since 1970) or earlier. */
  async scheduleBilling({
    organisationId,
    at,
  }: {
    organisationId: string
    at: number
  }): Promise<void> {
    this.#alarmAt ??= (await this.ctx.storage.getAlarm()) ?? Infinity
    this.#billing.schedule.request(organisationId, at, Date.now())
    await this.#wakeBy(this.#billing.schedule.at)
  }

  /**
   * Applies changed settings of auto-reload: resets the failure count, and makes the alarm start a
   * payment if the balance is below the threshold.
   */
  async resetAutoReload({ organisationId }: { organisationId: string }): Promise<void> {
    this.refresh()
    this.#billing.state.updateAutoReload({ failures: 0, requested: true })
    await this.scheduleBilling({ organisationId, at: Date.now() })
  }

  /** The balance; `low` when at most 20 % of the last grant are not consumed, `empty` without a balance. */
  creditStatus(): CreditStatus {
    const { balance, reserved } = this.totals()
    const level = this.#billing.state.levelOf(balance + reserved)
    // Live jobs are rejected, even if credits are reserved.
    return { balance, level: balance <= 0 ? 'empty' : level }
  }

  /** The limits of which the members have to be informed, with the credits used in this month. */
  async creditNotices(organisationId: string): Promise<{ limit: CreditLimit; used: number }[]> {
    const snapshot = await this.#snapshots.current(organisationId)
    const creditUse = this.#stores.find()?.creditUse
    if (!snapshot || !creditUse) return []
    const now = Date.now()
    const due = allCreditLimits(snapshot).filter((limit) => creditUse.isNoticeDue(limit, now))
    // A key and its replacement count together.
    return [...new Map(due.map((limit) => [limit.countId, limit])).values()].map((limit) => ({
      limit,
      used: creditUse.used(limit.countId, now),
    }))
  }

  /** Records that the members were informed of the use of a limit in this month. */
  recordCreditNotice(countId: string): void {
    this.#stores.find()?.creditUse.recordNotice(countId, Date.now())
  }

  /** The credits that were used in this month, with the reserved ones, in the order of `countIds`. */
  creditUse(countIds: string[]): number[] {
    const creditUse = this.#stores.find()?.creditUse
    return countIds.map((id) => creditUse?.used(id, Date.now()) ?? 0)
  }

  totals(): Totals {
    return this.#stores.find()?.ledger.totals() ?? ZERO_TOTALS
  }

  /** Ledger entries, newest first; `before` is the last id of the previous page. */
  entries(page: { limit: number; before?: number }): LedgerEntry[] {
    return this.#stores.find() ? entriesBefore(this.ctx.storage.sql, page) : []
  }

  /**
   * Adds requests to the log. Ignores requests for an organisation that does not exist.
   */
  async logRequests(organisationId: string, requests: LoggedRequest[]): Promise<void> {
    this.#alarmAt ??= (await this.ctx.storage.getAlarm()) ?? Infinity
    const snapshot = await this.#snapshots.current(organisationId)
    if (!snapshot || isDeleted(snapshot.organisation)) return
    const { requestLog } = this.#stores.open()
    await this.#wakeBy(requestLog.append(requests, (hash) => snapshot.keys.has(hash), Date.now()))
  }

  readRequests(query: RequestQuery): RequestScan {
    return this.#stores.find()?.requestLog.read(query) ?? { entries: [], continueFrom: undefined }
  }

  requestAt(position: string): RequestEntry | undefined {
    return this.#stores.find()?.requestLog.entryAt(position)
  }

  /** A page of ledger entries that match a filter, and totals of months. */
  ledgerPage(filter: LedgerFilter): LedgerPage {
    return this.#stores.find() ? ledgerPage(this.ctx.storage.sql, filter) : NO_ENTRIES
  }

  /** The part of the ledger that remains when the organisation is deleted. */
  closingRecord(): ClosingRecord {
    return this.#stores.find()?.ledger.closingRecord() ?? { totals: ZERO_TOTALS, grants: [] }
  }

  /** Deletes everything stored and cached in this object. May be repeated. */
  async destroy(): Promise<void> {
    // The billing tasks may be running. They must not store anything afterwards.
    this.#billing.schedule.close()
    this.#billing.state.close()
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
    this.#stores.close()
    this.#billing = this.#openBilling()
    this.#alarmAt = undefined
    this.#checks = new RequestChecks(this.ctx.storage.kv)
    this.#allowance = new StorageAllowance(this.ctx.storage.kv, 'storage-taken')
    this.#uploadAllowance = new StorageAllowance(this.ctx.storage.kv, 'uploads-taken')
    this.#failedJobs = new FailedJobs(this.ctx.storage.kv)
    this.#keyUses = new KeyUses(this.env)
    this.#snapshots.clear()
  }

  /** Call this after every change to the organisation, its keys or its workspaces in D1. */
  refresh(): void {
    this.#snapshots.clear()
  }

  /** Reconciles open reservations, writes key uses, deletes old data and runs the billing tasks. */
  override async alarm(): Promise<void> {
    await withAlarmLine(this.ctx.id.name, () => this.#runAlarm())
  }

  async #runAlarm(): Promise<void> {
    this.#alarmAt = Infinity
    // Each part handles its own failures, so that none stops the others.
    const retryAt = await this.#reconcile()
    await this.#runBilling()
    const expiresAt = this.#stores.find()?.idempotency.deleteExpired() ?? Infinity
    const reconcileAt = retryAt ?? nextReconciliation(this.#stores)
    const cleanUpAt = cleanUp(this.#stores, Date.now())
    await this.#wakeBy(Math.min(reconcileAt, this.#billing.schedule.at, expiresAt, cleanUpAt))
  }

  /** @returns when to retry after a failure, ms since 1970 */
  async #reconcile(): Promise<number | undefined> {
    try {
      await reconcile({ env: this.env, stores: this.#stores })
      await this.#keyUses.flush()
      return undefined
    } catch (error) {
      // Sets an alarm instead of throwing, because the runtime limits the retries after a throw.
      log.error('reconciliation failed', error)
      return Date.now() + RETRY_RECONCILE_MS
    }
  }

  /** Runs the billing tasks if they are due. */
  async #runBilling(): Promise<void> {
    const { schedule, state } = this.#billing
    const organisationId = schedule.start(Date.now())
    if (organisationId === undefined) return
    let result: Awaited<ReturnType<typeof runBilling>> = { nextAt: undefined, failed: true }
    try {
      result = await runBilling({ env: this.env, account: this, organisationId, state })
    } finally {
      schedule.finish(result, Date.now())
    }
  }

  /** Schedules the billing tasks if the credits require an email or an automatic payment. */
  #watchCredits(organisation: OrganisationRow, limits: CreditLimit[]): void {
    const { schedule, state } = this.#billing
    const { creditUse } = this.#stores.open()
    const isNoticeDue = limits.some((limit) => creditUse.isNoticeDue(limit, Date.now()))
    const isDue = state.watch(this.totals(), organisation) || isNoticeDue
    if (!isDue || schedule.isRetrying) return
    schedule.request(organisation.id, Date.now(), Date.now())
  }

  #openBilling(): { schedule: BillingSchedule; state: BillingState } {
    const { kv } = this.ctx.storage
    return {
      schedule: new BillingSchedule(kv),
      state: new BillingState(kv, () => this.#stores.find()?.ledger.lastGrant() ?? 0),
    }
  }

  /** Checks a request, and runs `operation` if it passes. */
  async #handle<T>(
    caller: Caller,
    options: CheckOptions,
    operation: (snapshot: OrganisationSnapshot, key: SnapshotKey | undefined) => Result<T>,
  ): Promise<RequestResult<T>> {
    this.#alarmAt ??= (await this.ctx.storage.getAlarm()) ?? Infinity
    const snapshot = await this.#snapshots.current(caller.organisationId)
    // Must not await between the check and the operation, so that the result of the check remains valid.
    const check = this.#checks.check(snapshot, caller, options)
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

// The Durable Object of one organisation. It admits or rejects every request of its clients and owns
// its credits. Its SQLite is the source of truth for credits, idempotency and the storage allowance;
// the snapshot is a cache of D1, and the rate window may lose recent entries.
import { DurableObject } from 'cloudflare:workers'
import { IDEMPOTENCY_TTL_MS } from './domain/limits.ts'
import { OrganisationBilling } from './billing/organisation-billing.ts'
import { admitSubmission } from './credits/admission.ts'
import type { Caller, Credentials } from './credits/api-key.ts'
import { FailedJobs } from './credits/failed-jobs.ts'
import { JobWaiters } from './credits/job-waiters.ts'
import {
  entriesBefore,
  grantsIn,
  ledgerPage,
  NO_ENTRIES,
  type LedgerFilter,
} from './credits/ledger-reports.ts'
import { ZERO_TOTALS, type Grant, type Reversal } from './credits/ledger.ts'
import { ObjectAlarm, retryAfterFailure } from './credits/object-alarm.ts'
import { nextReconciliation, reconcile, RECONCILE_AFTER_MS } from './credits/reconciliation.ts'
import { RequestChecks, type CheckOptions } from './credits/request-checks.ts'
import type { LoggedRequest, RequestQuery, RequestScan } from './credits/request-log.ts'
import type { Admission, CreditStatus, RequestResult, Submission } from './credits/rpc.ts'
import { creditLimitsOf, isDeleted, isReachable, SnapshotCache } from './credits/snapshot.ts'
import { StorageAllowance } from './credits/storage-allowance.ts'
import { Stores } from './credits/stores.ts'

const READ = { rejectSuspended: false, isRead: true } as const
const WRITE = { rejectSuspended: true, isRead: false } as const

export class Organisation extends DurableObject<Env> {
  readonly #alarm = new ObjectAlarm(this.ctx.storage)
  readonly #snapshots = new SnapshotCache(this.env)
  readonly #waiters = new JobWaiters()
  readonly #stores = new Stores(this.ctx.storage)
  #state = this.#openState()

  /** What is stored as single values, with its copies in memory. */
  #openState() {
    const { kv } = this.ctx.storage
    return {
      checks: new RequestChecks(this.env, kv, { alarm: this.#alarm, snapshots: this.#snapshots }),
      allowance: new StorageAllowance(kv, 'storage-taken'),
      uploadAllowance: new StorageAllowance(kv, 'uploads-taken'),
      failedJobs: new FailedJobs(kv),
      billing: new OrganisationBilling(kv, () => this.#stores.find()?.ledger.lastGrant() ?? 0),
    }
  }

  /** Checks the key, the suspension and the rate limit, in this order. */
  async authenticate(caller: Caller, options: CheckOptions): Promise<RequestResult<null>> {
    return this.#state.checks.run(caller, options, () => ({ ok: true, value: null }))
  }

  /** What clients read of their organisation. Its secrets stay in this object. */
  async account(credentials: Credentials) {
    return this.#state.checks.run(credentials, READ, ({ organisation }) => {
      const { id, name, plan, regionCode, autoReloadEnabled } = organisation
      const credits = this.#stores.open().ledger.totals().balance
      return { ok: true, value: { id, name, plan, regionCode, autoReloadEnabled, credits } }
    })
  }

  async workspaces(credentials: Credentials) {
    return this.#state.checks.run(credentials, READ, ({ workspaces }, key) => ({
      ok: true,
      value: workspaces.filter(({ id }) => isReachable(key, id)),
    }))
  }

  /**
   * Accepts a submission. One transaction makes all checks, takes the job's bytes from the storage
   * allowance and, in live mode, reserves one credit under the new job's id. The caller then inserts the
   * job or calls `release`; otherwise, the alarm releases the reservation.
   */
  async admit(caller: Caller, submission: Submission): Promise<RequestResult<Admission>> {
    const { mode } = caller
    const result = await this.#state.checks.run(caller, WRITE, (snapshot, key) => {
      const admitted = this.#stores.transaction(() =>
        admitSubmission({
          stores: this.#stores.open(),
          allowance: this.#state.allowance,
          failedJobs: this.#state.failedJobs,
          mode,
          key,
          snapshot,
          submission,
        }),
      )
      if (mode === 'live') {
        const limits = admitted.ok
          ? creditLimitsOf(
              key ? [key] : [],
              snapshot.workspaces.filter(({ id }) => id === admitted.value.workspaceId),
            )
          : [admitted.creditLimit ?? []].flat()
        const notices = this.#stores.open().creditUse.noticesDue(limits, Date.now())
        this.#state.billing.watch(this.totals(), snapshot.organisation, notices.length > 0)
      }
      return admitted
    })
    if (result.ok && mode === 'live') await this.#alarm.wakeBy(Date.now() + RECONCILE_AFTER_MS)
    if (mode === 'live') await this.#alarm.wakeBy(this.#state.billing.schedule.at)
    if (result.ok && submission.idempotency) {
      await this.#alarm.wakeBy(Date.now() + IDEMPOTENCY_TTL_MS)
    }
    return result
  }

  /** Accepts an upload, and takes its bytes from the upload allowance. */
  async admitUpload(caller: Caller, bytes: number): Promise<RequestResult<null>> {
    return this.#state.checks.run(caller, WRITE, ({ organisation }) => {
      const now = Date.now()
      const { uploadAllowance } = this.#state
      if (!uploadAllowance.has(bytes, organisation.rateLimitPerMinute, now)) {
        return { ok: false, rejection: 'upload_allowance_exceeded' }
      }
      uploadAllowance.take(bytes, now)
      return { ok: true, value: null }
    })
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
    const isDue = this.#state.billing.watchCapture(this.totals(), isLate)
    if (isDue && organisationId !== undefined) {
      await this.scheduleBilling({ organisationId, at: Date.now() })
    }
  }

  /**
   * Releases the credits of jobs that ended without a picture, or could not be inserted. May be repeated.
   * @param charged those of them for which an engine may have charged
   */
  release(jobIds: string[], charged: string[] = []): void {
    this.#waiters.end(jobIds)
    const { failedJobs } = this.#state
    this.#stores.transaction(() => {
      for (const id of jobIds) {
        const isReleased = this.#stores.find()?.ledger.release(id) ?? false
        if (isReleased && charged.includes(id)) failedJobs.add(this.ctx.id.name, Date.now())
      }
    })
  }

  /** Adds credits, once per `reference`. */
  grant(grant: Grant) {
    const { granted } = this.totals()
    const { state } = this.#state.billing
    const after = this.#stores.transaction(() => this.#stores.open().ledger.grant(grant))
    if (after.granted > granted) state.recordGrant(grant.amount, after.balance)
    return after
  }

  /** Takes back credits of a grant. */
  reverse(reversal: Reversal) {
    return this.#stores.transaction(() => this.#stores.open().ledger.reverse(reversal))
  }

  /** Makes the alarm run the billing tasks at `at` (ms since 1970) or earlier. */
  async scheduleBilling(due: { organisationId: string; at: number }): Promise<void> {
    await this.#alarm.load()
    this.#state.billing.schedule.request(due.organisationId, due.at, Date.now())
    await this.#alarm.wakeBy(this.#state.billing.schedule.at)
  }

  /**
   * Applies changed settings of auto-reload: resets the failure count, and makes the alarm start a
   * payment if the balance is below the threshold.
   */
  async resetAutoReload({ organisationId }: { organisationId: string }): Promise<void> {
    this.refresh()
    this.#state.billing.state.updateAutoReload({ failures: 0, requested: true })
    await this.scheduleBilling({ organisationId, at: Date.now() })
  }

  /** The balance; `low` when at most 20 % of the last grant are not consumed, `empty` without a balance. */
  creditStatus(): CreditStatus {
    const { balance, reserved } = this.totals()
    const level = this.#state.billing.state.levelOf(balance + reserved)
    // Live jobs are rejected, even if credits are reserved.
    return { balance, level: balance <= 0 ? 'empty' : level }
  }

  /** The limits of which the members have to be informed, with the credits used in this month. */
  async creditNotices(organisationId: string) {
    const snapshot = await this.#snapshots.current(organisationId)
    if (!snapshot) return []
    const limits = creditLimitsOf([...snapshot.keys.values()], snapshot.workspaces)
    return this.#stores.find()?.creditUse.noticesDue(limits, Date.now()) ?? []
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

  totals() {
    return this.#stores.find()?.ledger.totals() ?? ZERO_TOTALS
  }

  /** Ledger entries, newest first; `before` is the last id of the previous page. */
  entries(page: { limit: number; before?: number }) {
    return this.#stores.find() ? entriesBefore(this.ctx.storage.sql, page) : []
  }

  /** Adds requests to the log. Ignores requests for an organisation that does not exist. */
  async logRequests(organisationId: string, requests: LoggedRequest[]): Promise<void> {
    await this.#alarm.load()
    const snapshot = await this.#snapshots.current(organisationId)
    if (!snapshot || isDeleted(snapshot.organisation)) return
    const { requestLog } = this.#stores.open()
    await this.#alarm.wakeBy(
      requestLog.append(requests, (hash) => snapshot.keys.has(hash), Date.now()),
    )
  }

  readRequests(query: RequestQuery): RequestScan {
    return this.#stores.find()?.requestLog.read(query) ?? { entries: [], continueFrom: undefined }
  }

  requestAt(position: string) {
    return this.#stores.find()?.requestLog.entryAt(position)
  }

  /** A page of ledger entries that match a filter, and totals of months. */
  ledgerPage(filter: LedgerFilter) {
    return this.#stores.find() ? ledgerPage(this.ctx.storage.sql, filter) : NO_ENTRIES
  }

  /** The part of the ledger that remains when the organisation is deleted. */
  closingRecord() {
    const grants = this.#stores.find() ? grantsIn(this.ctx.storage.sql) : []
    return { totals: this.totals(), grants }
  }

  /** Deletes everything stored and cached in this object. May be repeated. */
  async destroy(): Promise<void> {
    // The billing tasks may be running. They must not store anything afterwards.
    this.#state.billing.close()
    await this.#alarm.delete()
    await this.ctx.storage.deleteAll()
    this.#stores.close()
    this.#state = this.#openState()
    this.#snapshots.clear()
  }

  /** Call this after every change to the organisation, its keys or its workspaces in D1. */
  refresh(): void {
    this.#snapshots.clear()
  }

  /** Reconciles open reservations, writes key uses, deletes old data and runs the billing tasks. */
  override async alarm(): Promise<void> {
    await this.#alarm.run(this.ctx.id.name, async () => {
      // Each part handles its own failures, so that none stops the others.
      const retryAt = await retryAfterFailure('reconciliation failed', async () => {
        await reconcile({ env: this.env, stores: this.#stores })
        await this.#state.checks.flush()
      })
      await this.#state.billing.runDue(this.env, this)
      return Math.min(
        retryAt ?? nextReconciliation(this.#stores),
        this.#state.billing.schedule.at,
        this.#stores.cleanUp(Date.now()),
      )
    })
  }
}

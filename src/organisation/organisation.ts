// The Durable Object of one organisation: the only place that lets a request in and the only owner
// of its credits. Its SQLite is the truth about credits, idempotency and the storage allowance; the
// rest is a copy (standing) or may be lost in part (rate window). It orchestrates; the SQL is in
// ledger, idempotency, standing and key-uses, the schema in migrations.
import { DurableObject } from 'cloudflare:workers'
import { newId } from '../ids.ts'
import { isFinal } from '../domain/job.ts'
import { log } from '../log.ts'
import { DAY_MS, IDEMPOTENCY_TTL_MS } from '../domain/limits.ts'
import type { WorkspaceRow } from '../db/schema.ts'
import type { Account, Admission, RequestResult, Result, Submission } from './rpc.ts'
import type { Caller, Credentials } from './api-key.ts'
import { IdempotencyRecords } from './idempotency.ts'
import { jobStatuses } from './job-states.ts'
import { KeyUses } from './key-uses.ts'
import { Ledger, NOTHING } from './ledger.ts'
import type { ClosingRecord, LedgerEntry, Totals } from './ledger.ts'
import { migrate } from './migrations.ts'
import { RateWindow } from './rate-window.ts'
import { isDeleted, isSuspended, SnapshotCache } from './snapshot.ts'
import type { OrganisationSnapshot } from './snapshot.ts'
import { StorageAllowance, storedBytes } from './storage-allowance.ts'

/** A reservation this old is looked up in D1, and given back if there is no job. */
const RECONCILE_AFTER_MS = 5 * 60_000
const RECONCILE_PAGE = 90 // D1 binds at most 100 values to a statement
const RETRY_RECONCILE_MS = 60_000
/** Old ledger data is cleaned at every alarm, and an alarm is set for it at most this often. */
const CLEAN_EVERY_MS = DAY_MS
/** Between two batches, for requests to pass. */
const NEXT_BATCH_MS = 1_000
/** Under this name the rate window is written down. */
const RATE_WINDOW = 'rate-window'

type Check = { rejectSuspended: boolean }
type Stores = { ledger: Ledger; idempotency: IdempotencyRecords }

export class Organisation extends DurableObject<Env> {
  readonly #standing = new SnapshotCache(this.env)
  #rateWindow = new RateWindow(this.ctx.storage.kv.get<Float64Array>(RATE_WINDOW))
  #allowance = new StorageAllowance(this.ctx.storage.kv)
  #keyUses = new KeyUses(this.env)
  #stores: Stores | undefined
  /** ms since 1970; Infinity when none is set, undefined when not asked yet. */
  #alarmAt: number | undefined

  /** Checks key, suspension and rate limit, in this order. */
  async authenticate(credentials: Credentials, check: Check): Promise<RequestResult<null>> {
    return this.#pass(credentials, check, () => ({ ok: true, value: null }))
  }

  async account(credentials: Credentials): Promise<RequestResult<Account>> {
    return this.#pass(credentials, { rejectSuspended: false }, ({ organisation }) => ({
      ok: true,
      value: { organisation, credits: this.#ledger.totals().balance },
    }))
  }

  async workspaces(credentials: Credentials): Promise<RequestResult<WorkspaceRow[]>> {
    return this.#pass(credentials, { rejectSuspended: false }, ({ workspaces }) => ({
      ok: true,
      value: workspaces,
    }))
  }

  /**
   * Accepts a submission: all checks, the bytes that the job can store taken from the day's allowance,
   * and in live mode one credit reserved under the new job's id, in one transaction. The caller then
   * inserts the job, or calls `abandon`; if it does neither, the alarm finds the reservation.
   */
  async admit(caller: Caller, submission: Submission): Promise<RequestResult<Admission>> {
    const answer = await this.#pass(caller, { rejectSuspended: true }, (standing) =>
      this.ctx.storage.transactionSync(() => this.#admitNow(caller, standing, submission)),
    )
    if (answer.ok && caller.mode === 'live') await this.#wakeBy(Date.now() + RECONCILE_AFTER_MS)
    if (answer.ok && submission.idempotency) await this.#wakeBy(Date.now() + IDEMPOTENCY_TTL_MS)
    return answer
  }

  #admitNow(
    { mode }: Caller,
    { organisation, workspaces }: OrganisationSnapshot,
    { workspaceId, idempotency, imageUrls, webhookUrl }: Submission,
  ): Result<Admission> {
    if (idempotency) {
      const earlier = this.#idempotency.find(mode, idempotency.key)
      if (earlier && earlier.fingerprint !== idempotency.fingerprint) {
        return { ok: false, rejection: 'idempotency_key_reused' }
      }
      if (earlier) {
        // The earlier request may have died before it inserted the job; this one inserts it if so,
        // and until it has, the reservation must not look forgotten.
        this.#ledger.renewReservation(earlier.jobId)
        const { jobId, webhookUrl, createdAt } = earlier
        return {
          ok: true,
          value: {
            jobId,
            workspaceId: earlier.workspaceId,
            defaultWebhookUrl: webhookUrl,
            createdAt,
            replayed: true,
          },
        }
      }
    }

    const { rateLimitPerMinute, defaultWebhookUrl } = organisation
    const now = Date.now()
    const bytes = storedBytes({
      imageUrls,
      webhookUrl: webhookUrl ?? defaultWebhookUrl?.length ?? null,
    })
    if (!this.#allowance.has(bytes, rateLimitPerMinute, now)) {
      return { ok: false, rejection: 'storage_allowance_exceeded' }
    }

    const workspace = workspaceId
      ? workspaces.find(({ id }) => id === workspaceId)
      : workspaces.at(0)
    if (!workspace) return { ok: false, rejection: 'workspace_not_found' }

    const jobId = newId('job')
    if (mode === 'live' && !this.#ledger.reserve(jobId)) {
      return { ok: false, rejection: 'insufficient_credits' }
    }
    this.#allowance.take(bytes, now)
    const admission = {
      jobId,
      workspaceId: workspace.id,
      defaultWebhookUrl,
      createdAt: now,
      replayed: false,
    }
    if (idempotency) {
      this.#idempotency.remember(mode, idempotency.key, {
        fingerprint: idempotency.fingerprint,
        jobId,
        workspaceId: workspace.id,
        webhookUrl: admission.defaultWebhookUrl,
        createdAt: admission.createdAt,
      })
    }
    return { ok: true, value: admission }
  }

  /** A job without an Idempotency-Key could not be inserted: gives its credit back. */
  abandon(jobId: string): void {
    this.release([jobId])
  }

  /** Whether a job's credit is still set aside, and if so, sees to it that it stays. */
  renewReservation(jobId: string): boolean {
    return this.#stored?.ledger.renewReservation(jobId) ?? false
  }

  /** The job completed. May be repeated. */
  capture(jobId: string): void {
    this.ctx.storage.transactionSync(() => this.#stored?.ledger.capture(jobId))
  }

  /** These jobs ended without a picture. May be repeated. */
  release(jobIds: string[]): void {
    this.ctx.storage.transactionSync(() => jobIds.forEach((id) => this.#stored?.ledger.release(id)))
  }

  /** Adds credits; the same `reference` counts once. */
  grant(grant: { amount: number; reference: string; reason: string }): Totals {
    return this.ctx.storage.transactionSync(() =>
      this.#ledger.grant(grant.amount, grant.reference, grant.reason),
    )
  }

  totals(): Totals {
    return this.#stored?.ledger.totals() ?? NOTHING
  }

  /** Ledger entries, newest first; `before` is the last id of the page before. */
  entries(page: { limit: number; before?: number }): LedgerEntry[] {
    return this.#stored?.ledger.list(page.limit, page.before) ?? []
  }

  /** What remains of the ledger when the organisation is deleted. */
  closingRecord(): ClosingRecord {
    return this.#stored?.ledger.closingRecord() ?? { totals: NOTHING, grants: [] }
  }

  /** Deletes everything stored and cached here. May be repeated. */
  async destroy(): Promise<void> {
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
    this.#stores = undefined
    this.#alarmAt = undefined
    this.#rateWindow = new RateWindow()
    this.#allowance = new StorageAllowance(this.ctx.storage.kv)
    this.#keyUses = new KeyUses(this.env)
    this.#standing.drop()
  }

  /** To be called after every change to the organisation, its keys or workspaces in D1. */
  refresh(): void {
    this.#standing.drop()
  }

  /** Settles reservations that were left open, by what D1 says of their jobs; deletes old data. */
  override async alarm(): Promise<void> {
    this.#alarmAt = Infinity
    try {
      await this.#reconcile()
      await this.#keyUses.flush()
    } catch (error) {
      // Thrown on, the runtime would give up after some tries, and with it on the credits.
      log.error('reconciliation failed', error)
      await this.#wakeBy(Date.now() + RETRY_RECONCILE_MS)
      return
    }
    const oldest = this.#stored?.ledger.openSince(Number.MAX_SAFE_INTEGER, 1)[0]
    const expiresAt = this.#stored?.idempotency.expire()
    await this.#wakeBy(
      Math.min(
        oldest ? oldest.checkedAt + RECONCILE_AFTER_MS : Infinity,
        expiresAt ?? Infinity,
        this.#clean(Date.now()),
      ),
    )
  }

  /** Deletes old data of the ledger. @returns when to do so again, ms since 1970 */
  #clean(now: number): number {
    const dueAt = this.ctx.storage.transactionSync(() => this.#stored?.ledger.clean(now))
    if (dueAt === undefined) return Infinity
    return dueAt <= now ? now + NEXT_BATCH_MS : Math.max(dueAt, now + CLEAN_EVERY_MS)
  }

  async #reconcile(): Promise<void> {
    const before = Date.now() - RECONCILE_AFTER_MS
    for (;;) {
      const open = this.#stored?.ledger.openSince(before, RECONCILE_PAGE) ?? []
      if (open.length === 0) return
      const statuses = await jobStatuses(
        this.env,
        open.map(({ jobId }) => jobId),
      )
      const stores = this.#stored // `destroy` may have run while D1 answered
      if (!stores) return
      const { ledger, idempotency } = stores
      // A replay may have vouched for one of them while D1 answered: then the answer is outdated.
      const untouched = new Set(ledger.openSince(before, RECONCILE_PAGE).map(({ jobId }) => jobId))
      this.ctx.storage.transactionSync(() => {
        for (const { jobId } of open) {
          if (!untouched.has(jobId)) continue
          const status = statuses.get(jobId)
          if (status === undefined) {
            ledger.release(jobId)
            idempotency.forget(jobId)
          } else if (status === 'completed') ledger.capture(jobId)
          else if (isFinal(status)) ledger.release(jobId)
          else ledger.renewReservation(jobId)
        }
      })
    }
  }

  /** Authenticates, counts the request, and if it may pass, lets `then` answer it. */
  async #pass<T>(
    caller: Caller,
    check: Check,
    then: (standing: OrganisationSnapshot) => Result<T>,
  ): Promise<RequestResult<T>> {
    this.#alarmAt ??= (await this.ctx.storage.getAlarm()) ?? Infinity
    const standing = await this.#standing.current(caller.organisationId)
    const answer = this.#answer(standing, caller, check, then)
    if (answer.quota && caller.keyHash !== null) {
      const flushAt = this.#keyUses.note(caller, Date.now())
      if (flushAt !== undefined) await this.#wakeBy(flushAt)
    }
    return answer
  }

  /** Nothing in here is awaited: what was checked stays true. */
  #answer<T>(
    standing: OrganisationSnapshot | null,
    { mode, keyHash }: Caller,
    { rejectSuspended }: Check,
    then: (standing: OrganisationSnapshot) => Result<T>,
  ): RequestResult<T> {
    if (!standing || isDeleted(standing.organisation)) {
      return { ok: false, rejection: 'invalid_api_key' }
    }
    if (keyHash !== null) {
      const key = standing.keys.get(keyHash)
      if (key?.mode !== mode) return { ok: false, rejection: 'invalid_api_key' }
      if (key.revoked) return { ok: false, rejection: 'api_key_revoked' }
    }
    const { rateLimitPerMinute } = standing.organisation
    const { passed, ...quota } = this.#rateWindow.take(rateLimitPerMinute, Date.now())
    const toWrite = this.#rateWindow.toWrite(rateLimitPerMinute)
    if (toWrite) this.ctx.storage.kv.put(RATE_WINDOW, toWrite)
    if (rejectSuspended && isSuspended(standing.organisation)) {
      return { ok: false, rejection: 'account_suspended', quota }
    }
    if (!passed) return { ok: false, rejection: 'rate_limit_exceeded', quota }
    return { ...then(standing), quota }
  }

  async #wakeBy(at: number): Promise<void> {
    if (at >= (this.#alarmAt ?? Infinity)) return
    this.#alarmAt = at
    await this.ctx.storage.setAlarm(at)
  }

  /** Undefined for an organisation that does not exist: late calls for a deleted one store nothing. */
  get #stored(): Stores | undefined {
    return this.#stores ?? (Ledger.exists(this.ctx.storage.sql) ? this.#open : undefined)
  }

  /** Created on first use, for organisations that are known to exist. */
  get #open(): Stores {
    if (!this.#stores) {
      const { storage } = this.ctx
      migrate(storage)
      this.#stores = {
        ledger: new Ledger(storage),
        idempotency: new IdempotencyRecords(storage.sql),
      }
    }
    return this.#stores
  }

  get #ledger(): Ledger {
    return this.#open.ledger
  }

  get #idempotency(): IdempotencyRecords {
    return this.#open.idempotency
  }
}

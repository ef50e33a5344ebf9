// The credits of one organisation, with all their SQL. The ledger is append-only. Every entry contains
// the totals after it, for which this invariant holds:
//
//   granted = balance + reserved + consumed
//
// A reservation has its job's id. Capture and release are idempotent and close it exactly once.
// Cleanup deletes old closed reservations and rolls up old entries, except grants.
import { firstIdSince } from '../ids.ts'
import { DAY_MS, RETENTION_DAYS } from '../domain/limits.ts'

/** The reference of an organisation's first grant. No other grant may use it. */
export const SIGN_UP_REFERENCE = 'sign-up'

/** The maximum number of reservations and of entries per cleanup. */
const CLEANUP_BATCH = 1_000
/** The storage key of the id up to which entries are rolled up. */
const ROLLED_UP_TO = 'ledger-rolled-up-to'

/** All in credits. */
export interface Totals {
  granted: number
  balance: number
  reserved: number
  consumed: number
}

export interface LedgerEntry extends Totals {
  id: number
  /** ms since 1970 */
  at: number
  /** A `rollup` replaces all entries of one day except grants. */
  kind: 'grant' | 'reserve' | 'capture' | 'release' | 'rollup'
  /** What the entry added to the balance, in credits. */
  amount: number
  jobId: string | null
  reference: string | null
  reason: string | null
}

export interface OpenReservation {
  jobId: string
  /** When the reservation was created or last renewed, ms since 1970. */
  checkedAt: number
}

type ReservationState = 'reserved' | 'captured' | 'released'
type Cause = { jobId?: string; reference?: string; reason?: string }

/** What remains of the ledger of a deleted organisation, for accounting. */
export interface ClosingRecord {
  totals: Totals
  /** Every grant, oldest first. */
  grants: { at: string; amount: number; reference: string | null; reason: string | null }[]
}

export const ZERO_TOTALS: Totals = { granted: 0, balance: 0, reserved: 0, consumed: 0 }

export class Ledger {
  readonly #sql: SqlStorage
  readonly #kv: SyncKvStorage

  constructor({ sql, kv }: Pick<DurableObjectStorage, 'sql' | 'kv'>) {
    this.#sql = sql
    this.#kv = kv
  }

  /** Whether the tables exist. Does not create them. */
  static exists(sql: SqlStorage): boolean {
    const table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ledger_entries'"
    return sql.exec(table).toArray().length > 0
  }

  totals(): Totals {
    const last = this.#sql
      .exec<Record<keyof Totals, number>>(
        'SELECT granted, balance, reserved, consumed FROM ledger_entries ORDER BY id DESC LIMIT 1',
      )
      .toArray()[0]
    return last ?? ZERO_TOTALS
  }

  /** Adds credits, once per `reference`. */
  grant({
    amount,
    reference,
    reason,
  }: {
    amount: number
    reference: string
    reason: string
  }): Totals {
    const known = this.#sql
      .exec('SELECT 1 FROM ledger_entries WHERE reference = ?', reference)
      .toArray()
    if (known.length === 0) {
      this.#append('grant', amount, { granted: amount, balance: amount }, { reference, reason })
    }
    return this.totals()
  }

  /** Reserves one credit for a job. @returns false, without a change, when the balance is 0 */
  reserve(jobId: string): boolean {
    if (this.totals().balance < 1) return false
    this.#sql.exec(
      "INSERT INTO reservations (job_id, state, checked_at) VALUES (?, 'reserved', ?)",
      jobId,
      Date.now(),
    )
    this.#append('reserve', -1, { balance: -1, reserved: 1 }, { jobId })
    return true
  }

  /** Consumes the credit of a completed job. Repeating this changes nothing. */
  capture(jobId: string): void {
    const state = this.#stateOf(jobId)
    if (state === 'captured') return
    // Cleanup has deleted the reservation after it was closed.
    if (state === undefined && jobId < oldestReservation()) return
    // The reservation was released, or lost in the restore of a backup, but the job is completed. The
    // job is the source of truth, so this takes the credit from the balance.
    const late = state !== 'reserved'
    this.#sql.exec(
      `INSERT INTO reservations (job_id, state, checked_at) VALUES (?1, 'captured', ?2)
       ON CONFLICT (job_id) DO UPDATE SET state = 'captured'`,
      jobId,
      Date.now(),
    )
    if (late) this.#append('capture', -1, { balance: -1, consumed: 1 }, { jobId })
    else this.#append('capture', 0, { reserved: -1, consumed: 1 }, { jobId })
  }

  /** Returns the credit of a job that ended without a picture. Repeating this changes nothing. */
  release(jobId: string): void {
    if (this.#stateOf(jobId) !== 'reserved') return
    this.#sql.exec("UPDATE reservations SET state = 'released' WHERE job_id = ?", jobId)
    this.#append('release', 1, { balance: 1, reserved: -1 }, { jobId })
  }

  /** Open reservations that were not renewed since `before` (ms since 1970), oldest first. */
  openSince(before: number, limit: number): OpenReservation[] {
    return this.#sql
      .exec<{ jobId: string; checkedAt: number }>(
        `SELECT job_id AS jobId, checked_at AS checkedAt FROM reservations
         WHERE state = 'reserved' AND checked_at <= ? ORDER BY checked_at LIMIT ?`,
        before,
        limit,
      )
      .toArray()
  }

  /** Renews a reservation, so that it is not reconciled yet. @returns false when it is not open */
  renewReservation(jobId: string): boolean {
    const open = this.#stateOf(jobId) === 'reserved'
    if (open) {
      this.#sql.exec('UPDATE reservations SET checked_at = ? WHERE job_id = ?', Date.now(), jobId)
    }
    return open
  }

  /** Entries, newest first; `before` is the last id of the previous page. */
  list(limit: number, before: number = Number.MAX_SAFE_INTEGER): LedgerEntry[] {
    return this.#sql
      .exec<LedgerEntry & Record<string, SqlStorageValue>>(
        `SELECT id, at, kind, amount, job_id AS jobId, reference, reason,
                granted, balance, reserved, consumed
         FROM ledger_entries WHERE id < ? ORDER BY id DESC LIMIT ?`,
        before,
        limit,
      )
      .toArray()
  }

  closingRecord(): ClosingRecord {
    const grants = this.#sql
      .exec<{ at: number; amount: number; reference: string | null; reason: string | null }>(
        "SELECT at, amount, reference, reason FROM ledger_entries WHERE kind = 'grant' ORDER BY id",
      )
      .toArray()
    return {
      totals: this.totals(),
      grants: grants.map((grant) => ({ ...grant, at: new Date(grant.at).toISOString() })),
    }
  }

  /**
   * Deletes closed reservations after 30 days and rolls entries up after 400 days, one batch of each.
   * @returns when to call it again, ms since 1970; undefined when nothing will expire
   */
  cleanUp(now: number): number | undefined {
    const before = oldestReservation(now)
    const { rowsWritten } = this.#sql.exec(
      `DELETE FROM reservations WHERE job_id IN (
         SELECT job_id FROM reservations
         WHERE job_id < ? AND state <> 'reserved' ORDER BY job_id LIMIT ?)`,
      before,
      CLEANUP_BATCH,
    )
    const moreToRollUp = this.#rollUp(now)
    if (moreToRollUp || rowsWritten >= CLEANUP_BATCH) return now
    const closed = this.#sql
      .exec<{ at: number }>(
        "SELECT checked_at AS at FROM reservations WHERE state <> 'reserved' ORDER BY job_id LIMIT 1",
      )
      .toArray()[0]
    const entry = this.#sql
      .exec<{ at: number }>(
        'SELECT at FROM ledger_entries WHERE id > ? ORDER BY id LIMIT 1',
        this.#rolledUpTo,
      )
      .toArray()[0]
    const due = [
      ...(closed ? [closed.at + RETENTION_DAYS.closedReservations * DAY_MS] : []),
      // A day is rolled up after its end.
      ...(entry ? [entry.at + (RETENTION_DAYS.ledgerEntries + 1) * DAY_MS] : []),
    ]
    return due.length === 0 ? undefined : Math.min(...due)
  }

  get #rolledUpTo(): number {
    return this.#kv.get<number>(ROLLED_UP_TO) ?? 0
  }

  /**
   * Replaces each sequence of entries of one day between two grants by its last entry with the sum of
   * the amounts. Grants remain, since their references must not be used again.
   * @returns whether there may be more entries
   */
  #rollUp(now: number): boolean {
    const before = Math.floor(now / DAY_MS - RETENTION_DAYS.ledgerEntries) * DAY_MS
    const entries = this.#sql
      .exec<{ id: number; at: number; kind: LedgerEntry['kind']; amount: number }>(
        `SELECT id, at, kind, amount FROM ledger_entries
         WHERE id > ? AND at < ? ORDER BY id LIMIT ?`,
        this.#rolledUpTo,
        before,
        CLEANUP_BATCH,
      )
      .toArray()
    let sequence: { first: number; last: number; day: number; amount: number } | undefined
    const replace = () => {
      if (!sequence) return
      this.#sql.exec(
        `UPDATE ledger_entries SET kind = 'rollup', amount = ?, job_id = NULL, reason = NULL
         WHERE id = ?`,
        sequence.amount,
        sequence.last,
      )
      this.#sql.exec(
        'DELETE FROM ledger_entries WHERE id >= ? AND id < ?',
        sequence.first,
        sequence.last,
      )
      sequence = undefined
    }
    for (const { id, at, kind, amount } of entries) {
      const day = Math.floor(at / DAY_MS)
      if (kind === 'grant' || sequence?.day !== day) replace()
      if (kind !== 'grant') {
        const { first = id, amount: sum = 0 } = sequence ?? {}
        sequence = { first, last: id, day, amount: sum + amount }
      }
    }
    const isFull = entries.length === CLEANUP_BATCH
    // The last sequence of a full batch may continue in the next batch, which then starts with it.
    const done = isFull && sequence ? sequence.last - 1 : entries.at(-1)?.id
    replace()
    if (done !== undefined) this.#kv.put(ROLLED_UP_TO, done)
    return isFull
  }

  #stateOf(jobId: string): ReservationState | undefined {
    return this.#sql
      .exec<{ state: ReservationState }>('SELECT state FROM reservations WHERE job_id = ?', jobId)
      .toArray()[0]?.state
  }

  #append(kind: LedgerEntry['kind'], amount: number, change: Partial<Totals>, cause: Cause): void {
    const before = this.totals()
    this.#sql.exec(
      `INSERT INTO ledger_entries
         (at, kind, amount, job_id, reference, reason, granted, balance, reserved, consumed)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      Date.now(),
      kind,
      amount,
      cause.jobId ?? null,
      cause.reference ?? null,
      cause.reason ?? null,
      before.granted + (change.granted ?? 0),
      before.balance + (change.balance ?? 0),
      before.reserved + (change.reserved ?? 0),
      before.consumed + (change.consumed ?? 0),
    )
  }
}

/** Closed reservations of jobs before this id may be deleted. */
const oldestReservation = (now = Date.now()): string =>
  firstIdSince('job', now - RETENTION_DAYS.closedReservations * DAY_MS)

// The credits of one organisation, and all SQL about them. Append-only: every entry carries the
// totals after it, so the balance is whatever the last entry says, and
//
//   granted = balance + reserved + consumed        holds in every entry.
//
// A reservation has its job's id and is closed exactly once, however often that is asked for. Closed
// reservations and single entries are deleted by age; the totals and every grant stay.
import { firstIdSince } from '../ids.ts'
import { DAY_MS, RETENTION_DAYS } from '../domain/limits.ts'

/** Under it an organisation is given the credits that it starts with, so no other grant may bear it. */
export const SIGN_UP_REFERENCE = 'sign-up'

/** Closed reservations, and entries to roll up, that one cleaning works through. */
const CLEANING_BATCH = 1_000
/** Under this name the id of the last entry that needs no more rolling up is stored. */
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
  /** `rollup` replaces the other entries of one day, all but grants. */
  kind: 'grant' | 'reserve' | 'capture' | 'release' | 'rollup'
  /** What the entry added to the balance, in credits. */
  amount: number
  jobId: string | null
  reference: string | null
  reason: string | null
}

export interface OpenReservation {
  jobId: string
  /** When somebody last knew that the reservation was needed, ms since 1970. */
  checkedAt: number
}

type ReservationState = 'reserved' | 'captured' | 'released'
type Cause = { jobId?: string; reference?: string; reason?: string }

/** What the accounts of a deleted organisation have to keep. */
export interface ClosingRecord {
  totals: Totals
  /** Every grant, oldest first. */
  grants: { at: string; amount: number; reference: string | null; reason: string | null }[]
}

export const NOTHING: Totals = { granted: 0, balance: 0, reserved: 0, consumed: 0 }

export class Ledger {
  readonly #sql: SqlStorage
  readonly #kv: SyncKvStorage

  constructor({ sql, kv }: Pick<DurableObjectStorage, 'sql' | 'kv'>) {
    this.#sql = sql
    this.#kv = kv
  }

  /** Whether a ledger is stored, without creating one. */
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
    return last ?? NOTHING
  }

  /** Adds credits; the same `reference` counts once. */
  grant(amount: number, reference: string, reason: string): Totals {
    const known = this.#sql
      .exec('SELECT 1 FROM ledger_entries WHERE reference = ?', reference)
      .toArray()
    if (known.length === 0) {
      this.#append('grant', amount, { granted: amount, balance: amount }, { reference, reason })
    }
    return this.totals()
  }

  /** Sets one credit aside for a job. @returns false, and changes nothing, on a balance of 0 */
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

  /** The job completed: its credit is consumed. Repeating this changes nothing. */
  capture(jobId: string): void {
    const state = this.#stateOf(jobId)
    if (state === 'captured') return
    // Its reservation was closed and is deleted by now: nothing is known about it, and nothing is due.
    if (state === undefined && jobId < oldestReservation()) return
    // Released before (or lost with a restored backup), yet the job's row says completed. The row
    // is the truth: the picture was made, so the credit is taken from the balance after all.
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

  /** The job ended without a picture: its credit goes back. Repeating this changes nothing. */
  release(jobId: string): void {
    if (this.#stateOf(jobId) !== 'reserved') return
    this.#sql.exec("UPDATE reservations SET state = 'released' WHERE job_id = ?", jobId)
    this.#append('release', 1, { balance: 1, reserved: -1 }, { jobId })
  }

  /** Open reservations that nobody has vouched for since `before` (ms since 1970), oldest first. */
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

  /** Notes that a reservation is still needed. @returns false when it is no longer open */
  renewReservation(jobId: string): boolean {
    const open = this.#stateOf(jobId) === 'reserved'
    if (open) {
      this.#sql.exec('UPDATE reservations SET checked_at = ? WHERE job_id = ?', Date.now(), jobId)
    }
    return open
  }

  /** Entries, newest first; pass the last id of a page as `before` for the next. */
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
   * Deletes closed reservations after 30 days and rolls entries up after 400, a bounded number of each.
   * @returns when to call it again, ms since 1970; undefined when there is nothing to clean, ever
   */
  clean(now: number): number | undefined {
    const before = oldestReservation(now)
    const { rowsWritten } = this.#sql.exec(
      `DELETE FROM reservations WHERE job_id IN (
         SELECT job_id FROM reservations
         WHERE job_id < ? AND state <> 'reserved' ORDER BY job_id LIMIT ?)`,
      before,
      CLEANING_BATCH,
    )
    const moreToRollUp = this.#rollUp(now)
    if (moreToRollUp || rowsWritten >= CLEANING_BATCH) return now
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
      // Its day has to be over.
      ...(entry ? [entry.at + (RETENTION_DAYS.ledgerEntries + 1) * DAY_MS] : []),
    ]
    return due.length === 0 ? undefined : Math.min(...due)
  }

  get #rolledUpTo(): number {
    return this.#kv.get<number>(ROLLED_UP_TO) ?? 0
  }

  /**
   * Replaces each run of entries of one day between two grants by its last one, with the amounts
   * summed. Grants stay, since their references must go on counting once.
   * @returns whether there may be more
   */
  #rollUp(now: number): boolean {
    const before = Math.floor(now / DAY_MS - RETENTION_DAYS.ledgerEntries) * DAY_MS
    const entries = this.#sql
      .exec<{ id: number; at: number; kind: LedgerEntry['kind']; amount: number }>(
        `SELECT id, at, kind, amount FROM ledger_entries
         WHERE id > ? AND at < ? ORDER BY id LIMIT ?`,
        this.#rolledUpTo,
        before,
        CLEANING_BATCH,
      )
      .toArray()
    let run: { first: number; last: number; day: number; amount: number } | undefined
    const replace = () => {
      if (!run) return
      this.#sql.exec(
        `UPDATE ledger_entries SET kind = 'rollup', amount = ?, job_id = NULL, reason = NULL
         WHERE id = ?`,
        run.amount,
        run.last,
      )
      this.#sql.exec('DELETE FROM ledger_entries WHERE id >= ? AND id < ?', run.first, run.last)
      run = undefined
    }
    for (const { id, at, kind, amount } of entries) {
      const day = Math.floor(at / DAY_MS)
      if (kind === 'grant' || run?.day !== day) replace()
      if (kind !== 'grant') {
        run = { first: run?.first ?? id, last: id, day, amount: (run?.amount ?? 0) + amount }
      }
    }
    const isFull = entries.length === CLEANING_BATCH
    // The last run of a full batch may go on in the next one, which then begins with it.
    const done = isFull && run ? run.last - 1 : entries.at(-1)?.id
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

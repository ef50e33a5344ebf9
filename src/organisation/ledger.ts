// The credits of one organisation, and all SQL about them. Append-only: every entry carries the
// totals after it, so the balance is whatever the last entry says, and
//
//   granted = balance + reserved + consumed        holds in every entry.
//
// A reservation bears its job's id and is closed exactly once, however often that is asked for.

/** Under it an organisation is given the credits that it starts with, so no other grant may bear it. */
export const SIGN_UP_REFERENCE = 'sign-up'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS ledger_entries (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL,
    job_id TEXT,
    reference TEXT,
    reason TEXT,
    granted INTEGER NOT NULL,
    balance INTEGER NOT NULL,
    reserved INTEGER NOT NULL,
    consumed INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX IF NOT EXISTS ledger_entries_by_reference
    ON ledger_entries (reference) WHERE reference IS NOT NULL;
  CREATE TABLE IF NOT EXISTS reservations (
    job_id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    checked_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS reservations_open
    ON reservations (checked_at) WHERE state = 'reserved';
`

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
  kind: 'grant' | 'reserve' | 'capture' | 'release'
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

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(SCHEMA)
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
  vouch(jobId: string): boolean {
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

// The credits of one organisation, with all their SQL. The ledger is append-only. Every entry contains
// the totals after it, for which this invariant holds:
//
//   granted = balance + reserved + consumed
//
// A reservation has its job's id. Capture and release are idempotent and close it exactly once.
// A reversal takes back credits of a grant, for a refund or a lost dispute: `granted` is what was granted
// less what was taken back, and the balance may become negative.
import { FREE_CREDITS } from '../domain/limits.ts'
import { CreditUse, type Spender } from './credit-use.ts'
import { firstRow } from './first-row.ts'
import {
  cleanUpLedger,
  firstOpen,
  setFirstOpen,
  oldestReservation,
  type LedgerStorage,
} from './ledger-cleanup.ts'

/** The reference of an organisation's first grant. No other grant may use it. */
export const SIGN_UP_REFERENCE = 'sign-up'

/** Between the reference of a grant and the total of a reversal. */
const REVERSAL = ':reversed:'

export interface Grant {
  amount: number
  /** Credits are added once per reference. */
  reference: string
  reason: string
}

export interface Reversal {
  /** That of the grant. */
  reference: string
  /** The total taken back so far: repeating changes nothing. */
  credits: number
  reason: string
}

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
  /** A `rollup` replaces all entries of one day except grants and reversals. */
  kind: 'grant' | 'reversal' | 'reserve' | 'capture' | 'release' | 'rollup'
  /** What the entry added to the balance, in credits. */
  amount: number
  jobId: string | null
  reference: string | null
  reason: string | null
}

type ReservationState = 'reserved' | 'captured' | 'released'
type Cause = { jobId?: string; reference?: string; reason?: string }

export const ZERO_TOTALS: Totals = { granted: 0, balance: 0, reserved: 0, consumed: 0 }

/** The totals after the last entry below an id, by default after the last of all. Undefined without such an entry. */
export const totalsBefore = (sql: SqlStorage, id = Number.MAX_SAFE_INTEGER) =>
  firstRow<Totals>(
    sql,
    `SELECT granted, balance, reserved, consumed FROM ledger_entries
     WHERE id < ? ORDER BY id DESC LIMIT 1`,
    id,
  )

export class Ledger {
  readonly #sql: SqlStorage
  readonly #kv: SyncKvStorage
  readonly #use: CreditUse
  /** What the storage has, read once. A rollback drops the ledger with it (`Stores.transaction`). */
  #totals: Totals | undefined

  constructor({ sql, kv }: LedgerStorage) {
    this.#sql = sql
    this.#kv = kv
    this.#use = new CreditUse(sql)
  }

  /** Whether the tables exist. Does not create them. */
  static exists(sql: SqlStorage): boolean {
    const table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ledger_entries'"
    return firstRow(sql, table) !== undefined
  }

  totals(): Totals {
    this.#totals ??= totalsBefore(this.#sql) ?? ZERO_TOTALS
    return this.#totals
  }

  /** The credits of the last grant; 0 without any. Reads the entries since then. */
  lastGrant(): number {
    const last = firstRow<{ amount: number }>(
      this.#sql,
      "SELECT amount FROM ledger_entries WHERE kind = 'grant' AND amount > 0 ORDER BY id DESC LIMIT 1",
    )
    return last?.amount ?? 0
  }

  /** Whether the organisation has more than free credits at sign-up: it bought some, or an operator granted them. */
  hasPaidCredits(): boolean {
    if (this.totals().granted > FREE_CREDITS) return true
    // Few entries: each of them is at least one of these credits. A refund takes back what was bought.
    return this.#sumOf('reference IS NOT NULL AND reference <> ?', SIGN_UP_REFERENCE) > 0
  }

  /** Adds credits, once per `reference`. */
  grant({ amount, reference, reason }: Grant): Totals {
    if (!firstRow(this.#sql, 'SELECT 1 FROM ledger_entries WHERE reference = ?', reference)) {
      this.#append('grant', amount, { granted: amount, balance: amount }, { reference, reason })
    }
    return this.totals()
  }

  /**
   * Takes back credits of the grant with this `reference`, at most what it granted. Repeating this
   * changes nothing, nor does an earlier total after a later one.
   */
  reverse({ reference, credits, reason }: Reversal): Totals {
    const granted = this.#sumOf('reference = ?', reference)
    const prefix = `${reference}${REVERSAL}`
    // ';' follows ':', so this is the range of all references with the prefix.
    const reversed = -this.#sumOf(
      'reference >= ? AND reference < ?',
      prefix,
      `${prefix.slice(0, -1)};`,
    )
    const total = Math.min(credits, granted)
    const more = total - reversed
    if (more > 0) {
      const cause = { reference: `${prefix}${total}`, reason }
      this.#append('reversal', -more, { granted: -more, balance: -more }, cause)
    }
    return this.totals()
  }

  #sumOf(condition: string, ...values: string[]): number {
    return this.#sql
      .exec<{ amount: number }>(
        `SELECT coalesce(sum(amount), 0) AS amount FROM ledger_entries WHERE ${condition}`,
        ...values,
      )
      .one().amount
  }

  /** Reserves one credit for a job. @returns false, without a change, when the balance is below 1 */
  reserve(jobId: string, spender?: Spender): boolean {
    if (this.totals().balance < 1) return false
    // The clock may have been set back.
    if (jobId < firstOpen(this.#kv)) setFirstOpen(this.#kv, jobId)
    this.#sql.exec(
      `INSERT INTO reservations (job_id, state, checked_at, key_count_id, workspace_id)
       VALUES (?, 'reserved', ?, ?, ?)`,
      jobId,
      Date.now(),
      spender?.keyCountId ?? null,
      spender?.workspaceId ?? null,
    )
    this.#use.add(jobId, 1)
    this.#append('reserve', -1, { balance: -1, reserved: 1 }, { jobId })
    return true
  }

  /**
   * Consumes the credit of a completed job. Repeating this changes nothing.
   * @returns whether it lowered the balance, because the credit was not reserved
   */
  capture(jobId: string): boolean {
    const state = this.#stateOf(jobId)
    if (state === 'captured') return false
    // Cleanup has deleted the reservation after it was closed.
    if (state === undefined && jobId < oldestReservation()) return false
    // The reservation was released, or lost in the restore of a backup, but the job is completed. The
    // job is the source of truth, so this takes the credit from the balance.
    const late = state !== 'reserved'
    this.#sql.exec(
      `INSERT INTO reservations (job_id, state, checked_at) VALUES (?1, 'captured', ?2)
       ON CONFLICT (job_id) DO UPDATE SET state = 'captured'`,
      jobId,
      Date.now(),
    )
    if (late) {
      this.#use.add(jobId, 1)
      this.#append('capture', -1, { balance: -1, consumed: 1 }, { jobId })
    } else this.#append('capture', 0, { reserved: -1, consumed: 1 }, { jobId })
    return late
  }

  /**
   * Returns the credit of a job that ended without a picture. Repeating this changes nothing.
   * @returns whether it was reserved
   */
  release(jobId: string): boolean {
    if (this.#stateOf(jobId) !== 'reserved') return false
    this.#sql.exec("UPDATE reservations SET state = 'released' WHERE job_id = ?", jobId)
    this.#use.add(jobId, -1)
    this.#append('release', 1, { balance: 1, reserved: -1 }, { jobId })
    return true
  }

  /**
   * The job ids of open reservations that were not renewed since `before` (ms since 1970), in their order.
   * All pages together read the reservations since the first open one once: an index would be one more row
   * written for each job.
   * @param after the last job id of the previous page
   */
  openSince(before: number, limit: number, after = ''): string[] {
    return this.#sql
      .exec<{ jobId: string }>(
        `SELECT job_id AS jobId FROM reservations WHERE job_id >= ? AND job_id > ?
           AND state = 'reserved' AND checked_at <= ? ORDER BY job_id LIMIT ?`,
        firstOpen(this.#kv),
        after,
        before,
        limit,
      )
      .toArray()
      .map(({ jobId }) => jobId)
  }

  /** The earliest check of an open reservation, ms since 1970; null without any. */
  oldestCheck(): number | null {
    return this.#sql
      .exec<{ at: number | null }>(
        "SELECT min(checked_at) AS at FROM reservations WHERE job_id >= ? AND state = 'reserved'",
        firstOpen(this.#kv),
      )
      .one().at
  }

  /** Renews a reservation, so that it is not reconciled yet. @returns false when it is not open */
  renewReservation(jobId: string): boolean {
    const open = this.#stateOf(jobId) === 'reserved'
    if (open) {
      this.#sql.exec('UPDATE reservations SET checked_at = ? WHERE job_id = ?', Date.now(), jobId)
    }
    return open
  }

  /** Deletes old data. @returns when to call it again, ms since 1970; Infinity when nothing will expire */
  cleanUp(now: number): number {
    return cleanUpLedger({ sql: this.#sql, kv: this.#kv }, now)
  }

  #stateOf(jobId: string): ReservationState | undefined {
    const state = 'SELECT state FROM reservations WHERE job_id = ?'
    return firstRow<{ state: ReservationState }>(this.#sql, state, jobId)?.state
  }

  #append(kind: LedgerEntry['kind'], amount: number, change: Partial<Totals>, cause: Cause): void {
    const before = this.totals()
    const after: Totals = {
      granted: before.granted + (change.granted ?? 0),
      balance: before.balance + (change.balance ?? 0),
      reserved: before.reserved + (change.reserved ?? 0),
      consumed: before.consumed + (change.consumed ?? 0),
    }
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
      ...Object.values(after), // in the order of the columns
    )
    this.#totals = after
  }
}

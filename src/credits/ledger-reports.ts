// Reads parts of the ledger: filtered pages and totals per month for the console, and all grants. Entries are in
// the order of their time, so a time is found by a binary search over their ids, without an index.
//
// A page has one row for each job: the entry of its current state, which its reservation has. The entries
// before it are left out. They only move the credit between the balance and the reserved credits.
import { monthOf, monthStart } from '../domain/month.ts'
import { firstRow } from './first-row.ts'
import { totalsBefore, ZERO_TOTALS, type LedgerEntry } from './ledger.ts'

/** The maximum number of entries that one page reads. */
const MAX_READ = 20_000

export interface LedgerFilter {
  limit: number
  /** Entries with a lower id: `nextBefore` of the previous page. */
  before?: number | undefined
  kinds?: LedgerEntry['kind'][] | undefined
  /** Entries of this calendar month (UTC), such as `2026-11`. */
  month?: string | undefined
  /** The number of months to add up, from the current one back to the first entry; default 0. */
  months?: number
}

/** An entry of a grant or reversal, or the current state of a job. */
export interface LedgerRow extends Omit<LedgerEntry, 'amount' | 'reference' | 'granted'> {
  /**
   * The change of balance and reserved credits together since the row before: 0 while a job is reserved,
   * and when its credit is returned.
   */
  change: number
}

export interface LedgerPage {
  /** Newest first. */
  entries: LedgerRow[]
  /** Where the next page starts; null after the last entry. */
  nextBefore: number | null
  /** The current month first. */
  months: MonthTotals[]
}

export const NO_ENTRIES: LedgerPage = { entries: [], nextBefore: null, months: [] }

/** The totals of a calendar month (UTC), credits. */
export interface MonthTotals {
  /** Such as `2026-11`. */
  month: string
  /** Granted less taken back. */
  added: number
  consumed: number
  /** At the end of the month, or now. */
  balance: number
}

/** Entries, newest first; `before` is the last id of the previous page. */
export const entriesBefore = (
  sql: SqlStorage,
  { limit, before = Number.MAX_SAFE_INTEGER }: { limit: number; before?: number },
): LedgerEntry[] =>
  sql
    .exec<LedgerEntry & Record<string, SqlStorageValue>>(
      `SELECT id, at, kind, amount, job_id AS jobId, reference, reason,
              granted, balance, reserved, consumed
       FROM ledger_entries WHERE id < ? ORDER BY id DESC LIMIT ?`,
      before,
      limit,
    )
    .toArray()

/** Every grant and, with a negative amount, every reversal, oldest first. */
export function grantsIn(sql: SqlStorage) {
  const entries = sql.exec<Pick<LedgerEntry, 'at' | 'amount' | 'reference' | 'reason'>>(
    "SELECT at, amount, reference, reason FROM ledger_entries WHERE kind IN ('grant', 'reversal') ORDER BY id",
  )
  return [...entries].map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() }))
}

/** The change of `balance + reserved`, which is what is granted less what is consumed. */
const CHANGE = `granted - consumed - coalesce((
  SELECT granted - consumed FROM ledger_entries AS earlier
  WHERE earlier.id < entry.id ORDER BY earlier.id DESC LIMIT 1), 0)`

/** Closed reservations are deleted after a while. A late capture follows a release. */
const IS_STATE = `kind NOT IN ('reserve', 'release') OR kind = CASE (
    SELECT state FROM reservations WHERE reservations.job_id = entry.job_id)
  WHEN 'reserved' THEN 'reserve' WHEN 'captured' THEN 'capture' ELSE 'release' END`

/** A page of rows that match a filter. It can have fewer than `limit` rows, also none. */
export function ledgerPage(sql: SqlStorage, filter: LedgerFilter): LedgerPage {
  const { limit, before = Number.MAX_SAFE_INTEGER, kinds, month } = filter
  const months = monthTotals(sql, filter.months ?? 0, Date.now())
  const start = month === undefined ? undefined : new Date(`${month}-01T00:00:00Z`)
  const first = start ? firstIdSince(sql, start.getTime()) : 0
  const end = start ? firstIdSince(sql, monthStart(start, 1).getTime()) : Number.MAX_SAFE_INTEGER
  const read = sql
    .exec<{ count: number; lowest: number | null }>(
      `SELECT count(*) AS count, min(id) AS lowest FROM
         (SELECT id FROM ledger_entries WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?)`,
      first,
      Math.min(before, end),
      MAX_READ,
    )
    .one()
  if (read.lowest === null) return { entries: [], nextBefore: null, months }
  const entries = sql
    .exec<LedgerRow & Record<string, SqlStorageValue>>(
      `SELECT id, at, kind, ${CHANGE} AS change, job_id AS jobId, reason, balance, reserved, consumed
       FROM ledger_entries AS entry WHERE id >= ?1 AND id < ?2
         AND (?3 IS NULL OR kind IN (SELECT value FROM json_each(?3))) AND (${IS_STATE})
       ORDER BY id DESC LIMIT ?4`,
      read.lowest,
      Math.min(before, end),
      kinds ? JSON.stringify(kinds) : null,
      limit + 1,
    )
    .toArray()
  if (entries.length > limit) {
    return { entries: entries.slice(0, limit), nextBefore: entries[limit - 1]?.id ?? null, months }
  }
  return { entries, nextBefore: read.count === MAX_READ ? read.lowest : null, months }
}

/** The totals of at most `limit` months, the current one first, back to the first entry. */
function monthTotals(sql: SqlStorage, limit: number, now: number): MonthTotals[] {
  const months: MonthTotals[] = []
  let end = Number.MAX_SAFE_INTEGER
  for (let ago = 0; ago < limit; ago++) {
    const start = monthStart(new Date(now), -ago)
    const first = firstIdSince(sql, start.getTime())
    const after = totalsBefore(sql, end)
    if (!after) break
    const before = totalsBefore(sql, first) ?? ZERO_TOTALS
    months.push({
      month: monthOf(start),
      added: after.granted - before.granted,
      consumed: after.consumed - before.consumed,
      balance: after.balance,
    })
    end = first
  }
  return months
}

/** A lower bound for the ids of entries at `at` (ms since 1970) or later. */
function firstIdSince(sql: SqlStorage, at: number): number {
  let low = 0
  let high =
    1 + sql.exec<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM ledger_entries').one().id
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const query = 'SELECT id, at FROM ledger_entries WHERE id >= ? ORDER BY id LIMIT 1'
    const next = firstRow<{ id: number; at: number }>(sql, query, middle)
    if (!next || next.at >= at) high = middle
    else low = next.id + 1
  }
  return low
}

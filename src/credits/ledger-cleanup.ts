// Deletes old closed reservations, and rolls up old entries of the ledger except grants and reversals.
import { firstIdSince } from '../platform/ids.ts'
import { DAY_MS, RETENTION_DAYS } from '../domain/limits.ts'
import { firstRow } from './first-row.ts'

/** The maximum number of reservations and of entries per cleanup. */
const CLEANUP_BATCH = 1_000
/** The storage key of the id up to which entries are rolled up. */
const ROLLED_UP_TO = 'ledger-rolled-up-to'

/** The storage key of `firstOpen`. */
const FIRST_OPEN = 'first-open-reservation'
/** The closed reservations that are read before the id is stored again. */
const MAX_CLOSED_READ = 100

export type LedgerStorage = Pick<DurableObjectStorage, 'sql' | 'kv'>

/** Closed reservations of jobs before this id may be deleted. */
export const oldestReservation = (now = Date.now()): string =>
  firstIdSince('job', now - RETENTION_DAYS.closedReservations * DAY_MS)

/** The stored id before which all reservations are closed; every id by default. */
export const firstOpen = (kv: SyncKvStorage): string => kv.get<string>(FIRST_OPEN) ?? ''

/** Stores the id that `firstOpen` returns. */
export const setFirstOpen = (kv: SyncKvStorage, id: string): void => kv.put(FIRST_OPEN, id)

/** Stores the first open reservation if enough earlier ones are closed. */
function skipClosed({ sql, kv }: LedgerStorage, now: number): void {
  const from = firstOpen(kv)
  const open = firstRow<{ jobId: string }>(
    sql,
    `SELECT job_id AS jobId FROM reservations
     WHERE job_id >= ? AND state = 'reserved' ORDER BY job_id LIMIT 1`,
    from,
  )
  const first = open?.jobId ?? firstIdSince('job', now)
  const { closed } = sql
    .exec<{ closed: number }>(
      `SELECT count(*) AS closed FROM (
         SELECT 1 FROM reservations WHERE job_id >= ? AND job_id < ? LIMIT ?)`,
      from,
      first,
      MAX_CLOSED_READ,
    )
    .one()
  if (closed >= MAX_CLOSED_READ) setFirstOpen(kv, first)
}

/**
 * Deletes closed reservations after 30 days and rolls entries up after 400 days, one batch of each.
 * @returns when to call it again, ms since 1970; Infinity when nothing will expire
 */
export function cleanUpLedger({ sql, kv }: LedgerStorage, now: number): number {
  skipClosed({ sql, kv }, now)
  const before = oldestReservation(now)
  const { rowsWritten } = sql.exec(
    `DELETE FROM reservations WHERE job_id IN (
       SELECT job_id FROM reservations
       WHERE job_id < ? AND state <> 'reserved' ORDER BY job_id LIMIT ?)`,
    before,
    CLEANUP_BATCH,
  )
  const moreToRollUp = rollUp({ sql, kv }, now)
  if (moreToRollUp || rowsWritten >= CLEANUP_BATCH) return now
  const closed = firstRow<{ at: number }>(
    sql,
    "SELECT checked_at AS at FROM reservations WHERE state <> 'reserved' ORDER BY job_id LIMIT 1",
  )
  const next = 'SELECT at FROM ledger_entries WHERE id > ? ORDER BY id LIMIT 1'
  const entry = firstRow<{ at: number }>(sql, next, rolledUpTo(kv))
  return Math.min(
    (closed?.at ?? Infinity) + RETENTION_DAYS.closedReservations * DAY_MS,
    // A day is rolled up after its end.
    (entry?.at ?? Infinity) + (RETENTION_DAYS.ledgerEntries + 1) * DAY_MS,
  )
}

const rolledUpTo = (kv: SyncKvStorage): number => kv.get<number>(ROLLED_UP_TO) ?? 0

/**
 * Replaces each sequence of entries of one day between two grants or reversals by its last entry with
 * the sum of the amounts. Grants and reversals remain, since their references must not be used again.
 * @returns whether there may be more entries
 */
function rollUp({ sql, kv }: LedgerStorage, now: number): boolean {
  const before = Math.floor(now / DAY_MS - RETENTION_DAYS.ledgerEntries) * DAY_MS
  const entries = sql
    .exec<{ id: number; at: number; kind: string; amount: number }>(
      `SELECT id, at, kind, amount FROM ledger_entries
       WHERE id > ? AND at < ? ORDER BY id LIMIT ?`,
      rolledUpTo(kv),
      before,
      CLEANUP_BATCH,
    )
    .toArray()
  let sequence: { first: number; last: number; day: number; amount: number } | undefined
  const replace = () => {
    if (!sequence) return
    sql.exec(
      `UPDATE ledger_entries SET kind = 'rollup', amount = ?, job_id = NULL, reason = NULL
       WHERE id = ?`,
      sequence.amount,
      sequence.last,
    )
    sql.exec('DELETE FROM ledger_entries WHERE id >= ? AND id < ?', sequence.first, sequence.last)
    sequence = undefined
  }
  for (const { id, at, kind, amount } of entries) {
    const day = Math.floor(at / DAY_MS)
    const stays = kind === 'grant' || kind === 'reversal'
    if (stays || sequence?.day !== day) replace()
    if (!stays) {
      const { first = id, amount: sum = 0 } = sequence ?? {}
      sequence = { first, last: id, day, amount: sum + amount }
    }
  }
  const isFull = entries.length === CLEANUP_BATCH
  // The last sequence of a full batch may continue in the next batch, which then starts with it.
  const done = isFull && sequence ? sequence.last - 1 : entries.at(-1)?.id
  replace()
  if (done !== undefined) kv.put(ROLLED_UP_TO, done)
  return isFull
}

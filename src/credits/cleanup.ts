// What the Organisation's alarm deletes: old data of the ledger and of the request log.
import { DAY_MS } from '../domain/limits.ts'
import type { Stores } from './stores.ts'

/** The minimum time until an alarm that is set only to delete old data. */
const CLEANUP_INTERVAL_MS = DAY_MS
/** The pause between two batches of a cleanup, so that requests are not blocked. */
const NEXT_BATCH_MS = 1_000

/** Deletes one batch of old data. @returns when to call it again, ms since 1970 */
export function cleanUp(stores: Stores, now: number): number {
  const open = stores.find()
  if (!open) return Infinity
  const { ledger, requestLog } = open
  const ledgerDueAt = stores.transaction(() => ledger.cleanUp(now))
  const dueAt = Math.min(ledgerDueAt ?? Infinity, requestLog.deleteExpired(now))
  return dueAt <= now ? now + NEXT_BATCH_MS : Math.max(dueAt, now + CLEANUP_INTERVAL_MS)
}

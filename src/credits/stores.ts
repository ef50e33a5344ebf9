// The stores in an Organisation's SQLite, opened on first use.
import { DAY_MS } from '../domain/limits.ts'
import { CreditUse } from './credit-use.ts'
import { IdempotencyRecords } from './idempotency.ts'
import { Ledger } from './ledger.ts'
import { migrate } from './migrations.ts'
import { RequestLog } from './request-log.ts'

/** The minimum time until an alarm that is set only to delete old data. */
const CLEANUP_INTERVAL_MS = DAY_MS
/** The pause between two batches of a cleanup, so that requests are not blocked. */
const NEXT_BATCH_MS = 1_000

const openStores = (storage: DurableObjectStorage) => ({
  ledger: new Ledger(storage),
  creditUse: new CreditUse(storage.sql),
  idempotency: new IdempotencyRecords(storage.sql),
  requestLog: new RequestLog(storage),
})
export type OpenStores = ReturnType<typeof openStores>

export class Stores {
  readonly #storage: DurableObjectStorage
  #stores: OpenStores | undefined

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  /** Creates the tables if necessary. Only for organisations that are known to exist. */
  open(): OpenStores {
    if (!this.#stores) {
      migrate(this.#storage)
      this.#stores = openStores(this.#storage)
    }
    return this.#stores
  }

  /**
   * Runs `work` in one transaction. A rollback drops what the stores have in memory.
   * @throws what `work` throws, after the rollback
   */
  transaction<T>(work: () => T): T {
    try {
      return this.#storage.transactionSync(work)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Drops what the stores have in memory. Call this after the storage has been deleted. */
  close(): void {
    this.#stores = undefined
  }

  /** @returns undefined without tables: calls for a deleted organisation must not create them */
  find(): OpenStores | undefined {
    return this.#stores ?? (Ledger.exists(this.#storage.sql) ? this.open() : undefined)
  }

  /** Deletes expired data, one batch of each. @returns when to call it again, ms since 1970 */
  cleanUp(now: number): number {
    const open = this.find()
    if (!open) return Infinity
    const { ledger, requestLog, idempotency } = open
    const expiresAt = idempotency.deleteExpired()
    const ledgerDueAt = this.transaction(() => ledger.cleanUp(now))
    const dueAt = Math.min(ledgerDueAt, requestLog.deleteExpired(now))
    const cleanUpAt =
      dueAt <= now ? now + NEXT_BATCH_MS : Math.max(dueAt, now + CLEANUP_INTERVAL_MS)
    return Math.min(cleanUpAt, expiresAt)
  }
}

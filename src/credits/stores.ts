// The stores in an Organisation's SQLite, opened on first use.
import { CreditUse } from './credit-use.ts'
import { IdempotencyRecords } from './idempotency.ts'
import { Ledger } from './ledger.ts'
import { migrate } from './migrations.ts'
import { RequestLog } from './request-log.ts'

interface OpenStores {
  ledger: Ledger
  creditUse: CreditUse
  idempotency: IdempotencyRecords
  requestLog: RequestLog
}

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
      this.#stores = {
        ledger: new Ledger(this.#storage),
        creditUse: new CreditUse(this.#storage.sql),
        idempotency: new IdempotencyRecords(this.#storage.sql),
        requestLog: new RequestLog(this.#storage),
      }
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
}

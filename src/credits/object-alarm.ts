// The alarm of an Organisation: one time, at which everything that is due runs.
import { log, withLogFields } from '../platform/log.ts'

const RETRY_MS = 60_000

export class ObjectAlarm {
  readonly #storage: DurableObjectStorage
  /** ms since 1970; Infinity when no alarm is set, undefined when not read yet. */
  #at: number | undefined

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  /** Reads the alarm, once. Call it before a change, so that no read is between the change and `wakeBy`. */
  async load(): Promise<void> {
    this.#at ??= (await this.#storage.getAlarm()) ?? Infinity
  }

  /** Makes the alarm run at `at` (ms since 1970) or earlier. */
  async wakeBy(at: number): Promise<void> {
    await this.load()
    if (at >= (this.#at ?? Infinity)) return
    this.#at = at
    await this.#storage.setAlarm(at)
  }

  async delete(): Promise<void> {
    await this.#storage.deleteAlarm()
    this.#at = undefined
  }

  /**
   * Runs what is due, and writes the line `alarm`, also if it fails. Its other lines have the organisation's id.
   * @param work returns when to run again, ms since 1970
   * @throws the error of the work, after which the runtime runs the alarm again
   */
  run(organisationId: string | undefined, work: () => Promise<number>): Promise<void> {
    return withLogFields({ organisationId }, async () => {
      const startedAt = Date.now()
      let outcome = 'failed'
      this.#at = Infinity
      try {
        await this.wakeBy(await work())
        outcome = 'done'
      } finally {
        log.info('alarm', { outcome, ms: Date.now() - startedAt })
      }
    })
  }
}

/**
 * Does a part of what is due. Logs a failure instead of throwing, because the runtime limits the retries after a throw.
 * @returns when to retry after a failure, ms since 1970
 */
export async function retryAfterFailure(message: string, work: () => Promise<void>) {
  try {
    await work()
    return undefined
  } catch (error) {
    log.error(message, error)
    return Date.now() + RETRY_MS
  }
}

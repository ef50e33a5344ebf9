// Counts the live jobs of an organisation that failed at an engine which charges for each start, in a UTC hour.
// They cost the customer nothing, so that without a limit they would cost the operator without end.
import { HOUR_MS } from '../domain/limits.ts'
import { log } from '../platform/log.ts'

/** Failed jobs in an hour, after which submissions in live mode are rejected until its end. */
export const MAX_FAILED_PER_HOUR = 120
/** The storage key. */
const FAILED_JOBS = 'failed-jobs'

export class FailedJobs {
  readonly #kv: SyncKvStorage

  constructor(kv: SyncKvStorage) {
    this.#kv = kv
  }

  /** Whether the limit of this hour is reached. */
  isReached(now: number): boolean {
    return this.#countIn(hourOf(now)) >= MAX_FAILED_PER_HOUR
  }

  /** Counts a failed job. Call it once per job. */
  add(organisationId: string | undefined, now: number): void {
    const hour = hourOf(now)
    const count = this.#countIn(hour) + 1
    this.#kv.put(FAILED_JOBS, { hour, count })
    if (count === MAX_FAILED_PER_HOUR) log.warn('limit of failed jobs reached', { organisationId })
  }

  #countIn(hour: number): number {
    const failed = this.#kv.get<{ hour: number; count: number }>(FAILED_JOBS)
    return failed?.hour === hour ? failed.count : 0
  }
}

const hourOf = (now: number) => Math.floor(now / HOUR_MS)

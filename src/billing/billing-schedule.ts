// When the alarm runs the billing tasks. Requests are stored one by one, so that a request for a later
// time survives an earlier run, and a request during a run is not lost.

/** The storage key. */
const BILLING_SCHEDULE = 'billing-schedule'

/** The first pause after a failed run, which doubles with each further failure, and its maximum, ms. */
const RETRY_MS = 60_000
const MAX_RETRY_MS = 60 * 60_000
/** The minimum pause between two runs that the tasks ask for, ms. */
const MIN_PAUSE_MS = 10_000
/** A request is covered by another one that is at most this much later, ms. Bounds their number. */
const COVERED_MS = 10_000

interface Stored {
  organisationId: string
  /** All in ms since 1970. */
  requests: number[]
  /** What the latest run asked for; during a run, when to repeat it if it is interrupted. */
  nextAt: number | null
  /** Failed runs in a row. */
  failures: number
}

export class BillingSchedule {
  /** undefined after `close`. */
  #kv: SyncKvStorage | undefined
  /** null without a schedule; undefined when not read yet. */
  #stored: Stored | null | undefined
  #running = false

  constructor(kv: SyncKvStorage) {
    this.#kv = kv
  }

  /** Ignores all further calls. Call this when the storage is deleted, since a run may be in progress. */
  close(): void {
    this.#kv = undefined
  }

  /** When the tasks have to run next, ms since 1970; Infinity when nothing is scheduled. */
  get at(): number {
    const stored = this.#read()
    return stored ? Math.min(...stored.requests, stored.nextAt ?? Infinity) : Infinity
  }

  /** Whether the latest run failed and is repeated later. Until then, a request to run now has no effect. */
  get isRetrying(): boolean {
    return !this.#running && (this.#read()?.failures ?? 0) > 0
  }

  /** Requests a run at `requestedAt` (ms since 1970) or earlier, but not before this call. */
  request(organisationId: string, requestedAt: number, now: number): void {
    const stored = this.#read() ?? { organisationId, requests: [], nextAt: null, failures: 0 }
    const at = Math.max(requestedAt, now)
    const isCovered = stored.requests
      .map((other) => Math.max(other, now))
      .some((other) => at <= other && other <= at + COVERED_MS)
    if (!isCovered) this.#write({ ...stored, requests: [...stored.requests, at] })
  }

  /** Starts a run. @returns the organisation's id; undefined when nothing is due */
  start(now: number): string | undefined {
    const stored = this.#read()
    if (!stored || this.#running || this.at > now) return undefined
    this.#running = true
    const requests = stored.requests.filter((at) => at > now)
    this.#write({ ...stored, requests, nextAt: now + pauseAfter(stored.failures) })
    return stored.organisationId
  }

  /** Ends a run. @param nextAt when the tasks have to run again, ms since 1970 */
  finish({ nextAt, failed }: { nextAt: number | undefined; failed: boolean }, now: number): void {
    this.#running = false
    const stored = this.#read()
    if (!stored) return
    if (failed) {
      const retryAt = now + pauseAfter(stored.failures)
      this.#write({
        ...stored,
        // A request that arrived during the run must not repeat it at once.
        requests: stored.requests.map((at) => Math.max(at, now + RETRY_MS)),
        nextAt: Math.min(retryAt, Math.max(nextAt ?? Infinity, now + RETRY_MS)),
        failures: stored.failures + 1,
      })
    } else if (nextAt === undefined && stored.requests.length === 0) this.#write(null)
    else {
      const at = nextAt === undefined ? null : Math.max(nextAt, now + MIN_PAUSE_MS)
      this.#write({ ...stored, nextAt: at, failures: 0 })
    }
  }

  #read(): Stored | null {
    if (this.#stored === undefined) this.#stored = this.#kv?.get<Stored>(BILLING_SCHEDULE) ?? null
    return this.#stored
  }

  #write(stored: Stored | null): void {
    if (!this.#kv) return
    this.#stored = stored
    if (stored) this.#kv.put(BILLING_SCHEDULE, stored)
    else this.#kv.delete(BILLING_SCHEDULE)
  }
}

const pauseAfter = (failures: number): number =>
  Math.min(RETRY_MS * 2 ** Math.min(failures, 10), MAX_RETRY_MS)

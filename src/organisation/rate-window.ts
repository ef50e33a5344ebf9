// The rate limit as a sliding-window log: the exact instants of the last 60 seconds' requests. In
// memory, and now and then written down, for an idle Organisation sleeps after 10 s and forgets.

export const WINDOW_SECONDS = 60
const WINDOW_MS = WINDOW_SECONDS * 1_000
/** So much of the limit may pass unwritten, and be forgotten in one sleep. */
const UNWRITTEN_SHARE = 0.1
/** So many are written down at most, the newest: 160 kB. */
const MAX_WRITTEN = 20_000

/** What the RateLimit and Retry-After headers say. */
export interface Quota {
  /** Requests in any 60 seconds. */
  limit: number
  /** Requests left at this moment. */
  remaining: number
  /** Whole seconds until one more is free, at least 1; 0 while some are left. */
  resetSeconds: number
}

export class RateWindow {
  /** Instants (ms) in ascending order; those before `#head` have left the window. */
  #instants: number[]
  #head = 0
  #unwritten = 0

  /** @param written what `toWrite` gave last */
  constructor(written: Float64Array = new Float64Array()) {
    this.#instants = [...written]
  }

  /** What is to be written down now; undefined while little has passed since the last time. */
  toWrite(limit: number): Float64Array | undefined {
    if (this.#unwritten < limit * UNWRITTEN_SHARE) return undefined
    this.#unwritten = 0
    return Float64Array.from(
      this.#instants.slice(Math.max(this.#head, this.#instants.length - MAX_WRITTEN)),
    )
  }

  /**
   * Lets a request pass, and counts it, if fewer than `limit` did in the 60 s that end at `now`.
   * A refused request does not count. The limit may change from call to call.
   */
  take(limit: number, now: number): Quota & { passed: boolean } {
    this.#forget(now - WINDOW_MS)
    const passed = this.#count < limit
    if (passed) {
      this.#instants.push(now)
      this.#unwritten++
    }
    const remaining = Math.max(0, limit - this.#count)
    return { passed, limit, remaining, resetSeconds: remaining > 0 ? 0 : this.#reset(limit, now) }
  }

  get #count(): number {
    return this.#instants.length - this.#head
  }

  #reset(limit: number, now: number): number {
    // With a limit lowered below the count, more than the oldest has to leave before one fits.
    const leavesLast = this.#instants[this.#head + this.#count - limit] ?? now
    return Math.max(1, Math.ceil((leavesLast + WINDOW_MS - now) / 1_000))
  }

  #forget(until: number): void {
    while (this.#head < this.#instants.length && (this.#instants[this.#head] ?? 0) <= until) {
      this.#head++
    }
    // Cutting the array at each request would make a request cost as much as the window holds.
    if (this.#head > 1_024 && this.#head * 2 > this.#instants.length) {
      this.#instants = this.#instants.slice(this.#head)
      this.#head = 0
    }
  }
}

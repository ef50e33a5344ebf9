// The rate limit as a sliding-window log: the instants of the requests in the last 60 seconds. It is in
// memory and regularly written to storage, since an idle Organisation loses its memory after 10 s.

export const WINDOW_SECONDS = 60
const WINDOW_MS = WINDOW_SECONDS * 1_000
/** The share of the limit that may be lost with the memory. */
const UNWRITTEN_SHARE = 0.1
/** Only the newest instants are written: 160 kB. */
const MAX_WRITTEN = 20_000

/** The values of the RateLimit and Retry-After headers. */
export interface RateLimitState {
  /** Requests in any 60 seconds. */
  limit: number
  /** Requests that are possible now. */
  remaining: number
  /** Whole seconds until another request is possible, at least 1; 0 while `remaining` is above 0. */
  resetSeconds: number
}

export class RateWindow {
  /** Instants (ms) in ascending order. Those before `#head` are no longer in the window. */
  #instants: number[]
  #head = 0
  #unwritten = 0

  /** @param written the last result of `toWrite` */
  constructor(written: Float64Array = new Float64Array()) {
    this.#instants = [...written]
  }

  /** The instants to write now; undefined if few requests have passed since the last write. */
  toWrite(limit: number): Float64Array | undefined {
    if (this.#unwritten < limit * UNWRITTEN_SHARE) return undefined
    this.#unwritten = 0
    return Float64Array.from(
      this.#instants.slice(Math.max(this.#head, this.#instants.length - MAX_WRITTEN)),
    )
  }

  /**
   * Passes and counts a request if fewer than `limit` requests passed in the 60 s before `now`. A
   * rejected request does not count. The limit may differ from call to call.
   * @param isCounted whether the request counts if it passes
   */
  take(limit: number, now: number, isCounted = true): RateLimitState & { passed: boolean } {
    this.#removeUntil(now - WINDOW_MS)
    const passed = this.#count < limit
    if (passed && isCounted) {
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
    // If the limit is lower than the count, several requests have to leave the window.
    const lastToLeave = this.#instants[this.#head + this.#count - limit] ?? now
    return Math.max(1, Math.ceil((lastToLeave + WINDOW_MS - now) / 1_000))
  }

  #removeUntil(until: number): void {
    while (this.#head < this.#instants.length && (this.#instants[this.#head] ?? 0) <= until) {
      this.#head++
    }
    // Slices rarely, since the time of a slice is proportional to the size of the window.
    if (this.#head > 1_024 && this.#head * 2 > this.#instants.length) {
      this.#instants = this.#instants.slice(this.#head)
      this.#head = 0
    }
  }
}

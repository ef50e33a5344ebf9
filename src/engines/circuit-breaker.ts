// A circuit breaker for the starts at one engine: after repeated failures, jobs skip the engine
// temporarily. Its state is in the memory of the isolate, so another isolate may make a few more starts.

const FAILURES_TO_OPEN = 5
const WINDOW_MS = 60_000
const OPEN_MS = 30_000
const MAX_RETRY_AFTER_SECONDS = 60

export class CircuitBreaker {
  #failures = 0
  #firstFailureAtMs = 0
  /** When the next trial start is allowed; null while closed. */
  #openUntilMs: number | null = null
  #retryAfterMs = 0

  /**
   * Whether a start is allowed. After the open time, one trial start is allowed. Other starts wait until
   * the trial succeeds or another open time is over.
   */
  allowsStart(nowMs = Date.now()): boolean {
    if (this.#openUntilMs === null) return true
    if (nowMs < this.#openUntilMs) return false
    this.#openUntilMs = nowMs + OPEN_MS
    return true
  }

  /** The remaining seconds of the engine's Retry-After. Applies to every start. */
  secondsToWait(nowMs = Date.now()): number {
    return Math.max(0, Math.ceil((this.#retryAfterMs - nowMs) / 1_000))
  }

  /** Records that the engine accepted a start. */
  succeeded(): void {
    this.#failures = 0
    this.#openUntilMs = null
  }

  /** Records that the engine was unavailable. @returns whether this failure opened the closed breaker */
  failed(retryAfterSeconds = 0, nowMs = Date.now()): boolean {
    const wasClosed = this.#openUntilMs === null
    if (nowMs - this.#firstFailureAtMs > WINDOW_MS) {
      this.#failures = 0
      this.#firstFailureAtMs = nowMs
    }
    this.#failures++
    if (this.#failures >= FAILURES_TO_OPEN || this.#openUntilMs !== null) {
      this.#openUntilMs = nowMs + OPEN_MS
    }
    const waitMs = Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS) * 1_000
    this.#retryAfterMs = Math.max(this.#retryAfterMs, nowMs + waitMs)
    return wasClosed && this.#openUntilMs !== null
  }
}

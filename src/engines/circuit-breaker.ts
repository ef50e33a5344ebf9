// Keeps jobs away from an engine that keeps failing, so that they do not each find out for
// themselves. Kept in the memory of an isolate: cheap, and wrong at most for a few starts. Pure.

const FAILURES_TO_OPEN = 5
const WINDOW_MS = 60_000
const OPEN_MS = 30_000
const MAX_ASKED_SECONDS = 60

export class CircuitBreaker {
  #failures = 0
  #firstFailureAtMs = 0
  /** Until when nobody is let through; null while closed. */
  #openUntilMs: number | null = null
  #leaveAloneUntilMs = 0

  /**
   * Whether a start may go to the engine. Once the pause is over, one start is let through to try,
   * and the others wait for another pause or for its success.
   */
  letsPass(nowMs = Date.now()): boolean {
    if (this.#openUntilMs === null) return true
    if (nowMs < this.#openUntilMs) return false
    this.#openUntilMs = nowMs + OPEN_MS
    return true
  }

  /** How long the engine still wants to be left alone, by whomever. */
  secondsToWait(nowMs = Date.now()): number {
    return Math.max(0, Math.ceil((this.#leaveAloneUntilMs - nowMs) / 1_000))
  }

  /** The engine took a start. */
  succeeded(): void {
    this.#failures = 0
    this.#openUntilMs = null
  }

  /** The engine was unavailable. @param askedSeconds how long it asked to be left alone */
  failed(askedSeconds = 0, nowMs = Date.now()): void {
    if (nowMs - this.#firstFailureAtMs > WINDOW_MS) {
      this.#failures = 0
      this.#firstFailureAtMs = nowMs
    }
    this.#failures++
    if (this.#failures >= FAILURES_TO_OPEN || this.#openUntilMs !== null) {
      this.#openUntilMs = nowMs + OPEN_MS
    }
    const askedMs = Math.min(askedSeconds, MAX_ASKED_SECONDS) * 1_000
    this.#leaveAloneUntilMs = Math.max(this.#leaveAloneUntilMs, nowMs + askedMs)
  }
}

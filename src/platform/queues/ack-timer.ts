// Acknowledges a queue message before slow work has ended. The compatibility flag
// queue_consumer_no_wait_for_wait_until ends the batch when the handler returns, so the work continues
// in `waitUntil` and does not delay other messages. If the work is killed, the sweep requeues it.

/** A message is acknowledged after this time, and its work continues without it, ms. */
const ACK_AFTER_MS = 2_000
/** Used instead while other work of the organisation is slow: this work is probably slow too, ms. */
const ACK_NEXT_AFTER_MS = 250

/** The timer of one message. Work may take 15 minutes before the acknowledgement and 30 s after it. */
export class AckTimer {
  readonly #expired = Promise.withResolvers<void>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isExpired = false
  #isHeld = false

  get isExpired(): boolean {
    return this.#isExpired
  }

  /** Resolves when the message has to be acknowledged while the work continues. */
  readonly expired = this.#expired.promise

  /**
   * Starts the timer. Without it, the message is acknowledged when the work ends.
   * @param hasSlow whether other work of the organisation is slow
   * @param onExpired called when the message is acknowledged before the work has ended
   */
  start(hasSlow: boolean, onExpired: () => void): void {
    const ms = hasSlow ? ACK_NEXT_AFTER_MS : ACK_AFTER_MS
    this.#timer = setTimeout(() => {
      if (this.#isHeld) return
      this.#isExpired = true
      onExpired()
      this.#expired.resolve()
    }, ms)
  }

  /** Delays the acknowledgement until the work ends. @returns false when the timer has expired */
  hold(): boolean {
    this.#isHeld = !this.#isExpired
    return this.#isHeld
  }

  /** Call this when the work has ended. */
  stop(): void {
    clearTimeout(this.#timer)
  }
}

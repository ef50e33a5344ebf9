// Acknowledges a queue message before slow work has ended. The compatibility flag
// queue_consumer_no_wait_for_wait_until ends the batch when the handler returns, so the work continues
// in `waitUntil` and does not delay other messages. If the work is killed, the sweep requeues it.

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
   * @param onExpired called when the work takes longer than `ms`
   */
  start(ms: number, onExpired: () => void = () => {}): void {
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

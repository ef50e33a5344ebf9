// Acknowledges a queue message before slow work has ended. The compatibility flag
// queue_consumer_no_wait_for_wait_until ends the batch when the handler returns, so the work continues
// in `waitUntil` and does not delay other messages. If it is killed there, the sweep queues the job
// again: the row in D1 and its lease, not the message, contain what is left to do.

/** The timer of one message. Work may take 15 minutes before the acknowledgement and 30 s after it. */
export class AckTimer {
  readonly #expired = Promise.withResolvers<void>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isExpired = false
  #isHeld = false

  get isExpired(): boolean {
    return this.#isExpired
  }

  /** Resolves when the message has to be acknowledged, although the work continues. */
  get expired(): Promise<void> {
    return this.#expired.promise
  }

  /**
   * Starts the timer. Without a start, the message waits for its work.
   * @param onExpired is called when the work takes longer
   */
  start(ms: number, onExpired: () => void = () => {}): void {
    this.#timer = setTimeout(() => {
      if (this.#isHeld) return
      this.#isExpired = true
      onExpired()
      this.#expired.resolve()
    }, ms)
  }

  /** Makes the message wait for its work. @returns false when the timer has expired already */
  hold(): boolean {
    this.#isHeld = !this.#isExpired
    return this.#isHeld
  }

  /** Call this when the work has ended. */
  stop(): void {
    clearTimeout(this.#timer)
  }
}

// When a queue message is acknowledged although its work goes on. The compatibility flag
// queue_consumer_no_wait_for_wait_until ends the batch when the handler returns, so slow work goes on
// in `waitUntil` and delays no other message. What dies there is found by the sweep: the row in D1
// and its lease say what is left to do, not the message.

/**
 * Belongs to one message. Cloudflare gives work 15 minutes before the acknowledgement and 30 seconds
 * after it.
 */
export class AckTimer {
  readonly #expired = Promise.withResolvers<void>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isExpired = false
  #isHeld = false

  get isExpired(): boolean {
    return this.#isExpired
  }

  /** Resolves when the message is to be acknowledged before its work ends. */
  get expired(): Promise<void> {
    return this.#expired.promise
  }

  /**
   * Starts to run. Until then the message waits for its work.
   * @param onExpired is called if the work takes longer
   */
  start(ms: number, onExpired: () => void = () => {}): void {
    this.#timer = setTimeout(() => {
      if (this.#isHeld) return
      this.#isExpired = true
      onExpired()
      this.#expired.resolve()
    }, ms)
  }

  /** Has the message wait for its work, however long it takes. @returns false when it is too late */
  hold(): boolean {
    this.#isHeld = !this.#isExpired
    return this.#isHeld
  }

  /** To be called when the work has ended. */
  stop(): void {
    clearTimeout(this.#timer)
  }
}

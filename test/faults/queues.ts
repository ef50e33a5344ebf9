// The queues of wrangler.toml in memory, with the fake clock. A message is delivered after its delay,
// again after a retry or a crash, and to the dead-letter queue when no retries are left.

/** max_retries and dead-letter queue of each queue, as in wrangler.toml. */
const CONSUMERS: Record<string, { maxRetries: number; deadLetters?: string }> = {
  'tryon-jobs': { maxRetries: 5, deadLetters: 'tryon-jobs-dead' },
  'tryon-test-jobs': { maxRetries: 5, deadLetters: 'tryon-jobs-dead' },
  'tryon-jobs-dead': { maxRetries: 10 },
  'tryon-webhooks': { maxRetries: 5, deadLetters: 'tryon-webhooks-dead' },
  'tryon-webhooks-dead': { maxRetries: 3 },
}
/** The delay before a message of a crashed consumer is delivered again. */
const REDELIVERY_SECONDS = 10

export interface QueuedMessage {
  queue: string
  id: number
  body: unknown
  attempts: number
  /** ms since 1970 */
  visibleAt: number
}

/** How a consumer settled a message; undefined when it crashed first. */
export type Settlement = { kind: 'ack' } | { kind: 'retry'; delaySeconds: number } | undefined

export class Queues {
  #messages: QueuedMessage[] = []
  #ids = 0

  put(queue: string, messages: { body: unknown; delaySeconds?: number }[]): void {
    for (const { body, delaySeconds = 0 } of messages) {
      const visibleAt = Date.now() + delaySeconds * 1_000
      this.#messages.push({ queue, id: this.#ids++, body, attempts: 1, visibleAt })
    }
  }

  /** Takes the message that is visible for the longest time. */
  take(queue?: string): QueuedMessage | undefined {
    const due = this.#of(queue).find(({ visibleAt }) => visibleAt <= Date.now())
    this.#messages = this.#messages.filter((message) => message !== due)
    return due
  }

  /** The number of messages that can be taken now. */
  backlog(queue: string): number {
    return this.#of(queue).filter(({ visibleAt }) => visibleAt <= Date.now()).length
  }

  /** When the next message becomes visible, ms since 1970. */
  nextAt(queue?: string): number | undefined {
    return this.#of(queue)[0]?.visibleAt
  }

  /** Applies the settlement of a message. */
  settle(message: QueuedMessage, settlement: Settlement): void {
    if (settlement?.kind === 'ack') return
    const { maxRetries, deadLetters } = CONSUMERS[message.queue] ?? { maxRetries: 0 }
    if (message.attempts <= maxRetries) {
      const delaySeconds = settlement?.delaySeconds ?? REDELIVERY_SECONDS
      this.#messages.push({
        ...message,
        attempts: message.attempts + 1,
        visibleAt: Date.now() + delaySeconds * 1_000,
      })
    } else if (deadLetters) this.put(deadLetters, [{ body: message.body }])
  }

  clear(): void {
    this.#messages = []
  }

  #of(queue: string | undefined): QueuedMessage[] {
    return this.#messages
      .filter((message) => queue === undefined || message.queue === queue)
      .sort((a, b) => a.visibleAt - b.visibleAt || a.id - b.id)
  }
}

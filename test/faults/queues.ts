// The queues of wrangler.toml, in memory and by the moved clock: a message is given out when its
// delay is over, again after a retry or a crash, and to the dead-letter queue when tries are spent.

/** max_retries and the dead-letter queue, as in wrangler.toml. */
const CONSUMERS: Record<string, { maxRetries: number; deadLetters?: string }> = {
  'tryon-jobs': { maxRetries: 5, deadLetters: 'tryon-jobs-dead' },
  'tryon-test-jobs': { maxRetries: 5, deadLetters: 'tryon-jobs-dead' },
  'tryon-jobs-dead': { maxRetries: 10 },
  'tryon-webhooks': { maxRetries: 5, deadLetters: 'tryon-webhooks-dead' },
  'tryon-webhooks-dead': { maxRetries: 3 },
}
/** A consumer that died is noticed only after a while. */
const REDELIVERY_SECONDS = 10

export interface QueuedMessage {
  queue: string
  id: number
  body: unknown
  attempts: number
  /** ms since 1970 */
  visibleAt: number
}

/** What a consumer said of a message; undefined when it died without a word. */
export type Answer = { kind: 'ack' } | { kind: 'retry'; delaySeconds: number } | undefined

export class Queues {
  #messages: QueuedMessage[] = []
  #ids = 0

  put(queue: string, messages: { body: unknown; delaySeconds?: number }[]): void {
    for (const { body, delaySeconds = 0 } of messages) {
      const visibleAt = Date.now() + delaySeconds * 1_000
      this.#messages.push({ queue, id: this.#ids++, body, attempts: 1, visibleAt })
    }
  }

  /** Takes the message that has been visible the longest. */
  take(queue?: string): QueuedMessage | undefined {
    const due = this.#of(queue).find(({ visibleAt }) => visibleAt <= Date.now())
    this.#messages = this.#messages.filter((message) => message !== due)
    return due
  }

  /** How many messages of a queue can be taken now. */
  backlog(queue: string): number {
    return this.#of(queue).filter(({ visibleAt }) => visibleAt <= Date.now()).length
  }

  /** When the next message can be taken, ms since 1970. */
  nextAt(queue?: string): number | undefined {
    return this.#of(queue)[0]?.visibleAt
  }

  /** Deals with a message that was taken. */
  settle(message: QueuedMessage, answer: Answer): void {
    if (answer?.kind === 'ack') return
    const { maxRetries, deadLetters } = CONSUMERS[message.queue] ?? { maxRetries: 0 }
    if (message.attempts <= maxRetries) {
      const delaySeconds = answer?.delaySeconds ?? REDELIVERY_SECONDS
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

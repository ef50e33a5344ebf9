// Limits how much work runs concurrently in this isolate. Further work waits in a queue.
import { pollUntil } from './poll-until.ts'

/** A waiting task polls every 20 ms. One that has not for this long belongs to a killed invocation. */
const MAX_SILENCE_MS = 1_000

/** The work did not start, because the other work took too long. */
export class SemaphoreTimeout extends Error {
  override readonly name = 'SemaphoreTimeout'
}

interface Slot {
  /** When the task last polled while it waited, ms since 1970. */
  polledAt: number
  /** When the work started, ms since 1970; 0 while it waits. */
  startedAt: number
}

/**
 * Runs at most `slots` tasks concurrently. The work of a killed invocation never ends, so its slot
 * becomes free after `timeoutMs`. Work that takes longer can therefore exceed the limit.
 */
export class Semaphore {
  readonly #slots: number
  readonly #timeoutMs: number
  readonly #running = new Set<Slot>()
  /** In the order in which they are to start. */
  readonly #waiting = new Set<Slot>()

  constructor(slots: number, timeoutMs: number) {
    this.#slots = slots
    this.#timeoutMs = timeoutMs
  }

  /** @throws SemaphoreTimeout when the work cannot start within `maxWaitMs` */
  async run<T>(work: () => Promise<T>, maxWaitMs = Infinity): Promise<T> {
    const slot: Slot = { polledAt: 0, startedAt: 0 }
    const isStarted = await pollUntil(() => {
      if (slot.startedAt > 0) return true
      slot.polledAt = Date.now()
      this.#waiting.add(slot)
      this.#startWaiting()
      return slot.startedAt > 0
    }, maxWaitMs)
    if (!isStarted) {
      this.#waiting.delete(slot)
      throw new SemaphoreTimeout()
    }
    try {
      return await work()
    } finally {
      this.#running.delete(slot)
      this.#startWaiting()
    }
  }

  /** Moves waiting slots to the running ones, up to the limit. */
  #startWaiting(): void {
    const now = Date.now()
    for (const slot of this.#running) {
      if (now - slot.startedAt >= this.#timeoutMs) this.#running.delete(slot)
    }
    for (const slot of this.#waiting) {
      if (this.#running.size >= this.#slots) return
      this.#waiting.delete(slot)
      // A task that was blocked by other work, and not killed, returns with its next poll.
      if (now - slot.polledAt > MAX_SILENCE_MS) continue
      slot.startedAt = now
      this.#running.add(slot)
    }
  }
}

// Limits how much work runs concurrently in this isolate. Further work waits in a queue.
import { pollUntil } from './poll-until.ts'

interface Slot {
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
  readonly #waiting: Slot[] = []

  constructor(slots: number, timeoutMs: number) {
    this.#slots = slots
    this.#timeoutMs = timeoutMs
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const slot = { startedAt: 0 }
    this.#waiting.push(slot)
    await pollUntil(() => {
      this.#startWaiting()
      return slot.startedAt > 0
    })
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
    while (this.#running.size < this.#slots) {
      const slot = this.#waiting.shift()
      if (!slot) break
      slot.startedAt = now
      this.#running.add(slot)
    }
  }
}

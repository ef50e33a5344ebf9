// Limits how much work runs concurrently in this isolate. Further work waits in a queue, in which owners
// take turns: the waiting work of one owner does not delay that of another.
import { pollUntil } from './poll-until.ts'

/** A waiting task polls every 20 ms. One that has not for this long belongs to a killed invocation. */
const MAX_SILENCE_MS = 1_000

/** The work did not start, because the other work took too long. */
export class SemaphoreTimeout extends Error {
  override readonly name = 'SemaphoreTimeout'
}

/** Whose work it is, and when it may start. */
export interface Turn {
  /** Such as the id of an organisation. Work without one has the same owner. */
  owner?: string
  /** Work of a lower number starts first, also of another owner. */
  priority?: number
  /** How long the work may wait, ms. */
  maxWaitMs?: number
}

interface Limits {
  slots: number
  /** The maximum number of slots that one owner uses at a time; all of them by default. */
  slotsPerOwner?: number
  /** When the slot of killed work becomes free, ms. */
  timeoutMs: number
}

interface Slot {
  owner: string
  priority: number
  /** When the task last polled while it waited, ms since 1970. */
  polledAt: number
  /** When the work started, ms since 1970; 0 while it waits. */
  startedAt: number
}

/**
 * Runs at most `slots` tasks concurrently. A free slot goes to the lowest priority number, then to the
 * owner whose last start was the longest ago, then to the task that came first. The work of a killed
 * invocation never ends, so its slot becomes free after `timeoutMs`. Work that takes longer can therefore
 * exceed the limit.
 */
export class Semaphore {
  readonly #limits: Required<Limits>
  readonly #running = new Set<Slot>()
  /** In the order of arrival. */
  readonly #waiting = new Set<Slot>()
  /** The number of the last start of each owner that has tasks. */
  readonly #lastStarts = new Map<string, number>()
  #starts = 0

  constructor(limits: Limits) {
    this.#limits = { slotsPerOwner: limits.slots, ...limits }
  }

  /** @throws SemaphoreTimeout when the work cannot start within `maxWaitMs` */
  async run<T>(
    work: () => Promise<T>,
    { owner = '', priority = 0, maxWaitMs = Infinity }: Turn = {},
  ): Promise<T> {
    const slot: Slot = { owner, priority, polledAt: 0, startedAt: 0 }
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

  /** Moves waiting slots to the running ones, up to the limits. */
  #startWaiting(): void {
    const now = Date.now()
    for (const slot of this.#running) {
      if (now - slot.startedAt >= this.#limits.timeoutMs) this.#running.delete(slot)
    }
    while (this.#running.size < this.#limits.slots) {
      const next = this.#next(now)
      if (!next) break
      this.#waiting.delete(next)
      next.startedAt = now
      this.#running.add(next)
      this.#lastStarts.set(next.owner, ++this.#starts)
    }
    if (this.#running.size + this.#waiting.size === 0) this.#lastStarts.clear()
  }

  #next(now: number): Slot | undefined {
    let best: Slot | undefined
    for (const slot of this.#waiting) {
      // A task that was blocked by other work, and not killed, returns with its next poll.
      if (now - slot.polledAt > MAX_SILENCE_MS) this.#waiting.delete(slot)
      else if (this.#mayStart(slot) && (!best || this.#isBefore(slot, best))) best = slot
    }
    return best
  }

  #mayStart({ owner }: Slot): boolean {
    const { slotsPerOwner } = this.#limits
    return [...this.#running].filter((slot) => slot.owner === owner).length < slotsPerOwner
  }

  #isBefore(slot: Slot, other: Slot): boolean {
    const lastStart = ({ owner }: Slot) => this.#lastStarts.get(owner) ?? 0
    return (slot.priority - other.priority || lastStart(slot) - lastStart(other)) < 0
  }
}

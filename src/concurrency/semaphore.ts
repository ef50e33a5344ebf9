// Limits how much work runs at once in this isolate; further work waits in line.
import { pollUntil } from './poll-until.ts'

interface Place {
  /** ms since 1970 */
  since: number
}

/**
 * At most `places` at once. Work whose invocation was killed never ends, so its place is free again
 * after `heldAtMostMs`: then one more than wanted may run, which is better than none ever again.
 */
export class Semaphore {
  readonly #places: number
  readonly #heldAtMostMs: number
  readonly #inside = new Set<Place>()
  readonly #waiting: Place[] = []

  constructor(places: number, heldAtMostMs: number) {
    this.#places = places
    this.#heldAtMostMs = heldAtMostMs
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const place = { since: 0 }
    this.#waiting.push(place)
    await pollUntil(() => this.#admit(place))
    try {
      return await work()
    } finally {
      this.#inside.delete(place)
      this.#admit()
    }
  }

  /** @returns whether `asked` has been admitted by now */
  #admit(asked?: Place): boolean {
    const now = Date.now()
    for (const place of this.#inside) {
      if (now - place.since >= this.#heldAtMostMs) this.#inside.delete(place)
    }
    while (this.#inside.size < this.#places) {
      const place = this.#waiting.shift()
      if (!place) break
      place.since = now
      this.#inside.add(place)
    }
    return asked !== undefined && asked.since > 0
  }
}

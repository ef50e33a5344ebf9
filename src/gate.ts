// Lets a few pieces of work run at once in this isolate; the others wait in line.

interface Place {
  /** ms since 1970 */
  since: number
}

/**
 * At most `places` at once. Work whose invocation was killed never ends, so its place is free again
 * after `heldAtMostMs`: then one more than wanted may run, which is better than none ever again.
 */
export class Gate {
  readonly #places: number
  readonly #heldAtMostMs: number
  readonly #inside = new Set<Place>()
  readonly #waiting: ((place: Place) => void)[] = []

  constructor(places: number, heldAtMostMs: number) {
    this.#places = places
    this.#heldAtMostMs = heldAtMostMs
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const entered = new Promise<Place>((enter) => this.#waiting.push(enter))
    this.#letIn()
    const place = await entered
    try {
      return await work()
    } finally {
      this.#inside.delete(place)
      this.#letIn()
    }
  }

  #letIn(): void {
    const now = Date.now()
    for (const place of this.#inside) {
      if (now - place.since >= this.#heldAtMostMs) this.#inside.delete(place)
    }
    while (this.#inside.size < this.#places) {
      const enter = this.#waiting.shift()
      if (!enter) return
      const place = { since: now }
      this.#inside.add(place)
      enter(place)
    }
  }
}

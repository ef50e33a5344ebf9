// Deliveries of this isolate that have outlasted the time that a message waits for its work. While
// there are some, further deliveries to the same endpoint are put off: they would most likely hang too.

const MAX_OF_ORGANISATION = 4

interface SlowDelivery {
  organisationId: string
  origin: string
  /** ms since 1970 */
  since: number
}

/** What a killed invocation left here is forgotten after `heldAtMostMs`. */
export class SlowDeliveries {
  readonly #heldAtMostMs: number
  readonly #deliveries = new Set<SlowDelivery>()

  constructor(heldAtMostMs: number) {
    this.#heldAtMostMs = heldAtMostMs
  }

  add(delivery: Pick<SlowDelivery, 'organisationId' | 'origin'>): SlowDelivery {
    const slow = { ...delivery, since: Date.now() }
    this.#deliveries.add(slow)
    return slow
  }

  remove(delivery: SlowDelivery): void {
    this.#deliveries.delete(delivery)
  }

  /** Whether to put off another delivery: the endpoint is slow, or many of the organisation are. */
  isSlow({ organisationId, origin }: Pick<SlowDelivery, 'organisationId' | 'origin'>): boolean {
    const own = this.#ofOrganisation(organisationId)
    return own.length >= MAX_OF_ORGANISATION || own.some((slow) => slow.origin === origin)
  }

  /** Whether any endpoint of the organisation is slow. */
  hasSlow(organisationId: string): boolean {
    return this.#ofOrganisation(organisationId).length > 0
  }

  #ofOrganisation(organisationId: string): SlowDelivery[] {
    const oldest = Date.now() - this.#heldAtMostMs
    for (const slow of this.#deliveries) if (slow.since <= oldest) this.#deliveries.delete(slow)
    return [...this.#deliveries].filter((slow) => slow.organisationId === organisationId)
  }
}

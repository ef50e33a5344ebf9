// The slow deliveries of this isolate: those that continue after their message was acknowledged. They
// postpone further deliveries to the same endpoint, which would most likely be slow too.

const MAX_PER_ORGANISATION = 4
/** No attempt takes longer. An older entry belongs to an invocation that was killed. */
const MAX_AGE_MS = 60_000

interface SlowDelivery {
  organisationId: string
  origin: string
  /** ms since 1970 */
  since: number
}

export class SlowDeliveries {
  readonly #deliveries = new Set<SlowDelivery>()

  add(delivery: Pick<SlowDelivery, 'organisationId' | 'origin'>): SlowDelivery {
    const slow = { ...delivery, since: Date.now() }
    this.#deliveries.add(slow)
    return slow
  }

  remove(delivery: SlowDelivery): void {
    this.#deliveries.delete(delivery)
  }

  /** Whether to postpone a delivery: its endpoint is slow, or many deliveries of its organisation are. */
  postpones({ organisationId, origin }: Pick<SlowDelivery, 'organisationId' | 'origin'>): boolean {
    const own = this.#ofOrganisation(organisationId)
    return own.length >= MAX_PER_ORGANISATION || own.some((slow) => slow.origin === origin)
  }

  /** Whether any delivery of the organisation is slow. */
  hasSlow(organisationId: string): boolean {
    return this.#ofOrganisation(organisationId).length > 0
  }

  #ofOrganisation(organisationId: string): SlowDelivery[] {
    const oldest = Date.now() - MAX_AGE_MS
    for (const slow of this.#deliveries) if (slow.since <= oldest) this.#deliveries.delete(slow)
    return [...this.#deliveries].filter((slow) => slow.organisationId === organisationId)
  }
}

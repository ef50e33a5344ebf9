// Limits how many live jobs this isolate processes at a time: per organisation and in total. A job
// beyond its organisation's limit is requeued, behind the messages of other organisations.
import { pollUntil } from '../concurrency/poll-until.ts'

const MAX_DELAY_SECONDS = 30
/** The time limit of a queue handler. */
const HANDLER_MS = 15 * 60_000
/** The runtime aborts work 30 seconds after the acknowledgement. */
const BACKGROUND_MS = 40_000

export interface Slot {
  readonly organisationId: string
  /** When the invocation has ended, even if it did not call `leave`; ms since 1970. */
  expiresAt: number
  /** Whether the message was acknowledged before the work ended. */
  isSlow: boolean
}

export class JobSlots {
  readonly #perOrganisation: number
  readonly #total: number
  /** In the order of the messages. The first `#total` slots are running, the others wait. */
  readonly #slots = new Set<Slot>()
  /** For each organisation, the arrival of its next delayed message, ms since 1970. */
  readonly #nextArrival = new Map<string, number>()

  constructor(limits: { perOrganisation: number; total: number }) {
    this.#perOrganisation = limits.perOrganisation
    this.#total = limits.total
  }

  /** @returns undefined when the organisation uses all its slots */
  enter(organisationId: string): Slot | undefined {
    const own = this.#slotsOf(organisationId)
    if (own.length >= this.#perOrganisation) return undefined
    const slot = { organisationId, expiresAt: Date.now() + HANDLER_MS, isSlow: false }
    this.#slots.add(slot)
    return slot
  }

  /** Waits until the work may start. */
  async start(slot: Slot): Promise<void> {
    await pollUntil(() => {
      this.#removeExpired()
      return [...this.#slots].indexOf(slot) < this.#total
    })
  }

  /** Call this when the message is acknowledged while the work continues. */
  acknowledged(slot: Slot): void {
    slot.isSlow = true
    slot.expiresAt = Date.now() + BACKGROUND_MS
  }

  leave(slot: Slot): void {
    this.#slots.delete(slot)
    const next = this.#nextArrival.get(slot.organisationId) ?? 0
    if (next <= Date.now()) this.#nextArrival.delete(slot.organisationId)
  }

  hasSlow(organisationId: string): boolean {
    return this.#slotsOf(organisationId).some(({ isSlow }) => isSlow)
  }

  /** The delay of a job that got no slot. It grows with the number of delayed jobs. */
  delaySeconds(organisationId: string): number {
    const now = Date.now()
    const next = this.#nextArrival.get(organisationId) ?? 0
    const at = Math.min(Math.max(next, now + 1_000), now + MAX_DELAY_SECONDS * 1_000)
    // The rate of delayed messages per second equals the number of slots.
    this.#nextArrival.set(organisationId, at + 1_000 / this.#perOrganisation)
    return Math.floor((at - now) / 1_000)
  }

  #slotsOf(organisationId: string): Slot[] {
    this.#removeExpired()
    return [...this.#slots].filter((slot) => slot.organisationId === organisationId)
  }

  #removeExpired(): void {
    const now = Date.now()
    for (const slot of this.#slots) if (slot.expiresAt <= now) this.#slots.delete(slot)
  }
}

// How many live jobs this isolate processes at a time: of one organisation, and of all. What is
// beyond an organisation's share goes back to the queue, behind the messages of others.
import { pollUntil } from '../concurrency/poll-until.ts'

const MAX_DELAY_SECONDS = 30
/** A queue handler may run for 15 minutes. */
const HANDLER_MS = 15 * 60_000
/** What goes on after the acknowledgement is cut off after 30 seconds. */
const BACKGROUND_MS = 40_000

export interface Slot {
  readonly organisationId: string
  /** Then the invocation was killed without leaving the slot; ms since 1970. */
  expiresAt: number
  /** Whether its message was acknowledged before the work ended. */
  isSlow: boolean
}

export class JobSlots {
  readonly #perOrganisation: number
  readonly #total: number
  /** In the order of their messages: those at the front are at work, the others wait. */
  readonly #slots = new Set<Slot>()
  /** For each organisation, when the next message that is put off comes back, ms since 1970. */
  readonly #nextReturn = new Map<string, number>()

  constructor(limits: { perOrganisation: number; total: number }) {
    this.#perOrganisation = limits.perOrganisation
    this.#total = limits.total
  }

  /** @returns undefined when the organisation has its share */
  enter(organisationId: string): Slot | undefined {
    const own = this.#slotsOf(organisationId)
    if (own.length >= this.#perOrganisation) return undefined
    const slot = { organisationId, expiresAt: Date.now() + HANDLER_MS, isSlow: false }
    this.#slots.add(slot)
    return slot
  }

  /** Waits until the work may begin. */
  async begin(slot: Slot): Promise<void> {
    await pollUntil(() => {
      this.#removeExpired()
      return [...this.#slots].indexOf(slot) < this.#total
    })
  }

  /** The message is acknowledged, and the work goes on. */
  acknowledged(slot: Slot): void {
    slot.isSlow = true
    slot.expiresAt = Date.now() + BACKGROUND_MS
  }

  leave(slot: Slot): void {
    this.#slots.delete(slot)
    const next = this.#nextReturn.get(slot.organisationId) ?? 0
    if (next <= Date.now()) this.#nextReturn.delete(slot.organisationId)
  }

  hasSlow(organisationId: string): boolean {
    return this.#slotsOf(organisationId).some(({ isSlow }) => isSlow)
  }

  /** In how many seconds a job that got no slot comes again: later, the more of them wait. */
  delaySeconds(organisationId: string): number {
    const now = Date.now()
    const next = this.#nextReturn.get(organisationId) ?? 0
    const at = Math.min(Math.max(next, now + 1_000), now + MAX_DELAY_SECONDS * 1_000)
    // As many come back in a second as may run at once.
    this.#nextReturn.set(organisationId, at + 1_000 / this.#perOrganisation)
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

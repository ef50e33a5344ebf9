// Limits how many live jobs this isolate processes at a time: per organisation and in total. A job
// beyond its organisation's limit is requeued, behind the messages of other organisations. Jobs beyond the
// total wait, those of paying organisations first.
import { pollUntil } from '../../platform/concurrency/poll-until.ts'

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
  state: 'running' | 'waiting, paying' | 'waiting'
}

const ORDER: readonly Slot['state'][] = ['running', 'waiting, paying', 'waiting']

export class JobSlots {
  readonly #limits: { perOrganisation: number; total: number }
  /** In the order of the messages. */
  readonly #slots = new Set<Slot>()
  /** For each organisation, the arrival of its next delayed message, ms since 1970. */
  readonly #nextArrival = new Map<string, number>()

  constructor(limits: { perOrganisation: number; total: number }) {
    this.#limits = limits
  }

  /** @returns undefined when the organisation uses all its slots */
  enter(organisationId: string): Slot | undefined {
    const own = this.#slotsOf(organisationId)
    if (own.length >= this.#limits.perOrganisation) return undefined
    const expiresAt = Date.now() + HANDLER_MS
    const slot: Slot = { organisationId, expiresAt, isSlow: false, state: 'waiting' }
    this.#slots.add(slot)
    return slot
  }

  /** Waits until the work may start. @param isPaying is called if it cannot start at once */
  async start(slot: Slot, isPaying: () => Promise<boolean>): Promise<void> {
    if (this.#start(slot)) return
    if (await isPaying()) slot.state = 'waiting, paying'
    await pollUntil(() => this.#start(slot))
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
    this.#nextArrival.set(organisationId, at + 1_000 / this.#limits.perOrganisation)
    return Math.floor((at - now) / 1_000)
  }

  /** @returns whether the work runs */
  #start(slot: Slot): boolean {
    this.#removeExpired()
    const rank = ({ state }: Slot) => ORDER.indexOf(state)
    const slots = [...this.#slots].sort((one, other) => rank(one) - rank(other))
    if (slots.indexOf(slot) >= this.#limits.total) return false
    slot.state = 'running'
    return true
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

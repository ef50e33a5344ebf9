// How much memory jobs may use in this isolate, which has 128 MB for everything. Waiting for a
// customer's server to respond takes none; a picture takes some from its first byte on.
import { pollUntil } from '../concurrency/poll-until.ts'
import { MAX_IMAGE_BYTES } from '../domain/limits.ts'
import { Postponed } from './postponed.ts'
import type { Slot } from './slots.ts'

/** Both pictures of a job, as long as their sizes are unknown. */
export const JOB_BYTES = 2 * MAX_IMAGE_BYTES

/** Together with a download and a composition it stays below what work has after its message. */
const MAX_WAIT_MS = 8_000

/** Who reserves. After `expiresAt` (ms since 1970) the invocation was killed. */
type Holder = Pick<Slot, 'organisationId' | 'expiresAt'>

interface Reservation {
  holder: Holder
  bytes: number
  /** Whether the sizes are still unknown: one job of an organisation at a time. */
  isOpen: boolean
}

/**
 * Reserves bytes in the order of the requests, skipping organisations that have an open reservation.
 */
export class MemoryBudget {
  readonly #bytes: number
  readonly #reservations = new Set<Reservation>()
  readonly #waiting = new Set<Reservation>()

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Reserves `JOB_BYTES`. @returns undefined when none were free for `waitMs` */
  async reserve(holder: Holder, waitMs: number): Promise<Reservation | undefined> {
    const reservation = { holder, bytes: JOB_BYTES, isOpen: true }
    this.#waiting.add(reservation)
    const isReserved = await pollUntil(() => {
      this.#grant()
      return !this.#waiting.has(reservation)
    }, waitMs)
    if (isReserved) return reservation
    this.#waiting.delete(reservation)
    return undefined
  }

  /** The sizes are known now. */
  resize(reservation: Reservation, bytes: number): void {
    reservation.isOpen = false
    reservation.bytes = Math.min(bytes, reservation.bytes)
    this.#grant()
  }

  release(reservation: Reservation): void {
    this.#reservations.delete(reservation)
    this.#grant()
  }

  #grant(): void {
    const now = Date.now()
    for (const each of this.#reservations) {
      if (each.holder.expiresAt <= now) this.#reservations.delete(each)
    }
    for (const reservation of this.#waiting) {
      if (this.#used() + JOB_BYTES > this.#bytes) return
      if (this.#hasOpen(reservation.holder.organisationId)) continue
      this.#waiting.delete(reservation)
      this.#reservations.add(reservation)
    }
  }

  #used(): number {
    let used = 0
    for (const { bytes } of this.#reservations) used += bytes
    return used
  }

  #hasOpen(organisationId: string): boolean {
    for (const each of this.#reservations) {
      if (each.isOpen && each.holder.organisationId === organisationId) return true
    }
    return false
  }
}

/** The memory of one job: reserved once, when it is first needed. */
export class JobMemory {
  readonly #budget: MemoryBudget
  readonly #holder: Holder
  #reserved: Promise<Reservation | undefined> | undefined

  constructor(budget: MemoryBudget, holder: Holder) {
    this.#budget = budget
    this.#holder = holder
  }

  /** @throws Postponed when none gets free in time */
  async reserve(): Promise<void> {
    this.#reserved ??= this.#budget.reserve(this.#holder, MAX_WAIT_MS)
    if (await this.#reserved) return
    const options = { afterSeconds: 5, isUntouched: true }
    throw new Postponed('other jobs use all the memory', options)
  }

  /** Gives back what the pictures do not need. */
  async resize(bytes: number): Promise<void> {
    const reservation = await this.#reserved
    if (reservation) this.#budget.resize(reservation, bytes)
  }

  /** To be called at the end of the work. */
  async release(): Promise<void> {
    const reservation = await this.#reserved
    if (reservation) this.#budget.release(reservation)
  }
}

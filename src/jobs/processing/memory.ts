// Limits the memory that jobs use in this isolate, which has 128 MB in total. A job reserves memory
// just before the first byte of a picture arrives, not while it waits for a server to respond.
import { pollUntil } from '../../platform/concurrency/poll-until.ts'
import { MAX_IMAGE_BYTES } from '../../domain/limits.ts'
import { Postponed } from './postponed.ts'
import type { Slot } from './slots.ts'

/** The reservation for both pictures of a job while their sizes are unknown. */
export const JOB_BYTES = 2 * MAX_IMAGE_BYTES

/** Short enough that a download and a composition fit in the 30 s after an acknowledgement. */
const MAX_WAIT_MS = 8_000

/** The owner of a reservation. After `expiresAt` (ms since 1970) its invocation no longer runs. */
type Holder = Pick<Slot, 'organisationId' | 'expiresAt'>

interface Reservation {
  holder: Holder
  bytes: number
  /** Whether the sizes are unknown. An organisation has one such reservation at a time. */
  isOpen: boolean
}

/** Grants reservations in the order of the requests, except to organisations with an open one. */
export class MemoryBudget {
  readonly #bytes: number
  readonly #reservations = new Set<Reservation>()
  readonly #waiting = new Set<Reservation>()

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Reserves `JOB_BYTES`. @returns undefined when they do not become free within `waitMs` */
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

  /** Shrinks a reservation when the sizes are known. */
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
      const used = this.#reservations.values().reduce((sum, { bytes }) => sum + bytes, 0)
      if (used + JOB_BYTES > this.#bytes) return
      if (this.#hasOpen(reservation.holder.organisationId)) continue
      this.#waiting.delete(reservation)
      this.#reservations.add(reservation)
    }
  }

  #hasOpen(organisationId: string): boolean {
    return this.#reservations
      .values()
      .some(({ isOpen, holder }) => isOpen && holder.organisationId === organisationId)
  }
}

/** The memory of one job. Only the first call of `reserve` reserves. */
export class JobMemory {
  readonly #budget: MemoryBudget
  readonly #holder: Holder
  #reserved: Promise<Reservation | undefined> | undefined

  constructor(budget: MemoryBudget, holder: Holder) {
    this.#budget = budget
    this.#holder = holder
  }

  /** @throws Postponed when the memory does not become free in time */
  async reserve(): Promise<void> {
    this.#reserved ??= this.#budget.reserve(this.#holder, MAX_WAIT_MS)
    if (await this.#reserved) return
    throw new Postponed('other jobs use all the memory', { afterSeconds: 5, isUntouched: true })
  }

  /** Returns the memory that the pictures do not need. */
  async resize(bytes: number): Promise<void> {
    const reservation = await this.#reserved
    if (reservation) this.#budget.resize(reservation, bytes)
  }

  /** Call this when the work has ended. */
  async release(): Promise<void> {
    const reservation = await this.#reserved
    if (reservation) this.#budget.release(reservation)
  }
}

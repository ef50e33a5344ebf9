// Blocks hosts that time out repeatedly: downloads from them fail immediately for a minute, so that an
// organisation's unresponsive server does not occupy the queue consumers. Counted per isolate and per
// organisation, so that no organisation can make another's downloads fail.
import { dropOldest } from '../../platform/drop-oldest.ts'

const WINDOW_MS = 60_000
const BLOCK_MS = 60_000
const MAX_TIMEOUTS = 3
const MAX_ENTRIES = 1_000

export class HostTimeouts {
  /** By organisation and host: times of the latest timeouts in ms since 1970, oldest first. */
  readonly #timeouts = new Map<string, number[]>()

  isBlocked(organisationId: string, host: string): boolean {
    const times = this.#timeouts.get(keyOf(organisationId, host)) ?? []
    const last = times.at(-1) ?? 0
    return times.length >= MAX_TIMEOUTS && Date.now() - last < BLOCK_MS
  }

  record(organisationId: string, host: string): void {
    const key = keyOf(organisationId, host)
    const now = Date.now()
    const recent = (this.#timeouts.get(key) ?? []).filter((at) => now - at < WINDOW_MS)
    // Deletes the entry before setting it, so that the map is ordered by latest timeout.
    this.#timeouts.delete(key)
    this.#timeouts.set(key, [...recent, now].slice(-MAX_TIMEOUTS))
    dropOldest(this.#timeouts, MAX_ENTRIES)
  }
}

const keyOf = (organisationId: string, host: string) => `${organisationId} ${host}`

// Hosts that time out again and again. Downloads from such a host fail at once for a while, so that
// an organisation's hanging server does not occupy consumers. Known to this isolate alone, and for
// each organisation apart: no organisation can make another's downloads fail.

const WINDOW_MS = 60_000
const BLOCKED_FOR_MS = 60_000
const MAX_TIMEOUTS = 3
const MAX_ENTRIES = 1_000

export class HostTimeouts {
  /** By organisation and host; instants of time-outs, ms since 1970, the latest last. */
  readonly #timeouts = new Map<string, number[]>()

  /** Whether downloads from the host are to fail without a try. */
  isBlocked(organisationId: string, host: string): boolean {
    const times = this.#timeouts.get(keyOf(organisationId, host)) ?? []
    const last = times.at(-1) ?? 0
    return times.length >= MAX_TIMEOUTS && Date.now() - last < BLOCKED_FOR_MS
  }

  record(organisationId: string, host: string): void {
    const key = keyOf(organisationId, host)
    const now = Date.now()
    const recent = (this.#timeouts.get(key) ?? []).filter((at) => now - at < WINDOW_MS)
    this.#timeouts.delete(key) // to the end: the least recent entry is the first
    this.#timeouts.set(key, [...recent, now].slice(-MAX_TIMEOUTS))
    const [oldest] = this.#timeouts.keys()
    if (this.#timeouts.size > MAX_ENTRIES && oldest !== undefined) this.#timeouts.delete(oldest)
  }
}

const keyOf = (organisationId: string, host: string) => `${organisationId} ${host}`

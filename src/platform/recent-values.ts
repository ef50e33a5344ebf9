// Values that pages read often and may show a little late, in the memory of this isolate.
import { dropOldest } from './drop-oldest.ts'

/** Remembers at most `maxEntries` values, each for `ttlMs`. The oldest one is forgotten first. */
export class RecentValues<T> {
  readonly #limits: { ttlMs: number; maxEntries: number }
  readonly #entries = new Map<string, { value: T; expiresAt: number }>()

  constructor(limits: { ttlMs: number; maxEntries: number }) {
    this.#limits = limits
  }

  /**
   * @param key everything that the value depends on, such as who may see it
   * @param read loads the value; its errors are thrown, and not remembered
   * @param isCostly whether the value is worth to be remembered; always by default
   */
  async get(
    key: readonly unknown[],
    read: () => Promise<T>,
    isCostly: (value: T) => boolean = () => true,
  ): Promise<T> {
    const name = JSON.stringify(key)
    const known = this.#entries.get(name)
    if (known && known.expiresAt > Date.now()) return known.value
    const value = await read()
    if (!isCostly(value)) return value
    // Moves the entry to the end.
    this.#entries.delete(name)
    this.#entries.set(name, { value, expiresAt: Date.now() + this.#limits.ttlMs })
    dropOldest(this.#entries, this.#limits.maxEntries)
    return value
  }
}

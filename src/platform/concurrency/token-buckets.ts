// Limits of requests in the memory of an isolate. Each isolate counts what it serves itself.
import { dropOldest } from '../drop-oldest.ts'

/** Beyond this number, the buckets that were not used for the longest time are dropped. */
const MAX_BUCKETS = 10_000

/** Buckets of tokens, one for each key, that are full at first and are refilled steadily. */
export class TokenBuckets {
  /** `at`: when `tokens` was computed, ms since 1970. */
  readonly #buckets = new Map<string, { tokens: number; at: number }>()

  /**
   * Takes a token from every bucket, or from none if one is empty.
   * @param limits `max` is the size of the bucket, which is refilled within `windowSeconds`
   * @returns seconds after which to try again; 0 if the tokens were taken
   */
  take(limits: readonly { key: string; max: number; windowSeconds: number }[]): number {
    const now = Date.now()
    const buckets = limits.map(({ key, max, windowSeconds }) => {
      const bucket = this.#buckets.get(key) ?? { tokens: max, at: now }
      const perMs = max / (windowSeconds * 1_000)
      // A clock that is set back takes nothing.
      const elapsedMs = Math.max(0, now - bucket.at)
      const tokens = Math.min(max, bucket.tokens + elapsedMs * perMs)
      // Moves it behind the others.
      this.#buckets.delete(key)
      this.#buckets.set(key, Object.assign(bucket, { tokens, at: now }))
      return { bucket, waitSeconds: Math.ceil((1 - tokens) / perMs / 1_000) }
    })
    dropOldest(this.#buckets, MAX_BUCKETS)
    const waitSeconds = Math.max(0, ...buckets.map((each) => each.waitSeconds))
    if (waitSeconds === 0) for (const { bucket } of buckets) bucket.tokens -= 1
    return waitSeconds
  }
}

// Slows down brute-force guessing of API keys and of the operator token. After 100 invalid
// credentials in a minute, further ones from that network are rejected without I/O. Only failures
// are counted, so a request with a valid key costs nothing.
//
// The count is in the rate-limit binding. The rest is a cache in this isolate's memory.
import { CREDENTIALS } from '../domain/budgets.ts'
import { rateLimited } from '../domain/errors.ts'
import { dropOldest } from '../platform/drop-oldest.ts'
import { logError } from '../platform/log.ts'
import { networkOf } from './network.ts'
import type { RequestContext } from './request-context.ts'

const PERIOD_MS = CREDENTIALS.windowSeconds * 1_000
/** The maximum number of networks and of keys. */
const MAX_CACHED = 10_000

/** Network → end of its throttling, ms since 1970 */
const throttled = new Map<string, number>()
/** Hashes of keys that were valid. Their users may share an address with an attacker. */
const trustedKeys = new Set<string>()

/**
 * Must be called before a credential is checked.
 * @param keyHash of an API key; a trusted key passes from every address
 * @throws AppError rate_limit_exceeded when the network has failed too often
 */
export function rejectIfThrottled(c: RequestContext, keyHash?: string): void {
  // Every request of the API passes here, so the address is parsed only if there is something to find.
  if (throttled.size === 0 || (keyHash !== undefined && trustedKeys.has(keyHash))) return
  const remainingMs = (throttled.get(networkOf(c) ?? '') ?? 0) - Date.now()
  if (remainingMs <= 0) return
  throw rateLimited(Math.ceil(remainingMs / 1_000))
}

/** Counts an invalid credential. The response does not wait for it. */
export function recordAuthFailure(c: RequestContext): void {
  const network = networkOf(c)
  // Without it, all clients would share one bucket.
  if (network === undefined) return
  c.executionCtx.waitUntil(
    c.env.FAILURES.limit({ key: network })
      .then(({ success }) => {
        if (success) return
        throttled.set(network, Date.now() + PERIOD_MS)
        dropOldest(throttled, MAX_CACHED)
      })
      .catch(logError('failure not counted')),
  )
}

/** Marks a key as trusted. */
export function recordAuthSuccess(keyHash: string): void {
  trustedKeys.add(keyHash)
  dropOldest(trustedKeys, MAX_CACHED)
}

/** Whether the key was valid in a request to this isolate. */
export const isTrustedKey = (keyHash: string): boolean => trustedKeys.has(keyHash)

// Slows down brute-force guessing of API keys and of the operator token. After 100 invalid
// credentials in a minute, further ones from that IP address are rejected without I/O. Only failures
// are counted, so a request with a valid key costs nothing.
//
// The count is in the rate-limit binding. The rest is a cache in this isolate's memory.
import { AppError } from '../domain/errors.ts'
import { log } from '../log.ts'
import type { RequestContext } from './context.ts'

/** Must match wrangler.toml. */
const PERIOD_SECONDS = 60
/** The maximum number of addresses and of keys. A full cache is cleared. */
const MAX_CACHED = 10_000

/** IP address → end of its throttling, ms since 1970 */
const throttled = new Map<string, number>()
/** Hashes of keys that were valid. Their users may share an address with an attacker. */
const trustedKeys = new Set<string>()

/**
 * Must be called before a credential is checked.
 * @param keyHash of an API key; a trusted key passes from every address
 * @throws AppError rate_limit_exceeded when the address has failed too often
 */
export function rejectIfThrottled(c: RequestContext, keyHash?: string): void {
  const until = throttled.get(addressOf(c) ?? '')
  if (until === undefined || (keyHash !== undefined && trustedKeys.has(keyHash))) return
  const remainingMs = until - Date.now()
  if (remainingMs <= 0) return
  throw new AppError('rate_limit_exceeded', undefined, {
    'Retry-After': String(Math.ceil(remainingMs / 1_000)),
  })
}

/** Counts an invalid credential. The response does not wait for it. */
export function recordAuthFailure(c: RequestContext): void {
  const address = addressOf(c)
  // Cloudflare always sets it. Without it, all clients would share one bucket.
  if (address === undefined) return
  c.executionCtx.waitUntil(
    c.env.FAILURES.limit({ key: address })
      .then(({ success }) => {
        if (success) return
        if (throttled.size >= MAX_CACHED) throttled.clear()
        throttled.set(address, Date.now() + PERIOD_SECONDS * 1_000)
      })
      .catch((error: unknown) => log.error('failure not counted', error)),
  )
}

/** Marks a key as trusted. */
export function recordAuthSuccess(keyHash: string): void {
  if (trustedKeys.size >= MAX_CACHED) trustedKeys.clear()
  trustedKeys.add(keyHash)
}

/** Whether the key was valid in a request to this isolate. */
export const isTrustedKey = (keyHash: string): boolean => trustedKeys.has(keyHash)

const addressOf = (c: RequestContext) => c.req.header('cf-connecting-ip')

// Who guesses API keys or the operator token is slowed: after 100 wrong ones in a minute from one
// address, further ones from there are refused before they cost anything. What is asked here only
// ever concerns failures, so that a request with a good key pays nothing.
//
// All of it is a convenience in this isolate's memory; the count is the rate-limit binding's.
import type { Context } from 'hono'
import type { App } from './context.ts'
import { AppError } from '../domain/errors.ts'
import { log } from '../log.ts'

/** As in wrangler.toml. */
const PERIOD_SECONDS = 60
/** Of addresses and of keys; past it the memory starts anew. */
const MAX_REMEMBERED = 10_000

/** address → until when it is slowed, ms since 1970 */
const slowed = new Map<string, number>()
/** Hashes of keys that were good here: their owners may share an address with a guesser. */
const proven = new Set<string>()

/**
 * To be called before a credential is looked up.
 * @param keyHash of an API key; one that was good before passes whatever its address
 * @throws AppError rate_limit_exceeded when the address has failed too often
 */
export function rejectIfThrottled(c: Context<App>, keyHash?: string): void {
  const until = slowed.get(addressOf(c) ?? '')
  if (until === undefined || (keyHash !== undefined && proven.has(keyHash))) return
  const restMs = until - Date.now()
  if (restMs <= 0) return
  throw new AppError('rate_limit_exceeded', undefined, {
    'Retry-After': String(Math.ceil(restMs / 1_000)),
  })
}

/** Counts a wrong credential, without keeping its sender waiting. */
export function recordAuthFailure(c: Context<App>): void {
  const address = addressOf(c)
  // Cloudflare always says who it is; where nobody does, one bucket would be everybody's.
  if (address === undefined) return
  c.executionCtx.waitUntil(
    c.env.FAILURES.limit({ key: address })
      .then(({ success }) => {
        if (success) return
        if (slowed.size >= MAX_REMEMBERED) slowed.clear()
        slowed.set(address, Date.now() + PERIOD_SECONDS * 1_000)
      })
      .catch((error: unknown) => log.error('failure not counted', error)),
  )
}

/** Notes that a key was good. */
export function recordAuthSuccess(keyHash: string): void {
  if (proven.size >= MAX_REMEMBERED) proven.clear()
  proven.add(keyHash)
}

const addressOf = (c: Context<App>) => c.req.header('cf-connecting-ip')

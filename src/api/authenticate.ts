// From the Authorization header to a caller, and from an Organisation's answer to headers.
import type { Context } from 'hono'
import type { Actor } from '../domain/actor.ts'
import { bearerToken } from '../http/bearer.ts'
import type { App } from '../http/context.ts'
import { AppError } from '../domain/errors.ts'
import { recordAuthFailure, recordAuthSuccess, rejectIfThrottled } from '../http/auth-throttle.ts'
import { parseKey } from '../organisation/api-key.ts'
import type { Credentials } from '../organisation/api-key.ts'
import type { RequestResult } from '../organisation/rpc.ts'
import { WINDOW_SECONDS } from '../organisation/rate-window.ts'
import type { Quota } from '../organisation/rate-window.ts'
import { dailyAllowanceBytes, secondsToMidnight } from '../organisation/storage-allowance.ts'

/**
 * The credentials that a request carries, without any I/O.
 * @throws AppError invalid_api_key when there is no well-formed key, rate_limit_exceeded for an
 * address that sent too many wrong ones
 */
export function credentialsOf(c: Context<App>): Credentials {
  const key = bearerToken(c.req.header('Authorization'))
  const credentials = key ? parseKey(key) : null
  if (!credentials) throw new AppError('invalid_api_key')
  rejectIfThrottled(c, credentials.keyHash)
  c.set('keyHash', credentials.keyHash)
  return credentials
}

/** The API key of an authenticated request as the actor of a use case. */
export const keyActor = (c: Context<App>, { keyHash }: Credentials): Actor => ({
  type: 'api_key',
  keyHash,
  ipAddress: c.req.header('CF-Connecting-IP') ?? null,
})

/**
 * What the Organisation let through. Sets the rate-limit headers, whatever the answer.
 * @throws AppError for a rejection
 */
export function requireAdmitted<T>(c: Context<App>, answer: RequestResult<T>): T {
  if (answer.quota) {
    setRateLimit(c, answer.quota)
    recordAuthSuccess(c.get('keyHash'))
  }
  if (answer.ok) return answer.value
  if (answer.rejection === 'storage_allowance_exceeded') throw allowanceExceeded(answer.quota)
  if (answer.rejection === 'rate_limit_exceeded' && answer.quota) {
    c.header('Retry-After', String(answer.quota.resetSeconds))
  }
  if (answer.rejection === 'invalid_api_key') recordAuthFailure(c)
  throw new AppError(answer.rejection)
}

const BYTES_PER_MB = 1_000_000

function allowanceExceeded({ limit = 0, resetSeconds = 0 }: Partial<Quota> = {}): AppError {
  const allowance = dailyAllowanceBytes(limit) / BYTES_PER_MB
  return new AppError(
    'rate_limit_exceeded',
    `The daily storage allowance of ${allowance} MB for jobs is used up. It is renewed at midnight UTC; wait for the number of seconds in the Retry-After header, or contact sales for a higher limit.`,
    { 'Retry-After': String(Math.max(resetSeconds, secondsToMidnight(Date.now()))) },
  )
}

/** As in draft-ietf-httpapi-ratelimit-headers-10. */
function setRateLimit(c: Context<App>, { limit, remaining, resetSeconds }: Quota): void {
  c.header('RateLimit-Policy', `"default";q=${limit};w=${WINDOW_SECONDS}`)
  c.header('RateLimit', `"default";r=${remaining};t=${resetSeconds}`)
}

// Authentication of /v1. `readCredentials` parses the key of every request without I/O. Only the
// Organisation knows whether the key is valid; `requireAdmitted` unwraps its results.
import type { Context, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import { matchedRoutes } from 'hono/route'
import { BILLING_PATH } from '../domain/billing.ts'
import { spentLimitMessage } from '../domain/credit-limit.ts'
import { AppError, rateLimited } from '../domain/errors.ts'
import { DAY_MS, HOUR_MS } from '../domain/limits.ts'
import { recordAuthFailure, recordAuthSuccess, rejectIfThrottled } from '../http/auth-throttle.ts'
import { baseUrlOf } from '../http/base-url.ts'
import { bearerToken } from '../http/bearer.ts'
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import { addLogFields } from '../platform/log.ts'
import { parseKey } from '../credits/api-key.ts'
import { WINDOW_SECONDS, type RateLimitState } from '../credits/rate-window.ts'
import type { CheckOptions } from '../credits/request-checks.ts'
import { MAX_FAILED_PER_HOUR } from '../credits/failed-jobs.ts'
import type { RequestResult } from '../credits/rpc.ts'
import { dailyBytes, type AllowanceName } from '../credits/storage-allowance.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import type { ApiApp, ApiContext } from './api-context.ts'

/**
 * Sets `caller` from the API key. Applies to every route of /v1; runs without I/O.
 * @throws AppError invalid_api_key without a well-formed key, rate_limit_exceeded for an address that
 * sent too many invalid ones
 */
export const readCredentials: MiddlewareHandler<ApiApp> = (c, next) => {
  // Without a match besides middleware, the response is a 404 or 405, for which no key is required.
  if (matchedRoutes(c).every(({ path }) => path.endsWith('/*'))) return next()
  const key = bearerToken(c.req.header('Authorization'))
  const caller = key ? parseKey(key) : null
  if (!caller) throw new AppError('invalid_api_key')
  rejectIfThrottled(c, caller.keyHash)
  c.set('caller', caller)
  addLogFields({ organisationId: caller.organisationId, mode: caller.mode })
  return next()
}

/** What the caller reaches. */
interface Scope {
  organisationId: string
  /** The only workspace that the API key reaches; undefined for all. */
  workspaceId: string | undefined
}

/** The variables of a handler whose caller is admitted. */
export interface Admitted {
  Variables: { scope: Scope }
}

export type AdmittedContext = Pick<
  Context<ApiApp & Admitted>,
  'env' | 'req' | 'executionCtx' | 'get' | 'header' | 'set'
>

/** Middleware for routes whose data is not in the Organisation: sets `scope`. */
export const admitted = (check: CheckOptions) =>
  createMiddleware<ApiApp & Admitted>(async (c, next) => {
    c.set('scope', await authenticate(c, check))
    await next()
  })

export const admittedToRead = admitted({ rejectSuspended: false, isRead: true })
export const admittedToChange = admitted({ rejectSuspended: false, isRead: false })

/**
 * Checks key, suspension and rate limit in the caller's Organisation.
 * @throws AppError for a rejection
 */
export async function authenticate(c: ApiContext, check: CheckOptions): Promise<Scope> {
  const caller = c.get('caller')
  const organisation = organisationStub(c.env, caller.organisationId)
  const result = await organisation.authenticate(caller, check)
  requireAdmitted(c, result)
  return { organisationId: caller.organisationId, workspaceId: result.workspaceId }
}

/**
 * Unwraps a result of the caller's Organisation. Sets the rate-limit headers. Every handler of /v1
 * must call it, directly or through `admitted`, before it responds.
 * @param validationError the message of a `validation_error`
 * @throws AppError for a rejection
 */
export function requireAdmitted<T>(
  c: ApiContext,
  result: RequestResult<T>,
  validationError?: string,
): T {
  addLogFields({ keyId: result.keyId })
  c.set('keyId', result.keyId)
  if (result.quota) {
    const { limit, remaining, resetSeconds } = result.quota
    // The headers of draft-ietf-httpapi-ratelimit-headers-10.
    c.header('RateLimit-Policy', `"default";q=${limit};w=${WINDOW_SECONDS}`)
    c.header('RateLimit', `"default";r=${remaining};t=${resetSeconds}`)
    recordAuthSuccess(c.get('caller').keyHash)
  }
  if (result.ok) return result.value
  if (result.rejection === 'storage_allowance_exceeded') {
    throw allowanceExceeded('storage-taken', 'storage allowance', 'for jobs', result.quota)
  }
  if (result.rejection === 'upload_allowance_exceeded') {
    throw allowanceExceeded('uploads-taken', 'upload allowance', 'for images', result.quota)
  }
  if (result.rejection === 'failed_jobs_exceeded') throw failedJobsExceeded(result.quota)
  if (result.rejection === 'rate_limit_exceeded' && result.quota) {
    throw rateLimited(result.quota.resetSeconds)
  }
  if (result.rejection === 'invalid_api_key') recordAuthFailure(c)
  if (result.rejection === 'insufficient_credits') {
    // The balance can be negative, so the message does not contain it.
    const text = `There are no credits left. Buy credits at ${baseUrlOf(c)}${BILLING_PATH} and submit the job again.`
    throw new AppError(result.rejection, text)
  }
  if (result.rejection === 'read_only_key') throw new AppError('forbidden', READ_ONLY)
  if (result.rejection === 'credit_limit_reached') {
    const { creditLimit } = result
    throw new AppError('insufficient_credits', creditLimit && spentLimitMessage(creditLimit))
  }
  if (result.rejection === 'validation_error') throw new AppError(result.rejection, validationError)
  throw new AppError(result.rejection)
}

const READ_ONLY =
  'This API key can only read. Use a key with full access, or change the access of the key in the console.'

/** The caller's key and organisation, for use cases. */
export function scopeOf(c: AdmittedContext): OrganisationRequest {
  const { keyHash, mode } = c.get('caller')
  const { organisationId, workspaceId } = c.get('scope')
  const workspaceIds = workspaceId === undefined ? null : [workspaceId]
  const ipAddress = c.req.header('CF-Connecting-IP') ?? null
  const actor = { type: 'api_key', keyHash, mode, workspaceIds, ipAddress } as const
  return { env: c.env, actor, organisationId }
}

const BYTES_PER_MB = 1_000_000

/** Whole seconds until the next day or hour (UTC) begins, at least 1. */
const secondsToNext = (periodMs: number): number =>
  Math.ceil((periodMs - (Date.now() % periodMs)) / 1_000)

function allowanceExceeded(
  name: AllowanceName,
  label: string,
  purpose: string,
  { limit = 0, resetSeconds = 0 }: Partial<RateLimitState> = {},
): AppError {
  return rateLimited(
    Math.max(resetSeconds, secondsToNext(DAY_MS)),
    `The daily ${label} of ${dailyBytes(name, limit) / BYTES_PER_MB} MB ${purpose} is used up. It resets at midnight UTC. Wait for the number of seconds in the Retry-After header, or contact sales for a higher limit.`,
  )
}

const failedJobsExceeded = ({ resetSeconds = 0 }: Partial<RateLimitState> = {}): AppError =>
  rateLimited(
    Math.max(resetSeconds, secondsToNext(HOUR_MS)),
    `${MAX_FAILED_PER_HOUR} live jobs have failed in this hour, which are free. Check the error_code of the failed jobs and the images, and wait for the number of seconds in the Retry-After header.`,
  )

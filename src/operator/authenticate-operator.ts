// Authentication of /operator: one token for all staff, a secret of the Worker.
import { timingSafeEqual } from 'node:crypto'
import { createMiddleware } from 'hono/factory'
import type { Actor } from '../domain/actor.ts'
import { AppError } from '../domain/errors.ts'
import { recordAuthFailure, rejectIfThrottled } from '../http/auth-throttle.ts'
import { bearerToken } from '../http/bearer.ts'
import type { App, RequestContext } from '../http/request-context.ts'
import { settingsOf } from '../platform/settings.ts'
import { sha256 } from '../platform/signing/sha256.ts'

/** Staff as the actor of a use case. They share one token, so the actor has no name. */
export const operatorActor = (c: RequestContext): Actor => ({
  type: 'operator',
  ipAddress: c.req.header('CF-Connecting-IP') ?? null,
})

/**
 * Requires the operator token. hono/bearer-auth does not fit: it returns 400 for a malformed header,
 * does not call `verifyToken` for a missing or malformed token, which the throttle has to count, and
 * accepts fewer characters in a token.
 * @throws AppError not_found when no token is set, which hides /operator; unauthorized; or
 * rate_limit_exceeded for a network that sent too many wrong tokens
 */
export const operatorOnly = createMiddleware<App>(async (c, next) => {
  const { operatorToken } = settingsOf(c.env)
  if (!operatorToken) throw new AppError('not_found')
  // Before the comparison: the answer to a guess from a throttled network must not depend on the token.
  rejectIfThrottled(c)
  const token = bearerToken(c.req.header('Authorization')) ?? ''
  // Compares digests, since `timingSafeEqual` requires equal lengths.
  if (!timingSafeEqual(sha256(token), sha256(operatorToken))) {
    recordAuthFailure(c)
    throw new AppError('unauthorized')
  }
  await next()
})

// The door of /operator: one token for all staff, a secret of the Worker.
import { timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Actor } from '../domain/actor.ts'
import { bearerToken } from '../http/bearer.ts'
import type { App } from '../http/context.ts'
import { AppError } from '../domain/errors.ts'
import { recordAuthFailure, rejectIfThrottled } from '../http/auth-throttle.ts'
import { settingsOf } from '../settings.ts'
import { sha256 } from '../signing/sha256.ts'

/** Staff as the actor of a use case: one token, so no name. */
export const operatorActor = (c: Context<App>): Actor => ({
  type: 'operator',
  ipAddress: c.req.header('CF-Connecting-IP') ?? null,
})

/**
 * Lets in who has the operator token.
 * @throws AppError not_found when no token is set (the surface is not there), else unauthorized, or
 * rate_limit_exceeded for an address that sent too many wrong ones
 */
export const operatorOnly = createMiddleware<App>(async (c, next) => {
  const { operatorToken } = settingsOf(c.env)
  if (!operatorToken) throw new AppError('not_found')
  const given = bearerToken(c.req.header('Authorization')) ?? ''
  // Digests are of one length whatever was sent, so that comparing them tells nothing by its time.
  if (!timingSafeEqual(sha256(given), sha256(operatorToken))) {
    rejectIfThrottled(c)
    recordAuthFailure(c)
    throw new AppError('unauthorized')
  }
  await next()
})

// The door of /operator: one token for all staff, a secret of the Worker.
import { timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Actor } from '../accounts/audit.ts'
import { bearerOf } from '../bearer.ts'
import type { App } from '../context.ts'
import { AppError } from '../errors.ts'
import { countFailure, refuseGuesser } from '../guesses.ts'
import { settingsOf } from '../settings.ts'
import { sha256 } from '../sha256.ts'

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
  const given = bearerOf(c.req.header('Authorization')) ?? ''
  // Digests are of one length whatever was sent, so that comparing them tells nothing by its time.
  if (!timingSafeEqual(sha256(given), sha256(operatorToken))) {
    refuseGuesser(c)
    countFailure(c)
    throw new AppError('unauthorized')
  }
  await next()
})

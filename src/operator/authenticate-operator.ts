// Middleware of /operator: its authentication, with one token for all staff, a secret of the Worker, and the
// organisation of a route.
import { createMiddleware } from 'hono/factory'
import { timingSafeEqual } from 'node:crypto'
import { AppError } from '../domain/errors.ts'
import { recordAuthFailure, rejectIfThrottled } from '../http/auth-throttle.ts'
import { bearerToken } from '../http/bearer.ts'
import type { App } from '../http/request-context.ts'
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import { findOrganisation } from '../organisations/organisations.ts'
import type { OrganisationRow } from '../platform/db/schema.ts'
import { settingsOf } from '../platform/settings.ts'
import { sha256 } from '../platform/signing/sha256.ts'

/** `staff`: what all use cases need. Staff share one token, so the actor has no name. */
export type OperatorApp = App & {
  Variables: { staff: Omit<OrganisationRequest, 'organisationId'> }
}

/**
 * Requires the operator token. hono/bearer-auth does not fit: it returns 400 for a malformed header,
 * does not call `verifyToken` for a missing or malformed token, which the throttle has to count, and
 * accepts fewer characters in a token.
 * @throws AppError not_found when no token is set, which hides /operator; unauthorized; or
 * rate_limit_exceeded for a network that sent too many wrong tokens
 */
export const operatorOnly = createMiddleware<OperatorApp>(async (c, next) => {
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
  const ipAddress = c.req.header('CF-Connecting-IP') ?? null
  c.set('staff', { env: c.env, actor: { type: 'operator', ipAddress } })
  await next()
})

/** Sets `organisation`, and `request` for use cases on it. @throws AppError not_found */
export const existingOrganisation = createMiddleware<
  OperatorApp & { Variables: { organisation: OrganisationRow; request: OrganisationRequest } },
  '/organisations/:orgId'
>(async (c, next) => {
  const organisationId = c.req.param('orgId')
  const found = await findOrganisation(c.env, organisationId)
  if (!found) throw organisationNotFound()
  c.set('organisation', found.organisation)
  c.set('request', { ...c.var.staff, organisationId })
  await next()
})

export const organisationNotFound = () => new AppError('not_found', 'No organisation with this id.')

// Middleware for the routes of one organisation.
import { createMiddleware } from 'hono/factory'
import { findOrganisation } from '../organisations/organisations.ts'
import type { OrganisationRow } from '../platform/db/schema.ts'
import type { Actor } from '../domain/actor.ts'
import { AppError } from '../domain/errors.ts'
import type { App } from '../http/request-context.ts'
import { operatorActor } from './authenticate-operator.ts'

interface ExistingOrganisation {
  Variables: {
    organisation: OrganisationRow
    /** The arguments that all use cases on one organisation share. */
    request: { env: Env; actor: Actor; organisationId: string }
  }
}

/** Sets `organisation` and `request`. @throws AppError not_found */
export const existingOrganisation = createMiddleware<
  App & ExistingOrganisation,
  '/organisations/:orgId'
>(async (c, next) => {
  const organisationId = c.req.param('orgId')
  const found = await findOrganisation(c.env, organisationId)
  if (!found) throw organisationNotFound()
  c.set('organisation', found.organisation)
  c.set('request', { env: c.env, actor: operatorActor(c), organisationId })
  await next()
})

export const organisationNotFound = () => new AppError('not_found', 'No organisation with this id.')

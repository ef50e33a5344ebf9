// A link to a job, webhook event or payment leads to the organisation of that object: also if the link
// names another organisation of the user, or none.
import { createMiddleware } from 'hono/factory'
import { organisationOf } from '../../organisations/locate.ts'
import { consolePath } from '../../domain/console-path.ts'
import type { ConsoleApp } from '../console-context.ts'

/** The path of the page of an object, with the address of the organisation and the object's id. */
const OBJECT_PAGE =
  /^\/console\/(?<addressed>org_\w+)(?<page>\/(?:jobs|settings\/webhooks|billing\/payments)\/(?<id>\w+))$/

/** Redirects to the organisation of the object if the page was not found in the one of the address. */
export const rightOrganisation = createMiddleware<ConsoleApp>(async (c, next) => {
  await next()
  if (c.res.status !== 404 || c.req.method !== 'GET') return
  const { pathname, search } = new URL(c.req.url)
  const { addressed, page, id } = OBJECT_PAGE.exec(pathname)?.groups ?? {}
  if (page === undefined || id === undefined) return
  const organisationId = await organisationOf(c.env, id)
  const isOwn = c.var.memberships.some(({ organisation }) => organisation.id === organisationId)
  if (organisationId === undefined || organisationId === addressed || !isOwn) return
  c.res = c.redirect(consolePath(organisationId, page + search), 302)
})

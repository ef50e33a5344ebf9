// Whoever belongs to several organisations switches between them. The browser remembers one choice
// for all its tabs, so a form says which organisation it is about, and is held to it.
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { z } from 'zod'
import { AppError } from '../../domain/errors.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { ActionForm, DRAWN_FOR_FIELD, readForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { returnTo, safeReturnTo } from '../return-to.ts'
import { selectOrganisation } from '../middleware/session.ts'

export const switching = new Hono<ConsoleApp>().post('/organisation', async (c) => {
  const schema = z.object({ organisation: z.string(), next: z.string().optional() })
  const form = await readForm(c, schema)
  const chosen = form.ok && membershipIn(c, form.value.organisation)
  if (!chosen) throw new AppError('not_found')
  selectOrganisation(c, chosen.organisation.id)
  return c.redirect(safeReturnTo(form.value.next) ?? '/console', 303)
})

/** Refuses a form that was drawn for another organisation than the one looked at by now. */
export const requireSameOrganisation = createMiddleware<ConsoleApp>(async (c, next) => {
  if (c.req.method !== 'POST') return next()
  const { [DRAWN_FOR_FIELD]: formOrganisation } = await c.req.parseBody()
  if (formOrganisation === c.var.membership.organisation.id) return next()
  return switchedPage(c, typeof formOrganisation === 'string' ? formOrganisation : '')
})

const membershipIn = (c: ConsoleContext, organisationId: string) =>
  c.var.memberships.find(({ organisation }) => organisation.id === organisationId)

function switchedPage(c: ConsoleContext, formOrganisation: string) {
  const { name } = c.var.membership.organisation
  // Only an organisation of theirs is named: the form may have been forged.
  const meant = membershipIn(c, formOrganisation)?.organisation
  return memberPage(
    c,
    { title: 'Organisation switched', status: 409 },
    <>
      <h1>Nothing was changed</h1>
      <p>
        The organisation was switched in another tab: you now look at <strong>{name}</strong>, while
        the form that you sent is about{' '}
        {meant ? <strong>{meant.name}</strong> : 'another organisation'}.
      </p>
      <div class="buttons">
        {meant && (
          <ActionForm
            action="/console/organisation"
            label={`Go back to ${meant.name}`}
            kind="primary"
            fields={{ organisation: meant.id, next: returnTo(c) ?? '/console' }}
          />
        )}
        <a href="/console" role="button" class="secondary">
          Go on with {name}
        </a>
      </div>
    </>,
  )
}

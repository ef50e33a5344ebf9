// Whoever belongs to several organisations switches between them. The browser remembers one choice
// for all its tabs, so a form says which organisation it is about, and is held to it.
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import type { ConsoleApp, ConsoleContext } from './context.ts'
import { ActionForm, DRAWN_FOR_FIELD, readForm } from './form.tsx'
import { memberPage } from './layout.tsx'
import { cameFrom, safeNext } from './next.ts'
import { lookAt } from './session.ts'

export const switching = new Hono<ConsoleApp>().post('/organisation', async (c) => {
  const schema = z.object({ organisation: z.string(), next: z.string().optional() })
  const form = await readForm(c, schema)
  const chosen = form.ok && membershipIn(c, form.value.organisation)
  if (!chosen) throw new AppError('not_found')
  lookAt(c, chosen.organisation.id)
  return c.redirect(safeNext(form.value.next) ?? '/console', 303)
})

/** Refuses a form that was drawn for another organisation than the one looked at by now. */
export const onlyWhereDrawn = createMiddleware<ConsoleApp>(async (c, next) => {
  if (c.req.method !== 'POST') return next()
  const { [DRAWN_FOR_FIELD]: drawnFor } = await c.req.parseBody()
  if (drawnFor === c.var.membership.organisation.id) return next()
  return switchedPage(c, typeof drawnFor === 'string' ? drawnFor : '')
})

const membershipIn = (c: ConsoleContext, organisationId: string) =>
  c.var.memberships.find(({ organisation }) => organisation.id === organisationId)

function switchedPage(c: ConsoleContext, drawnFor: string) {
  const { name } = c.var.membership.organisation
  // Only an organisation of theirs is named: the form may have been forged.
  const meant = membershipIn(c, drawnFor)?.organisation
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
            fields={{ organisation: meant.id, next: cameFrom(c) ?? '/console' }}
          />
        )}
        <a href="/console" role="button" class="secondary">
          Go on with {name}
        </a>
      </div>
    </>,
  )
}

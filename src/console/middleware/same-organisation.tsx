// The selected organisation is stored in a cookie that all tabs share. A form therefore sends the
// organisation of its page, and this middleware compares the two.
import { createMiddleware } from 'hono/factory'
import { ActionForm, FORM_ORGANISATION_FIELD } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { returnTo } from '../return-to.ts'

/** Rejects a form of another organisation than the selected one with status 409. */
export const requireSameOrganisation = createMiddleware<ConsoleApp>(async (c, next) => {
  if (c.req.method !== 'POST') return next()
  const { [FORM_ORGANISATION_FIELD]: formOrganisation } = await c.req.parseBody()
  if (formOrganisation === c.var.membership.organisation.id) return next()
  return switchedPage(c, typeof formOrganisation === 'string' ? formOrganisation : '')
})

function switchedPage(c: ConsoleContext, formOrganisation: string) {
  const { name } = c.var.membership.organisation
  // Shows the name only to members of the organisation: the form may be forged.
  const form = c.var.memberships.find(({ organisation }) => organisation.id === formOrganisation)
  const other = form?.organisation
  return memberPage(
    c,
    { title: 'Organisation switched', status: 409 },
    <>
      <h1>No changes were saved</h1>
      <p>
        You switched to <strong>{name}</strong> in another tab, but the form belongs to{' '}
        {other ? <strong>{other.name}</strong> : 'another organisation'}.
      </p>
      <div class="buttons">
        {other && (
          <ActionForm
            action="/console/organisation"
            label={`Switch back to ${other.name}`}
            kind="primary"
            fields={{ organisation: other.id, next: returnTo(c) ?? '/console' }}
          />
        )}
        <a href="/console" role="button" class="secondary">
          Continue with {name}
        </a>
      </div>
    </>,
  )
}

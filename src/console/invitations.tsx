// Invitations, from the side of whoever is invited. An address that is verified is proof enough; the
// token in the mail only saves searching.
import { Hono } from 'hono'
import { acceptInvitation, findInvitation, invitationsTo } from '../accounts/members.ts'
import { findOnboarding } from '../accounts/onboarding.ts'
import { AppError } from '../errors.ts'
import type { ConsoleApp } from './context.ts'
import { ActionForm } from './form.tsx'
import { guestPage } from './layout.tsx'
import { findPerson, lookAt, signedIn } from './session.ts'

export const invitations = new Hono<ConsoleApp>()
  .get('/', signedIn, async (c) => {
    const { id, email } = c.var.person
    const [open, begun] = await Promise.all([
      invitationsTo(c.env, email),
      findOnboarding(c.env, id),
    ])
    return guestPage(
      c,
      { title: 'Invitations' },
      <article>
        <h1>Invitations</h1>
        {open.length === 0 && <p>There are none for {email}.</p>}
        {open.map(({ invitation, organisation }) => (
          <section>
            <p>
              Join <strong>{organisation.name}</strong> as {invitation.role}?
            </p>
            <ActionForm
              action={`/console/invitations/${invitation.id}/accept`}
              label={`Join ${organisation.name}`}
              kind="primary"
            />
          </section>
        ))}
        <p class="aside">
          <a href="/console">To the console</a>
          {!begun?.foundedAt && (
            <a href="/console/onboarding/name">Found an organisation of your own</a>
          )}
        </p>
      </article>,
    )
  })
  .get('/:token', async (c) => {
    const token = c.req.param('token')
    const found = await findInvitation(c.env, token)
    const person = await findPerson(c)
    if (person && found?.invitation.email === person.email) {
      return c.redirect('/console/invitations', 303)
    }
    if (!found) {
      return guestPage(
        c,
        { title: 'Invitation', status: 404 },
        <article>
          <h1>This invitation is not open</h1>
          <p>It was used, withdrawn or is older than seven days. Ask for a new one.</p>
          <a href="/console">To the console</a>
        </article>,
      )
    }
    const { invitation, organisation } = found
    return guestPage(
      c,
      { title: 'Invitation' },
      <article>
        <h1>Join {organisation.name}</h1>
        <p>
          The invitation is for <strong>{invitation.email}</strong>.{' '}
          {person && `You are signed in as ${person.email}: sign out first.`}
        </p>
        {person ? (
          <ActionForm action="/console/sign-out" label="Sign out" />
        ) : (
          <p class="buttons">
            <a href={`/console/sign-up?invitation=${token}`} role="button">
              Create an account
            </a>
            <a href="/console/sign-in?next=/console/invitations" role="button" class="secondary">
              Sign in
            </a>
          </p>
        )}
      </article>,
    )
  })
  .post('/:invitationId/accept', signedIn, async (c) => {
    const open = await invitationsTo(c.env, c.var.person.email)
    const chosen = open.find(({ invitation }) => invitation.id === c.req.param('invitationId'))
    if (!chosen) throw new AppError('not_found')
    await acceptInvitation(c.env, chosen.invitation, c.var.person.id)
    lookAt(c, chosen.organisation.id)
    return c.redirect('/console', 303)
  })

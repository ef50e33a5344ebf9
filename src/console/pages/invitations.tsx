// Invitations, as the invited person sees them. The link in the mail is what accepts one; the list
// only names them.
import { Hono } from 'hono'
import { z } from 'zod'
import { acceptInvitation, joinWithPassword } from '../../accounts/accept-invitation.ts'
import { findInvitation, invitationsTo } from '../../accounts/invitations.ts'
import type { OpenInvitation } from '../../accounts/invitations.ts'
import { findOnboarding } from '../../accounts/onboarding.ts'
import { findUserByEmail } from '../../accounts/users.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { password } from '../fields.ts'
import { ActionForm, Button, FormError, NewPasswordField, readForm } from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import {
  actorOf,
  findPerson,
  ipAddressOf,
  selectOrganisation,
  requireSession,
  startSession,
} from '../middleware/session.ts'

export const invitations = new Hono<ConsoleApp>()
  .get('/', requireSession, async (c) => {
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
        {open.length === 0 ? (
          <p>
            There are no open invitations to <strong>{email}</strong>.
          </p>
        ) : (
          <>
            <p>
              To join, open the link in the mail that we sent to <strong>{email}</strong>. If you
              cannot find it, ask an owner of the organisation to invite you again.
            </p>
            <ul>
              {open.map(({ invitation, organisation }) => (
                <li>
                  <strong>{organisation.name}</strong>, as{' '}
                  {invitation.role === 'owner' ? 'an owner' : 'a member'}
                </li>
              ))}
            </ul>
          </>
        )}
        <p class="aside">
          <a href="/console">To the console</a>
          {!begun?.completedAt && (
            <a href="/console/onboarding/name">Create an organisation of your own</a>
          )}
        </p>
      </article>,
    )
  })
  .get('/:token', async (c) => {
    const found = await findInvitation(c.env, c.req.param('token'))
    return found ? invitationPage(c, found) : notOpenPage(c)
  })
  .post('/:token', async (c) => {
    const token = c.req.param('token')
    const found = await findInvitation(c.env, token)
    if (!found) return notOpenPage(c)
    const person = await findPerson(c)
    if (person?.deleteAfter) return c.redirect('/console/account/keep', 303)
    if (person && person.email !== found.invitation.email) return invitationPage(c, found)
    if (person) {
      c.set('person', person)
      const joined = await acceptInvitation({ env: c.env, actor: actorOf(c), token })
      if (!joined) return notOpenPage(c)
      selectOrganisation(c, joined.organisation.id)
      return c.redirect('/console', 303)
    }
    const form = await readForm(c, z.object({ password }))
    if (!form.ok) return invitationPage(c, found, form)
    const result = await joinWithPassword({
      env: c.env,
      token,
      password: form.value.password,
      ipAddress: ipAddressOf(c),
    })
    if (!result.ok) {
      return result.reason === 'not_open' ? notOpenPage(c) : c.redirect(c.req.path, 303)
    }
    await startSession(c, { id: result.userId, email: found.invitation.email })
    selectOrganisation(c, result.joined.organisation.id)
    return c.redirect('/console', 303)
  })

async function invitationPage(
  c: ConsoleContext,
  { invitation, organisation }: OpenInvitation,
  state: FieldState = {},
) {
  const person = await findPerson(c)
  const account = person ? undefined : await findUserByEmail(c.env, invitation.email)
  const { path } = c.req
  return guestPage(
    c,
    { title: `Join ${organisation.name}`, status: state.complaints ? 422 : 200 },
    <article>
      <h1>Join {organisation.name}</h1>
      <p>
        You are invited to join as {invitation.role === 'owner' ? 'an owner' : 'a member'}. The
        invitation is for <strong>{invitation.email}</strong>.
      </p>
      {person && person.email === invitation.email && (
        <ActionForm action={path} label="Join" on={organisation.name} kind="primary" />
      )}
      {person && person.email !== invitation.email && (
        <>
          <p>
            You are signed in as <strong>{person.email}</strong>. Sign out first, then continue with
            the invited address.
          </p>
          <ActionForm action="/console/sign-out" label="Sign out" fields={{ next: path }} />
        </>
      )}
      {account?.emailVerified && (
        <>
          <p>There is an account with this address. Sign in to join.</p>
          <p class="buttons">
            <a href={`/console/sign-in?${new URLSearchParams({ next: path })}`} role="button">
              Sign in
            </a>
          </p>
        </>
      )}
      {!person && !account?.emailVerified && (
        <form method="post" action={path} novalidate>
          <FormError state={state} />
          <NewPasswordField state={state} autofocus />
          <Button>Create account and join</Button>
        </form>
      )}
    </article>,
  )
}

const notOpenPage = (c: ConsoleContext) =>
  guestPage(
    c,
    { title: 'Invitation', status: 404 },
    <article>
      <h1>This invitation is not open</h1>
      <p>It was used, withdrawn or is older than seven days. Ask for a new one.</p>
      <a href="/console">To the console</a>
    </article>,
  )

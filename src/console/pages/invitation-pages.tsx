// Invitations to the user. Accepting one requires the link from the email; the list only shows them.
import { ButtonLink } from '../components/text.tsx'
import { z } from 'zod'
import { acceptInvitation, joinWithPassword } from '../../users/accept-invitation.ts'
import {
  findInvitation,
  invitationsTo,
  type OpenInvitation,
} from '../../organisations/invitations.ts'
import { passwordProblem } from '../../users/password-policy.ts'
import { findUserByEmail } from '../../users/users.ts'
import { newPassword, pageWith, readForm, withQuery } from '../forms.ts'
import { NewPasswordField } from '../components/credential-fields.tsx'
import { ActionForm, Button, PostForm } from '../components/form.tsx'
import { roleWithArticle } from '../components/roles.tsx'
import { cardPage, type Anchor } from '../components/layout.tsx'
import {
  findSessionUser,
  selectOrganisation,
  requireSession,
  startSession,
} from '../middleware/session.ts'
import { createApp, actorOf, ipAddressOf, type ConsoleContext } from '../console-context.ts'

export const invitations = createApp()
  .get('/', requireSession, async (c) => {
    const { email } = c.var.user
    const open = await invitationsTo(c.env, email)
    const aside: Anchor[] = [
      ['/console', 'Back to the console'],
      ['/console/onboarding/new', 'Create your own organisation'],
    ]
    return cardPage(
      { c, title: 'Invitations', aside },
      open.length === 0 ? (
        <p>
          There are no open invitations for <strong>{email}</strong>.
        </p>
      ) : (
        <>
          <p>
            To join, open the link in the email that we sent to <strong>{email}</strong>. If you
            cannot find the email, ask an owner of the organisation to invite you again.
          </p>
          <ul>
            {open.map(({ invitation, organisation }) => (
              <li>
                <strong>{organisation.name}</strong>, as {roleWithArticle(invitation.role)}
              </li>
            ))}
          </ul>
        </>
      ),
    )
  })
  .get('/:token', async (c) => {
    const found = await findInvitation(c.env, c.req.param('token'))
    return found ? invitationPage(c, found) : invalidInvitationPage(c)
  })
  .post('/:token', async (c) => {
    const token = c.req.param('token')
    const found = await findInvitation(c.env, token)
    if (!found) return invalidInvitationPage(c)
    const user = await findSessionUser(c)
    if (user?.deleteAfter) return c.redirect('/console/account/keep', 303)
    if (user && user.email !== found.invitation.email) return invitationPage(c, found)
    if (user) {
      c.set('user', user)
      const joined = await acceptInvitation({ env: c.env, actor: actorOf(c), token })
      if (!joined) return invalidInvitationPage(c)
      selectOrganisation(c, joined.organisation.id)
      return c.redirect('/console', 303)
    }
    const page = () => invitationPage(c, found)
    const { password } = await readForm(c, z.object({ password: newPassword }), page)
    const { email } = found.invitation
    const names = [found.organisation.name]
    const problem = await passwordProblem({ env: c.env, password, email, names })
    if (problem) return pageWith(c, page, { errors: { password: problem } })
    const result = await joinWithPassword({
      env: c.env,
      token,
      password,
      ipAddress: ipAddressOf(c),
    })
    if (!result.ok) {
      return result.reason === 'not_open' ? invalidInvitationPage(c) : c.redirect(c.req.path, 303)
    }
    await startSession(c, { id: result.userId, email }, 'link')
    selectOrganisation(c, result.joined.organisation.id)
    return c.redirect('/console', 303)
  })

async function invitationPage(c: ConsoleContext, { invitation, organisation }: OpenInvitation) {
  const user = await findSessionUser(c)
  const account = user ? undefined : await findUserByEmail(c.env, invitation.email)
  const { path } = c.req
  return cardPage(
    { c, title: `Join ${organisation.name}` },
    <>
      <p>
        You have been invited to join as {roleWithArticle(invitation.role)}. The invitation is for{' '}
        <strong>{invitation.email}</strong>.
      </p>
      {user && user.email === invitation.email && (
        <ActionForm action={path} label="Join" on={organisation.name} kind="primary" />
      )}
      {user && user.email !== invitation.email && (
        <>
          <p>
            You are signed in as <strong>{user.email}</strong>. Sign out and sign in with the
            invited email address.
          </p>
          <ActionForm action="/console/sign-out" label="Sign out" fields={{ next: path }} />
        </>
      )}
      {account?.emailVerified && (
        <>
          <p>This email address already has an account. Sign in to join.</p>
          <p class="buttons">
            <ButtonLink
              href={withQuery('/console/sign-in', { next: path })}
              kind="primary"
              label="Sign in"
            />
          </p>
        </>
      )}
      {!user && !account?.emailVerified && (
        <PostForm action={path}>
          <NewPasswordField autofocus />
          <Button>Create account and join</Button>
        </PostForm>
      )}
    </>,
  )
}

const invalidInvitationPage = (c: ConsoleContext) =>
  cardPage(
    { c, title: 'Invitation', heading: 'This invitation is no longer valid', status: 404 },
    <>
      <p>It was used or withdrawn, or it has expired. Ask an owner for a new invitation.</p>
      <a href="/console">Back to the console</a>
    </>,
  )

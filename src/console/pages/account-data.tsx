// What a user does with their account without an organisation: exports and deletes it, cancels the deletion, and
// confirms a new email address.
import { changeEmail, findEmailChange } from '../../users/email-change.ts'
import {
  accountDeletionPlan,
  cancelAccountDeletion,
  scheduleAccountDeletion,
  scheduledWith,
} from '../../privacy/delete-account.ts'
import { exportAccount } from '../../privacy/export-account.ts'
import { GRACE_PERIOD_DAYS } from '../../organisations/grace-period.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { exportResponse } from '../downloads.ts'
import { ActionForm, Button, PostForm } from '../components/form.tsx'
import { Notice, Timestamp, Link } from '../components/text.tsx'
import { textIn } from '../forms.ts'
import { cardPage } from '../components/layout.tsx'
import { confirmIdentity, IdentityFields } from '../confirm-identity.tsx'
import { endSession, findSessionUser, requireSession } from '../middleware/session.ts'
import { createMiddleware, createApp, requestOf, type ConsoleContext } from '../console-context.ts'
import { redirectWithNotice } from '../form-notices.ts'
import { invalidLinkPage } from '../error-pages.tsx'

/** Requires a user whose account is scheduled for deletion. `requireSession` redirects them here. */
const requireScheduledDeletion = createMiddleware(async (c, next) => {
  const user = await findSessionUser(c)
  if (!user) return c.redirect('/console/sign-in', 303)
  if (!user.deleteAfter) return c.redirect('/console', 303)
  c.set('user', user)
  await next()
})

export const accountData = createApp()
  .get('/export', (c) => c.redirect('/console/account', 303))
  .post('/export', requireSession, async (c) =>
    exportResponse(c, await exportAccount(requestOf(c)), 'try-on-account'),
  )

  .get('/delete', requireSession, (c) => deletePage(c))
  .post('/delete', requireSession, async (c) => {
    await confirmIdentity(c, deletePage)
    const scheduled = await scheduleAccountDeletion({ ...requestOf(c), baseUrl: baseUrlOf(c) })
    if (!scheduled) return deletePage(c)
    await endSession(c)
    return redirectWithNotice(c, '/console/sign-in', 'account_deleted')
  })

  .get('/keep', requireScheduledDeletion, (c) => keepPage(c))
  .post('/keep', requireScheduledDeletion, async (c) => {
    const isCancelled = await cancelAccountDeletion(requestOf(c))
    return isCancelled ? c.redirect('/console', 303) : keepPage(c)
  })

  // The link of a new address works for the signed-in user who requested it; without a session, the sign-in page
  // returns here. Email scanners open links, so only the form changes the address.
  .get('/email/confirm', requireSession, async (c) => {
    const token = c.req.query('token') ?? ''
    const email = await findEmailChange(c.env, { userId: c.var.user.id, token })
    return email === undefined ? invalidEmailPage(c) : confirmEmailPage(c, email, token)
  })
  .post('/email/confirm', requireSession, async (c) => {
    const changed = await changeEmail({
      ...requestOf(c),
      token: await textIn(c, 'token'),
      sessionId: c.var.user.sessionId,
      baseUrl: baseUrlOf(c),
    })
    if (changed === undefined) return invalidEmailPage(c)
    return redirectWithNotice(c, '/console/account', 'email_changed')
  })

async function deletePage(c: ConsoleContext) {
  const { blockedBy, deletedWithAccount, left } = await accountDeletionPlan(c.env, c.var.user.id)
  return cardPage(
    {
      c,
      title: 'Delete your account',
      aside: [['/console/account', 'Back to your account']],
    },
    blockedBy.length > 0 ? (
      <>
        <Notice kind="bad">
          You are the last owner of {namesOf(blockedBy)}. Before you delete your account, make
          another member an owner.
        </Notice>
        <p>
          Manage members under <Link to="/settings/team">Team</Link>.
        </p>
      </>
    ) : (
      <>
        <p>
          The account <strong>{c.var.user.email}</strong> will be deleted in {GRACE_PERIOD_DAYS}{' '}
          days. You will be signed out everywhere immediately. To keep your account, sign in before
          then.
        </p>
        {deletedWithAccount.length > 0 && (
          <Notice kind="bad">
            You are the only member of {namesOf(deletedWithAccount)}.{' '}
            {deletedWithAccount.length === 1 ? 'It' : 'They'} will be deleted with your account, and
            new jobs will be rejected until then.
          </Notice>
        )}
        {left.length > 0 && <p>You will also leave {namesOf(left)}.</p>}
        <PostForm action="/console/account/delete">
          <IdentityFields user={c.var.user} label="Your password" />
          <Button kind="danger">Delete my account</Button>
        </PostForm>
      </>
    ),
  )
}

async function keepPage(c: ConsoleContext) {
  const { id, email, deleteAfter } = c.var.user
  const isOver = deleteAfter !== null && deleteAfter.getTime() <= Date.now()
  const organisations = await scheduledWith(c.env, id)
  return cardPage(
    { c, title: 'Your account will be deleted' },
    <>
      {isOver ? (
        <p>The account {email} is being deleted. The deletion can no longer be cancelled.</p>
      ) : (
        <p>
          The account <strong>{email}</strong>
          {organisations.length > 0 && ` and ${namesOf(organisations)}`} will be deleted on{' '}
          <Timestamp at={deleteAfter} />.
        </p>
      )}
      <div class="buttons">
        {!isOver && (
          <ActionForm action="/console/account/keep" label="Cancel deletion" kind="primary" />
        )}
        <ActionForm action="/console/sign-out" label="Sign out" />
      </div>
    </>,
  )
}

const confirmEmailPage = (c: ConsoleContext, email: string, token: string) =>
  cardPage(
    { c, title: 'Change your email address', aside: [['/console/account', 'Cancel']] },
    <>
      <p>
        You will sign in with <strong>{email}</strong> instead of{' '}
        <strong>{c.var.user.email}</strong>. All other sessions will be signed out.
      </p>
      <ActionForm
        action="/console/account/email/confirm"
        label="Change email address"
        kind="primary"
        fields={{ token }}
      />
    </>,
  )

const invalidEmailPage = (c: ConsoleContext) =>
  invalidLinkPage(
    c,
    <>
      Links to a new address are valid for one hour, work once, and only for the account that
      requested them. You are signed in as <strong>{c.var.user.email}</strong>.
    </>,
    ['/console/account', 'Your account'],
  )

const LIST = new Intl.ListFormat('en', { type: 'conjunction' })

const namesOf = (organisations: { name: string }[]) =>
  LIST.format(organisations.map(({ name }) => name))

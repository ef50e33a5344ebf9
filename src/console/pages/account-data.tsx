// A person's own data: the export, the deletion of the account, and cancelling it. These pages need
// no organisation.
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { z } from 'zod'
import { authOf } from '../../accounts/auth.ts'
import {
  accountDeletionPlan,
  cancelAccountDeletion,
  scheduleAccountDeletion,
  scheduledWith,
} from '../../accounts/delete-account.ts'
import { exportAccount } from '../../accounts/export-account.ts'
import { GRACE_PERIOD_DAYS } from '../../accounts/grace-period.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { download } from '../download.tsx'
import { ActionForm, Button, Field, Notice, readForm } from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import { When } from '../components/parts.tsx'
import { checkPassword, currentPassword } from '../password.ts'
import {
  actorOf,
  findPerson,
  forgetOrganisation,
  forwardCookies,
  requireSession,
} from '../middleware/session.ts'

/** Signed in with an account that is scheduled for deletion; `requireSession` leads here. */
const leaving = createMiddleware<ConsoleApp>(async (c, next) => {
  const person = await findPerson(c)
  if (!person) return c.redirect('/console/sign-in', 303)
  if (!person.deleteAfter) return c.redirect('/console', 303)
  c.set('person', person)
  await next()
})

export const accountData = new Hono<ConsoleApp>()
  .get('/export', (c) => c.redirect('/console/account', 303))
  .post('/export', requireSession, async (c) =>
    download(c, await exportAccount({ env: c.env, actor: actorOf(c) }), 'try-on-account'),
  )

  .get('/delete', requireSession, (c) => deletePage(c))
  .post('/delete', requireSession, async (c) => {
    const form = await readForm(c, z.object({ password: currentPassword }))
    if (!form.ok) return deletePage(c, form)
    const checked = await checkPassword(c, form.value.password)
    if (checked instanceof Response) return checked
    if (checked === 'wrong') {
      return deletePage(c, { complaints: { password: 'This is not your password.' } })
    }
    const baseUrl = baseUrlOf(c)
    const scheduled = await scheduleAccountDeletion({ env: c.env, actor: actorOf(c), baseUrl })
    if (!scheduled) return deletePage(c)
    const { headers } = await authOf(c.env, baseUrl).api.signOut({
      headers: c.req.raw.headers,
      returnHeaders: true,
    })
    forwardCookies(c, headers)
    forgetOrganisation(c)
    return c.redirect('/console/sign-in?deleted=1', 303)
  })

  .get('/keep', leaving, (c) => keepPage(c))
  .post('/keep', leaving, async (c) => {
    const isCancelled = await cancelAccountDeletion({ env: c.env, actor: actorOf(c) })
    return isCancelled ? c.redirect('/console', 303) : keepPage(c)
  })

async function deletePage(c: ConsoleContext, state: FieldState = {}) {
  const { blockedBy, deletedAlong, left } = await accountDeletionPlan(c.env, c.var.person.id)
  return guestPage(
    c,
    { title: 'Delete your account', status: state.complaints ? 422 : 200 },
    <article>
      <h1>Delete your account</h1>
      {blockedBy.length > 0 ? (
        <>
          <Notice kind="bad">
            You are the last owner of {namesOf(blockedBy)}. Make another member an owner before you
            delete your account.
          </Notice>
          <p>
            You find the members under <a href="/console/settings/team">Team</a>.
          </p>
        </>
      ) : (
        <>
          <p>
            The account <strong>{c.var.person.email}</strong> is deleted after {GRACE_PERIOD_DAYS}{' '}
            days. You are signed out everywhere at once. To keep the account, sign in again within
            that time.
          </p>
          {deletedAlong.length > 0 && (
            <Notice kind="bad">
              You are the only member of {namesOf(deletedAlong)}, so{' '}
              {deletedAlong.length === 1 ? 'it is' : 'they are'} deleted along with your account.
              Until then no jobs are accepted.
            </Notice>
          )}
          {left.length > 0 && <p>You also leave {namesOf(left)}.</p>}
          <form method="post" action="/console/account/delete" novalidate>
            <Field
              name="password"
              label="Your password"
              type="password"
              autocomplete="current-password"
              state={state}
            />
            <Button kind="danger">Delete my account</Button>
          </form>
        </>
      )}
      <p class="aside">
        <a href="/console/account">Back to your account</a>
      </p>
    </article>,
  )
}

async function keepPage(c: ConsoleContext) {
  const { id, email, deleteAfter } = c.var.person
  const isOver = deleteAfter !== null && deleteAfter.getTime() <= Date.now()
  const along = await scheduledWith(c.env, id)
  return guestPage(
    c,
    { title: 'Your account will be deleted' },
    <article>
      <h1>Your account will be deleted</h1>
      {isOver ? (
        <p>The account {email} is being deleted. This can no longer be cancelled.</p>
      ) : (
        <p>
          The account <strong>{email}</strong>
          {along.length > 0 && ` and ${namesOf(along)}`} will be deleted on{' '}
          <When at={deleteAfter} />.
        </p>
      )}
      <div class="buttons">
        {!isOver && (
          <ActionForm action="/console/account/keep" label="Keep my account" kind="primary" />
        )}
        <ActionForm action="/console/sign-out" label="Sign out" />
      </div>
    </article>,
  )
}

const LIST = new Intl.ListFormat('en', { type: 'conjunction' })

const namesOf = (organisations: { name: string }[]) =>
  LIST.format(organisations.map(({ name }) => name))

// The user's account: password, sessions, data export and deletion.
import { Hono } from 'hono'
import { z } from 'zod'
import { authOf } from '../../accounts/auth.ts'
import { changePassword } from '../../accounts/passwords.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { currentPassword, newPassword } from '../fields.ts'
import {
  ActionForm,
  Button,
  CurrentPasswordField,
  NewPasswordField,
  PostForm,
} from '../components/form.tsx'
import { Notice } from '../components/notice.tsx'
import { readForm } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { memberPage } from '../components/layout.tsx'
import { checkPassword } from '../check-password.ts'
import { startSession } from '../middleware/session.ts'

const PasswordChange = z.object({ current: currentPassword, password: newPassword })

export const account = new Hono<ConsoleApp>()
  .get('/', (c) => accountPage(c))
  .post('/password', async (c) => {
    const form = await readForm(c, PasswordChange)
    if (!form.ok) return accountPage(c, form)
    const checked = await checkPassword(c, form.data.current)
    if (checked instanceof Response) return checked
    if (checked === 'wrong') {
      return accountPage(c, { errors: { current: 'Incorrect password.' } })
    }
    const { id, email } = c.var.user
    await changePassword({ env: c.env, userId: id, password: form.data.password })
    await startSession(c, { id, email })
    return c.redirect('/console/account?changed=1', 303)
  })
  .post('/sign-out-everywhere', async (c) => {
    const { headers } = c.req.raw
    await authOf(c.env, baseUrlOf(c)).api.revokeSessions({ headers })
    return c.redirect('/console/sign-in', 303)
  })

function accountPage(c: ConsoleContext, state: FormState = {}) {
  return memberPage(
    c,
    { title: 'Your account', status: state.errors ? 422 : 200 },
    <>
      <h1>Your account</h1>
      <p class="address">{c.var.user.email}</p>
      {c.req.query('changed') && (
        <Notice kind="good">Password changed. All other sessions have been signed out.</Notice>
      )}
      <section class="card" aria-labelledby="password-heading">
        <h2 id="password-heading">Change password</h2>
        <PostForm action="/console/account/password" novalidate>
          <CurrentPasswordField name="current" label="Current password" state={state} />
          <NewPasswordField
            label="New password"
            consequence="You will be signed out everywhere else."
            state={state}
          />
          <Button>Change password</Button>
        </PostForm>
      </section>
      <section class="card" aria-labelledby="sessions-heading">
        <h2 id="sessions-heading">Sessions</h2>
        <p>Lost a device? Sign out of all sessions, including this one.</p>
        <ActionForm action="/console/account/sign-out-everywhere" label="Sign out everywhere" />
      </section>
      <section class="card" aria-labelledby="data-heading">
        <h2 id="data-heading">Your data</h2>
        <p>Downloads your profile, sessions and memberships as a JSON file.</p>
        <PostForm action="/console/account/export" data-download>
          <Button kind="secondary">Export as JSON</Button>
        </PostForm>
      </section>
      <section class="card" aria-labelledby="delete-heading">
        <h2 id="delete-heading">Delete your account</h2>
        <p>The next page shows what will be deleted and asks for your password.</p>
        <a href="/console/account/delete" role="button" class="secondary">
          Delete your account
        </a>
      </section>
      <p class="aside">
        <a href="/console/invitations">Your invitations</a>
      </p>
    </>,
  )
}

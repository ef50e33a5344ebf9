// A person's own account: the password, and every session at once.
import { Hono } from 'hono'
import { z } from 'zod'
import { authOf, MAX_PASSWORD_LENGTH } from '../../accounts/auth.ts'
import { changePassword } from '../../accounts/passwords.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { password } from '../fields.ts'
import {
  ActionForm,
  Button,
  Field,
  NewPasswordField,
  Notice,
  PostForm,
  readForm,
} from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { checkPassword } from '../password.ts'
import { startSession } from '../middleware/session.ts'

const NewPassword = z.object({
  current: z
    .string()
    .min(1, 'Enter your current password.')
    .max(MAX_PASSWORD_LENGTH, 'This is too long.'),
  password,
})

export const account = new Hono<ConsoleApp>()
  .get('/', (c) => accountPage(c))
  .post('/password', async (c) => {
    const form = await readForm(c, NewPassword)
    if (!form.ok) return accountPage(c, form)
    const checked = await checkPassword(c, form.value.current)
    if (checked instanceof Response) return checked
    if (checked === 'wrong') {
      return accountPage(c, { complaints: { current: 'This is not your current password.' } })
    }
    const { id, email } = c.var.person
    await changePassword({ env: c.env, userId: id, password: form.value.password })
    await startSession(c, { id, email })
    return c.redirect('/console/account?changed=1', 303)
  })
  .post('/sign-out-everywhere', async (c) => {
    const { headers } = c.req.raw
    await authOf(c.env, baseUrlOf(c)).api.revokeSessions({ headers })
    return c.redirect('/console/sign-in', 303)
  })

function accountPage(c: ConsoleContext, state: FieldState = {}) {
  return memberPage(
    c,
    { title: 'Your account', status: state.complaints ? 422 : 200 },
    <>
      <h1>Your account</h1>
      <p class="address">{c.var.person.email}</p>
      {c.req.query('changed') && (
        <Notice kind="good">Your password is changed; all your other sessions have ended.</Notice>
      )}
      <section class="card" aria-labelledby="password-heading">
        <h2 id="password-heading">Change the password</h2>
        <PostForm action="/console/account/password" novalidate>
          <Field
            name="current"
            label="Current password"
            type="password"
            autocomplete="current-password"
            state={state}
          />
          <NewPasswordField
            label="New password"
            consequence="You are signed out everywhere else."
            state={state}
          />
          <Button>Change the password</Button>
        </PostForm>
      </section>
      <section class="card" aria-labelledby="sessions-heading">
        <h2 id="sessions-heading">Sessions</h2>
        <p>Lost a device? End every session, this one included.</p>
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
        <p>The next page says what is deleted, and asks for your password.</p>
        <a href="/console/account/delete" role="button" class="secondary">
          Delete your account
        </a>
      </section>
      <p class="aside">
        <a href="/console/invitations">Invitations to you</a>
      </p>
    </>,
  )
}

// Signing in and out, and setting a new password by a link in a mail.
import { Hono } from 'hono'
import { z } from 'zod'
import { authOf, isBadLink, MAX_PASSWORD_LENGTH, refusalOf } from '../accounts/auth.ts'
import { GRACE_PERIOD_DAYS } from '../accounts/grace-period.ts'
import { baseUrlOf } from '../api/base-url.ts'
import { safeNext } from './next.ts'
import type { ConsoleApp, ConsoleContext } from './context.ts'
import { email, password } from './fields.ts'
import {
  ActionForm,
  Button,
  Field,
  FormError,
  NewPasswordField,
  Notice,
  readForm,
} from './form.tsx'
import type { FieldState } from './form.tsx'
import { guestPage } from './layout.tsx'
import { mayMail, mayTryPassword } from './limits.tsx'
import { DevMailbox } from './mailbox.tsx'
import { findPerson, forgetOrganisation, forwardCookies } from './session.ts'

const SignIn = z.object({
  email,
  password: z.string().min(1, 'Enter your password.').max(MAX_PASSWORD_LENGTH, 'This is too long.'),
  next: z.string().optional(),
})

export const signIn = new Hono<ConsoleApp>()
  .get('/sign-in', async (c) => {
    const next = safeNext(c.req.query('next'))
    if (await findPerson(c)) return c.redirect(next ?? '/console', 303)
    return signInPage(c, next)
  })
  .post('/sign-in', async (c) => {
    const form = await readForm(c, SignIn)
    if (!form.ok) return signInPage(c, safeNext(form.entered['next']), form, 422)
    const { next, ...body } = form.value
    const tooMany = await mayTryPassword(c, body.email)
    if (tooMany) return tooMany
    try {
      const { headers } = await authOf(c.env, baseUrlOf(c)).api.signInEmail({
        body,
        headers: c.req.raw.headers,
        returnHeaders: true,
      })
      forwardCookies(c, headers)
      return c.redirect(safeNext(next) ?? '/console', 303)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === 'EMAIL_NOT_VERIFIED') return notVerifiedPage(c, body.email)
      if (refusal !== 'INVALID_EMAIL_OR_PASSWORD' && refusal !== 'INVALID_EMAIL') throw error
      const complaints = { '': 'The email address or the password is wrong.' }
      return signInPage(c, safeNext(next), { complaints, entered: { email: body.email } }, 401)
    }
  })
  .post('/sign-out', async (c) => {
    const { headers } = await authOf(c.env, baseUrlOf(c)).api.signOut({
      headers: c.req.raw.headers,
      returnHeaders: true,
    })
    forwardCookies(c, headers)
    forgetOrganisation(c)
    return c.redirect('/console/sign-in', 303)
  })

  .get('/forgot', (c) => forgotPage(c))
  .post('/forgot', async (c) => {
    const form = await readForm(c, z.object({ email }))
    if (!form.ok) return forgotPage(c, form)
    const tooMany = await mayMail(c, form.value.email)
    if (tooMany) return tooMany
    await authOf(c.env, baseUrlOf(c)).api.requestPasswordReset({ body: form.value })
    return guestPage(
      c,
      { title: 'Check your inbox' },
      <article>
        <h1>Check your inbox</h1>
        <p>
          If there is an account for <strong>{form.value.email}</strong>, we have sent a link for
          setting a new password. It works for one hour.
        </p>
        <DevMailbox c={c} />
      </article>,
    )
  })

  .get('/reset', (c) => resetPage(c, c.req.query('token') ?? ''))
  .post('/reset', async (c) => {
    const form = await readForm(c, z.object({ password, token: z.string() }))
    if (!form.ok) return resetPage(c, form.entered['token'] ?? '', form)
    const { token, password: newPassword } = form.value
    try {
      await authOf(c.env, baseUrlOf(c)).api.resetPassword({ body: { newPassword, token } })
    } catch (error) {
      if (!isBadLink(error)) throw error
      const complaints = { '': 'This link was used already or is too old. Ask for a new one.' }
      return resetPage(c, token, { complaints })
    }
    return c.redirect('/console/sign-in?reset=1', 303)
  })

function signInPage(
  c: ConsoleContext,
  next: string | null,
  state: FieldState = {},
  status: 200 | 401 | 422 = 200,
) {
  return guestPage(
    c,
    { title: 'Sign in', status },
    <article>
      <h1>Sign in</h1>
      {c.req.query('ended') && (
        <Notice kind="bad">Your session has ended; what you sent was not saved.</Notice>
      )}
      {c.req.query('verified') && (
        <Notice kind="good">Your email is verified. Sign in to go on.</Notice>
      )}
      {c.req.query('deleted') && (
        <Notice kind="good">
          Your account is scheduled for deletion, and you are signed out everywhere. To keep it,
          sign in within {GRACE_PERIOD_DAYS} days.
        </Notice>
      )}
      {c.req.query('reset') && (
        <Notice kind="good">Your password is changed, and you are signed out everywhere.</Notice>
      )}
      <form method="post" action="/console/sign-in" novalidate>
        <FormError state={state} />
        {next && <input type="hidden" name="next" value={next} />}
        <Field
          name="email"
          label="Email"
          type="email"
          autocomplete="username"
          state={state}
          autofocus
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          state={state}
        />
        <Button>Sign in</Button>
      </form>
      <p class="aside">
        <a href="/console/forgot">Forgot your password?</a>
        <span>
          New here? <a href="/console/sign-up">Create an account</a>
        </span>
      </p>
    </article>,
  )
}

/** Only for whoever knew the password: to others an address looks alike, verified or not. */
const notVerifiedPage = (c: ConsoleContext, address: string) =>
  guestPage(
    c,
    { title: 'Verify your email', status: 403 },
    <article>
      <h1>Your address is not verified yet</h1>
      <p>
        Before you can sign in, open the link that we mail to <strong>{address}</strong>. If it is
        older than an hour, or did not arrive, have a new one sent.
      </p>
      <ActionForm
        action="/console/resend"
        label="Send a link"
        kind="primary"
        fields={{ email: address }}
      />
      <p class="aside">
        <a href="/console/sign-in">Back to signing in</a>
      </p>
    </article>,
  )

function forgotPage(c: ConsoleContext, state: FieldState = {}) {
  return guestPage(
    c,
    { title: 'Reset your password', status: state.complaints ? 422 : 200 },
    <article>
      <h1>Reset your password</h1>
      <p>We send you a link for setting a new one.</p>
      <form method="post" action="/console/forgot" novalidate>
        <Field
          name="email"
          label="Email"
          type="email"
          autocomplete="email"
          state={state}
          autofocus
        />
        <Button>Send the link</Button>
      </form>
      <p class="aside">
        <a href="/console/sign-in">Back to signing in</a>
      </p>
    </article>,
  )
}

function resetPage(c: ConsoleContext, token: string, state: FieldState = {}) {
  return guestPage(
    c,
    { title: 'Set a new password', status: state.complaints ? 422 : 200 },
    <article>
      <h1>Set a new password</h1>
      <form method="post" action="/console/reset" novalidate>
        <FormError state={state} />
        <input type="hidden" name="token" value={token} />
        <NewPasswordField
          label="New password"
          consequence="You will be signed out everywhere."
          state={state}
          autofocus
        />
        <Button>Set the password</Button>
      </form>
      <p class="aside">
        <a href="/console/forgot">Ask for a new link</a>
      </p>
    </article>,
  )
}

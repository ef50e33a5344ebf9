// Signing in and out, and setting a new password by a link in a mail.
import { Hono } from 'hono'
import { z } from 'zod'
import { authOf, MAX_PASSWORD_LENGTH, authErrorCodeOf } from '../../accounts/auth.ts'
import { GRACE_PERIOD_DAYS } from '../../accounts/grace-period.ts'
import { findReset, resetPassword } from '../../accounts/passwords.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { safeReturnTo } from '../return-to.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { email, password } from '../fields.ts'
import {
  ActionForm,
  Button,
  Field,
  FormError,
  NewPasswordField,
  Notice,
  readForm,
} from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import { attemptSignIn, limitMail, mailRequired } from '../middleware/throttle.tsx'
import { DevMailbox } from './mailbox.tsx'
import {
  completeSignIn,
  findPerson,
  forgetOrganisation,
  forwardCookies,
} from '../middleware/session.ts'

const SignIn = z.object({
  email,
  password: z.string().min(1, 'Enter your password.').max(MAX_PASSWORD_LENGTH, 'This is too long.'),
  next: z.string().optional(),
})

export const signIn = new Hono<ConsoleApp>()
  .get('/sign-in', async (c) => {
    const next = safeReturnTo(c.req.query('next'))
    if (await findPerson(c)) return c.redirect(next ?? '/console', 303)
    return signInPage(c, next)
  })
  .post('/sign-in', async (c) => {
    const form = await readForm(c, SignIn)
    if (!form.ok) return signInPage(c, safeReturnTo(form.entered['next']), form, 422)
    const { next, ...body } = form.value
    const attempt = await attemptSignIn(c, body.email)
    if (!attempt.ok) return attempt.page
    const requireSession = await authOf(c.env, baseUrlOf(c))
      .api.signInEmail({ body, headers: c.req.raw.headers, returnHeaders: true })
      .catch((error: unknown) => ({ error }))
    const rejection = 'error' in requireSession ? authErrorCodeOf(requireSession.error) : undefined
    if (rejection === 'INVALID_EMAIL_OR_PASSWORD' || rejection === 'INVALID_EMAIL') {
      const complaints = { '': 'The email address or the password is wrong.' }
      return signInPage(c, safeReturnTo(next), { complaints, entered: { email: body.email } }, 401)
    }
    await attempt.notAFailure()
    if (rejection === 'EMAIL_NOT_VERIFIED') return notVerifiedPage(c, body.email)
    if ('error' in requireSession) throw requireSession.error
    await completeSignIn(c, requireSession.response.user, requireSession.headers)
    return c.redirect(safeReturnTo(next) ?? '/console', 303)
  })
  .post('/sign-out', async (c) => {
    const { headers } = await authOf(c.env, baseUrlOf(c)).api.signOut({
      headers: c.req.raw.headers,
      returnHeaders: true,
    })
    forwardCookies(c, headers)
    forgetOrganisation(c)
    const { next } = await c.req.parseBody()
    const page = typeof next === 'string' ? safeReturnTo(next) : null
    return c.redirect(page ?? '/console/sign-in', 303)
  })

  .get('/forgot', mailRequired, (c) => forgotPage(c))
  .post('/forgot', mailRequired, async (c) => {
    // Sent by the button on the sign-in page: only the address is taken over.
    const { from_sign_in: fromSignIn, email: entered } = await c.req.parseBody()
    if (fromSignIn !== undefined) {
      return forgotPage(c, { entered: { email: typeof entered === 'string' ? entered : '' } })
    }
    const form = await readForm(c, z.object({ email }))
    if (!form.ok) return forgotPage(c, form)
    const tooMany = await limitMail(c, 'reset', form.value.email)
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

  .get('/reset', async (c) => {
    const token = c.req.query('token') ?? ''
    return (await findReset(c.env, token)) ? resetPage(c, token) : closedResetPage(c)
  })
  .post('/reset', async (c) => {
    const form = await readForm(c, z.object({ password, token: z.string() }))
    if (!form.ok) return resetPage(c, form.entered['token'] ?? '', form)
    const done = await resetPassword({ env: c.env, ...form.value })
    return done ? c.redirect('/console/sign-in?reset=1', 303) : closedResetPage(c)
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
        <Notice kind="good">Your email address is already verified. Sign in to continue.</Notice>
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
      <form method="post" action="/console/sign-in" id="sign-in" novalidate>
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
        {/* Submits the form above, which takes the address along without putting it into a URL. */}
        <button
          type="submit"
          class="link"
          form="sign-in"
          formaction="/console/forgot"
          name="from_sign_in"
        >
          Forgot your password?
        </button>
        <span>
          New here? <a href="/console/sign-up">Create an account</a>
        </span>
      </p>
    </article>,
  )
}

/** Shown only after the right password, so that it does not reveal which addresses have an account. */
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

const closedResetPage = (c: ConsoleContext) =>
  guestPage(
    c,
    { title: 'Link expired', status: 403 },
    <article>
      <h1>This link does not work</h1>
      <p>It was used, replaced or is older than an hour. Request a new one.</p>
      <a href="/console/forgot" role="button">
        Send a new link
      </a>
    </article>,
  )

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

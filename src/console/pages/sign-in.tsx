// Signing in and out.
import { Hono } from 'hono'
import { z } from 'zod'
import { authOf, authErrorCodeOf } from '../../accounts/auth.ts'
import { GRACE_PERIOD_DAYS } from '../../accounts/grace-period.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { ActionForm, Button, CurrentPasswordField, Field, FormError } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import { Notice } from '../components/notice.tsx'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { currentPassword, email } from '../fields.ts'
import {
  completeSignIn,
  findSessionUser,
  forgetOrganisation,
  forwardCookies,
} from '../middleware/session.ts'
import { attemptSignIn } from '../middleware/throttle.tsx'
import { readForm } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { safeReturnTo } from '../return-to.ts'

const SignIn = z.object({ email, password: currentPassword, next: z.string().optional() })

export const signIn = new Hono<ConsoleApp>()
  .get('/sign-in', async (c) => {
    const next = safeReturnTo(c.req.query('next'))
    if (await findSessionUser(c)) return c.redirect(next ?? '/console', 303)
    return signInPage(c, next)
  })
  .post('/sign-in', async (c) => {
    const form = await readForm(c, SignIn)
    if (!form.ok) return signInPage(c, safeReturnTo(form.values['next']), form, 422)
    const { next, ...body } = form.data
    const attempt = await attemptSignIn(c, body.email)
    if (!attempt.ok) return attempt.response
    const result = await authOf(c.env, baseUrlOf(c))
      .api.signInEmail({ body, headers: c.req.raw.headers, returnHeaders: true })
      .catch((error: unknown) => ({ error }))
    const rejection = 'error' in result ? authErrorCodeOf(result.error) : undefined
    if (rejection === 'INVALID_EMAIL_OR_PASSWORD' || rejection === 'INVALID_EMAIL') {
      const errors = { '': 'Incorrect email address or password.' }
      return signInPage(c, safeReturnTo(next), { errors, values: { email: body.email } }, 401)
    }
    await attempt.undo()
    if (rejection === 'EMAIL_NOT_VERIFIED') return notVerifiedPage(c, body.email)
    if ('error' in result) throw result.error
    await completeSignIn(c, result.response.user, result.headers)
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

function signInPage(
  c: ConsoleContext,
  next: string | null,
  state: FormState = {},
  status: 200 | 401 | 422 = 200,
) {
  return guestPage(
    c,
    { title: 'Sign in', status },
    <article>
      <h1>Sign in</h1>
      {c.req.query('ended') && (
        <Notice kind="bad">Your session has ended. Your changes were not saved.</Notice>
      )}
      {c.req.query('verified') && (
        <Notice kind="good">Your email address is already verified. Sign in to continue.</Notice>
      )}
      {c.req.query('deleted') && (
        <Notice kind="good">
          Your account is scheduled for deletion and you have been signed out everywhere. To keep
          your account, sign in within {GRACE_PERIOD_DAYS} days.
        </Notice>
      )}
      {c.req.query('reset') && (
        <Notice kind="good">Password changed. You have been signed out everywhere.</Notice>
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
        <CurrentPasswordField label="Password" state={state} />
        <Button>Sign in</Button>
      </form>
      <p class="aside">
        {/* Submits the form above, so that the email address is passed on without being in a URL. */}
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
          New here? <a href="/console/sign-up">Create an account</a> or{' '}
          <a href="/pricing">see pricing</a>
        </span>
      </p>
    </article>,
  )
}

/** Shown only after the correct password, so that it does not reveal which addresses have an account. */
const notVerifiedPage = (c: ConsoleContext, address: string) =>
  guestPage(
    c,
    { title: 'Verify your email', status: 403 },
    <article>
      <h1>Your email address is not verified yet</h1>
      <p>
        Open the verification link that we sent to <strong>{address}</strong> when you signed up.
        The link is valid for one hour. If it has expired, request a new one.
      </p>
      <ActionForm
        action="/console/resend"
        label="Send verification link"
        kind="primary"
        fields={{ email: address }}
      />
      <p class="aside">
        <a href="/console/sign-in">Back to sign in</a>
      </p>
    </article>,
  )

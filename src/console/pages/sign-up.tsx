// Creating an account and verifying its email address with a link. The pages do not reveal whether an
// address already has an account; only the email does.
import { Hono } from 'hono'
import { getSignedCookie, setSignedCookie } from 'hono/cookie'
import { z } from 'zod'
import { FREE_CREDITS } from '../../domain/limits.ts'
import { authOf, authSecretOf } from '../../users/auth.ts'
import { passwordProblem } from '../../users/password-policy.ts'
import {
  findVerification,
  verifyAddress,
  verifyAddressWithPassword,
} from '../../users/passwords.ts'
import type { User } from '../../users/users.ts'
import { settingsOf } from '../../platform/settings.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { cookieOptions } from '../cookies.ts'
import { email, name, newPassword, workEmail } from '../fields.ts'
import { NewPasswordField } from '../components/credential-fields.tsx'
import { Button, Field, FormError } from '../components/form.tsx'
import { noticeOf, redirectWithNotice } from '../form-notices.ts'
import { readForm } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { guestPage } from '../components/layout.tsx'
import { limitMail, requireMailSetUp } from '../middleware/throttle.tsx'
import { DevMailboxNotice } from './dev-mailbox.tsx'
import { forgetOrganisation, startSession } from '../middleware/session.ts'
import { invalidLinkPage } from '../message-page.tsx'
import { Steps } from '../components/steps.tsx'

/**
 * The account that this browser created. In other browsers, the verification link requires a new
 * password. If the address already had an account, the cookie contains an ID that does not exist, so
 * that the response does not reveal it.
 */
const SIGN_UP_COOKIE = 'try-on.sign-up'
const HOUR_SECONDS = 60 * 60

const SignUp = (allowFree: boolean) =>
  z.object({ email: workEmail(allowFree), password: newPassword, organisation: name })

const PasswordForm = z.object({ password: newPassword })

export const signUp = new Hono<ConsoleApp>()
  .get('/sign-up', requireMailSetUp, (c) => signUpPage(c))
  .post('/sign-up', requireMailSetUp, async (c) => {
    const form = await readForm(c, SignUp(settingsOf(c.env).allowFreeEmail))
    if (!form.ok) return signUpPage(c, form)
    const { email: address, password, organisation } = form.data
    const problem = await passwordProblem({
      env: c.env,
      password,
      email: address,
      names: [organisation],
    })
    if (problem) {
      return signUpPage(c, {
        errors: { password: problem },
        values: { email: address, organisation },
      })
    }
    const tooMany = await limitMail(c, 'verification', address)
    if (tooMany) return tooMany
    const { user } = await authOf(c.env, baseUrlOf(c)).api.signUpEmail({
      body: {
        email: address,
        password,
        name: '',
        organisationName: organisation,
      },
      headers: c.req.raw.headers,
    })
    await rememberSignUp(c, { userId: user.id, email: address })
    // A previous user of this browser may not have signed out.
    forgetOrganisation(c)
    return c.redirect('/console/check-inbox', 303)
  })

  .get('/check-inbox', requireMailSetUp, (c) => checkInboxPage(c))
  .post('/resend', requireMailSetUp, async (c) => {
    const form = await readForm(c, z.object({ email }))
    if (!form.ok) return checkInboxPage(c, form)
    const tooMany = await limitMail(c, 'verification', form.data.email)
    if (tooMany) return tooMany
    await authOf(c.env, baseUrlOf(c)).api.sendVerificationEmail({ body: form.data })
    return redirectWithNotice(c, '/console/check-inbox', 'verification_sent')
  })
  .get('/resend', (c) => c.redirect('/console/check-inbox', 303))

  // Email scanners open links, so only the form verifies the address.
  .get('/verify', async (c) => {
    const token = c.req.query('token') ?? ''
    const link = await findVerification(c.env, token)
    if (link.state !== 'open') return invalidLink(c, link.state)
    return (await signedUpHere(c))?.userId === link.user.id
      ? confirmPage(c, link.user, token)
      : setPasswordPage(c, link.user, token)
  })
  .post('/verify', async (c) => {
    const { token: sent } = await c.req.parseBody()
    const token = typeof sent === 'string' ? sent : ''
    const link = await findVerification(c.env, token)
    if (link.state !== 'open') return invalidLink(c, link.state)
    const { user } = link
    let verified: boolean
    if ((await signedUpHere(c))?.userId === user.id) {
      verified = await verifyAddress(c.env, user.id)
    } else {
      const form = await readForm(c, PasswordForm)
      if (!form.ok) return setPasswordPage(c, user, token, form)
      const { password } = form.data
      const problem = await passwordProblem({ env: c.env, password, email: user.email })
      if (problem) return setPasswordPage(c, user, token, { errors: { password: problem } })
      verified = await verifyAddressWithPassword({ env: c.env, user, password })
    }
    if (!verified) return invalidLink(c, 'verified')
    await startSession(c, user, 'link')
    forgetOrganisation(c)
    return c.redirect('/console', 303)
  })

const SignUpCookie = z.object({ userId: z.string(), email: z.string() })

const rememberSignUp = (c: ConsoleContext, signedUp: z.infer<typeof SignUpCookie>) =>
  setSignedCookie(
    c,
    SIGN_UP_COOKIE,
    JSON.stringify(signedUp),
    authSecretOf(c.env),
    cookieOptions(c, HOUR_SECONDS),
  )

async function signedUpHere(c: ConsoleContext): Promise<z.infer<typeof SignUpCookie> | null> {
  const text = await getSignedCookie(c, authSecretOf(c.env), SIGN_UP_COOKIE)
  return text ? SignUpCookie.parse(JSON.parse(text)) : null
}

function invalidLink(c: ConsoleContext, state: 'invalid' | 'verified') {
  if (state === 'verified') return redirectWithNotice(c, '/console/sign-in', 'already_verified')
  return invalidLinkPage(c, 'Verification links are valid for one hour. Request a new one.', [
    '/console/check-inbox',
    'Request a new link',
  ])
}

const confirmPage = (c: ConsoleContext, user: User, token: string) =>
  guestPage(
    c,
    { title: 'Verify your email' },
    <article>
      <Steps current="email" />
      <h1>Verify your email</h1>
      <p>
        Confirm that <strong>{user.email}</strong> is your email address.
      </p>
      <form method="post" action="/console/verify">
        <input type="hidden" name="token" value={token} />
        <Button>Verify and continue</Button>
      </form>
    </article>,
  )

const setPasswordPage = (c: ConsoleContext, user: User, token: string, state: FormState = {}) =>
  guestPage(
    c,
    { title: 'Verify your email', status: state.errors ? 422 : 200 },
    <article>
      <Steps current="email" />
      <h1>Set your password</h1>
      <p>
        The sign-up took place in another browser. Set a password for <strong>{user.email}</strong>{' '}
        to verify the email address. It replaces the password from the sign-up form.
      </p>
      <form method="post" action="/console/verify" novalidate>
        <FormError state={state} />
        <input type="hidden" name="token" value={token} />
        <NewPasswordField state={state} autofocus />
        <Button>Verify and set password</Button>
      </form>
    </article>,
  )

/** States that a link was sent only if this browser signed up or requested a link. */
async function checkInboxPage(c: ConsoleContext, state: FormState = {}) {
  const address = (await signedUpHere(c))?.email
  const sent = noticeOf(c) === 'verification_sent'
  return guestPage(
    c,
    { title: 'Verify your email', status: state.errors ? 422 : 200 },
    <article>
      <Steps current="email" />
      <h1>{address || sent ? 'Check your inbox' : 'Verify your email'}</h1>
      {address && (
        <p>
          We sent a verification link to <strong>{address}</strong>. The link is valid for one hour.
        </p>
      )}
      {!address && !sent && (
        <p>Enter your email address and we will send you a verification link.</p>
      )}
      <DevMailboxNotice c={c} />
      <form method="post" action="/console/resend" novalidate>
        <Field
          name="email"
          label="Email"
          type="email"
          autocomplete="email"
          value={address}
          state={state}
        />
        <Button kind="secondary">{address || sent ? 'Resend link' : 'Send link'}</Button>
      </form>
    </article>,
  )
}

function signUpPage(c: ConsoleContext, state: FormState = {}) {
  return guestPage(
    c,
    { title: 'Sign up', status: state.errors ? 422 : 200 },
    <article>
      <Steps current="account" />
      <h1>Create your account</h1>
      <p class="lead">
        {FREE_CREDITS} free credits, no card required. <a href="/pricing">See pricing</a>
      </p>
      <form method="post" action="/console/sign-up" novalidate>
        <FormError state={state} />
        <Field
          name="email"
          label="Work email"
          type="email"
          autocomplete="email"
          state={state}
          autofocus
        />
        <NewPasswordField state={state} />
        <Field
          name="organisation"
          label="Organisation name"
          autocomplete="organization"
          state={state}
          maxlength={100}
        />
        <Button>Create account</Button>
      </form>
      <p class="aside">
        Already have an account? <a href="/console/sign-in">Sign in</a>
      </p>
    </article>,
  )
}

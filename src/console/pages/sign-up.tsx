// Creating an account: email, password and the name of the organisation, then the link in the mail.
// Only the mail says whether an address has an account already.
import { FREE_CREDITS } from '../../domain/limits.ts'
import { Hono } from 'hono'
import { getSignedCookie, setSignedCookie } from 'hono/cookie'
import { z } from 'zod'
import { authOf, authSecretOf } from '../../accounts/auth.ts'
import { isFreeEmail, nameOf } from '../../accounts/email-address.ts'
import {
  findVerification,
  verifyAddress,
  verifyAddressWithPassword,
} from '../../accounts/passwords.ts'
import type { User } from '../../accounts/users.ts'
import { settingsOf } from '../../settings.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { cookieOptions } from '../cookies.ts'
import { email, name, password } from '../fields.ts'
import {
  Button,
  Field,
  FormError,
  NewPasswordField,
  Notice,
  readForm,
} from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import { limitMail, mailRequired } from '../middleware/throttle.tsx'
import { DevMailbox } from './mailbox.tsx'
import { forgetOrganisation, startSession } from '../middleware/session.ts'
import { Steps } from '../components/steps.tsx'

/**
 * The account that this browser created. Only there does the mailed link keep the password of the
 * sign-up. Where the address had an account already, the cookie holds an id that does not exist, so
 * that the response does not show it.
 */
const SIGN_UP_COOKIE = 'try-on.sign-up'
const HOUR_SECONDS = 60 * 60

const workEmail = (allowFree: boolean) =>
  email.refine((address) => allowFree || !isFreeEmail(address), {
    error: 'Please use your work email; addresses of consumer mail services are not accepted.',
    abort: true,
  })

const SignUp = (allowFree: boolean) =>
  z.object({ email: workEmail(allowFree), password, organisation: name })

const VerifyWithPassword = z.object({ password })

export const signUp = new Hono<ConsoleApp>()
  .get('/sign-up', mailRequired, (c) => signUpPage(c))
  .post('/sign-up', mailRequired, async (c) => {
    const form = await readForm(c, SignUp(settingsOf(c.env).allowFreeEmail))
    if (!form.ok) return signUpPage(c, form)
    const tooMany = await limitMail(c, 'verification', form.value.email)
    if (tooMany) return tooMany
    const { email: address, password: chosen, organisation } = form.value
    const { user } = await authOf(c.env, baseUrlOf(c)).api.signUpEmail({
      body: {
        email: address,
        password: chosen,
        name: nameOf(address),
        organisationName: organisation,
      },
      headers: c.req.raw.headers,
    })
    await rememberSignUp(c, { userId: user.id, email: address })
    // The previous person may have left this browser without signing out.
    forgetOrganisation(c)
    return c.redirect('/console/check-inbox', 303)
  })

  .get('/check-inbox', mailRequired, (c) => checkInboxPage(c))
  .post('/resend', mailRequired, async (c) => {
    const form = await readForm(c, z.object({ email }))
    if (!form.ok) return checkInboxPage(c, form)
    const tooMany = await limitMail(c, 'verification', form.value.email)
    if (tooMany) return tooMany
    await authOf(c.env, baseUrlOf(c)).api.sendVerificationEmail({ body: form.value })
    return c.redirect('/console/check-inbox?sent=1', 303)
  })
  .get('/resend', (c) => c.redirect('/console/check-inbox', 303))

  // Mail scanners follow links: only the form verifies.
  .get('/verify', async (c) => {
    const token = c.req.query('token') ?? ''
    const link = await findVerification(c.env, token)
    if (link.state !== 'open') return closedLink(c, link.state)
    return (await signedUpHere(c))?.userId === link.user.id
      ? confirmPage(c, link.user, token)
      : setPasswordPage(c, link.user, token)
  })
  .post('/verify', async (c) => {
    const { token: sent } = await c.req.parseBody()
    const token = typeof sent === 'string' ? sent : ''
    const link = await findVerification(c.env, token)
    if (link.state !== 'open') return closedLink(c, link.state)
    const { user } = link
    let verified: boolean
    if ((await signedUpHere(c))?.userId === user.id) {
      verified = await verifyAddress(c.env, user.id)
    } else {
      const form = await readForm(c, VerifyWithPassword)
      if (!form.ok) return setPasswordPage(c, user, token, form)
      const { password: chosen } = form.value
      verified = await verifyAddressWithPassword({ env: c.env, user, password: chosen })
    }
    if (!verified) return closedLink(c, 'verified')
    await startSession(c, user)
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

function closedLink(c: ConsoleContext, state: 'invalid' | 'verified') {
  if (state === 'verified') return c.redirect('/console/sign-in?verified=1', 303)
  return guestPage(
    c,
    { title: 'Link expired', status: 403 },
    <article>
      <h1>This link does not work</h1>
      <p>It is incomplete or older than an hour. Request a new one.</p>
      <a href="/console/check-inbox" role="button">
        Send a new link
      </a>
    </article>,
  )
}

const confirmPage = (c: ConsoleContext, user: User, token: string) =>
  guestPage(
    c,
    { title: 'Verify your email' },
    <article>
      <Steps at="email" />
      <h1>Verify your email</h1>
      <p>
        Confirm that <strong>{user.email}</strong> is your address.
      </p>
      <form method="post" action="/console/verify">
        <input type="hidden" name="token" value={token} />
        <Button>Verify and continue</Button>
      </form>
    </article>,
  )

const setPasswordPage = (c: ConsoleContext, user: User, token: string, state: FieldState = {}) =>
  guestPage(
    c,
    { title: 'Verify your email', status: state.complaints ? 422 : 200 },
    <article>
      <Steps at="email" />
      <h1>Set your password</h1>
      <p>
        You did not sign up in this browser. Set the password of <strong>{user.email}</strong> here
        to verify the address. It replaces the one that was entered at sign-up.
      </p>
      <form method="post" action="/console/verify" novalidate>
        <FormError state={state} />
        <input type="hidden" name="token" value={token} />
        <NewPasswordField state={state} autofocus />
        <Button>Verify and set the password</Button>
      </form>
    </article>,
  )

/** Says that a link was sent only in a browser that has just signed up, or has requested a link. */
async function checkInboxPage(c: ConsoleContext, state: FieldState = {}) {
  const address = (await signedUpHere(c))?.email
  const sent = c.req.query('sent') !== undefined
  return guestPage(
    c,
    { title: 'Verify your email', status: state.complaints ? 422 : 200 },
    <article>
      <Steps at="email" />
      <h1>{address || sent ? 'Check your inbox' : 'Verify your email'}</h1>
      {address && (
        <p>
          We have sent a link to <strong>{address}</strong>. Open it within an hour to verify your
          address.
        </p>
      )}
      {!address && !sent && <p>We mail you a link that verifies your address.</p>}
      <DevMailbox c={c} />
      {sent && <Notice kind="good">If the address needs it, a new link is on its way.</Notice>}
      <form method="post" action="/console/resend" novalidate>
        <Field
          name="email"
          label={address || sent ? 'No mail? Send it again to' : 'Send the link to'}
          type="email"
          autocomplete="email"
          value={address}
          state={state}
        />
        <Button kind="secondary">
          {address || sent ? 'Send the link again' : 'Send the link'}
        </Button>
      </form>
    </article>,
  )
}

function signUpPage(c: ConsoleContext, state: FieldState = {}) {
  return guestPage(
    c,
    { title: 'Sign up', status: state.complaints ? 422 : 200 },
    <article>
      <Steps at="account" />
      <h1>Create your account</h1>
      <p class="lead">{FREE_CREDITS} free credits, no card required.</p>
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
        Have an account? <a href="/console/sign-in">Sign in</a>
      </p>
    </article>,
  )
}

// Creating an account: email, password and the name of the organisation, then the link in the mail.
// Whether an address is known already is told by mail alone.
import { Hono } from 'hono'
import { getSignedCookie, setSignedCookie } from 'hono/cookie'
import { decodeJwt } from 'jose'
import { z } from 'zod'
import { authOf, authSecretOf, isBadLink } from '../accounts/auth.ts'
import { findInvitation } from '../accounts/members.ts'
import type { OpenInvitation } from '../accounts/members.ts'
import { isFreeEmail } from '../accounts/work-email.ts'
import { FREE_CREDITS, settingsOf } from '../settings.ts'
import { baseUrlOf } from '../api/base-url.ts'
import type { ConsoleApp, ConsoleContext } from './context.ts'
import { email, name, password } from './fields.ts'
import { Button, Field, FormError, NewPasswordField, Notice, readForm } from './form.tsx'
import type { FieldState } from './form.tsx'
import { guestPage } from './layout.tsx'
import { mayMail } from './limits.tsx'
import { DevMailbox } from './mailbox.tsx'
import { forgetOrganisation, forwardCookies } from './session.ts'
import { Steps } from './steps.tsx'

/** Who signed up in this browser: only there does the link in the mail sign in as well. */
const SIGN_UP_COOKIE = 'try-on.sign-up'
const HOUR_SECONDS = 60 * 60

const workEmail = (allowFree: boolean) =>
  email.refine((address) => allowFree || !isFreeEmail(address), {
    error: 'Please use your work email; addresses of consumer mail services are not accepted.',
    abort: true,
  })

const SignUp = (allowFree: boolean) =>
  z.object({ email: workEmail(allowFree), password, organisation: name })

const InvitedSignUp = z.object({ password, invitation: z.string() })

export const signUp = new Hono<ConsoleApp>()
  .get('/sign-up', async (c) => {
    const token = c.req.query('invitation')
    const invited = token ? await findInvitation(c.env, token) : undefined
    return token && invited ? invitedPage(c, { ...invited, token }) : signUpPage(c)
  })
  .post('/sign-up', async (c) => {
    const { invitation: token } = await c.req.parseBody()
    const invited = typeof token === 'string' ? await findInvitation(c.env, token) : undefined
    if (invited && typeof token === 'string') {
      const form = await readForm(c, InvitedSignUp)
      if (!form.ok) return invitedPage(c, { ...invited, token }, form)
      // The organisation vouches for the address that it invited, and for no other.
      const address = invited.invitation.email
      return register(c, { email: address, password: form.value.password })
    }
    const form = await readForm(c, SignUp(settingsOf(c.env).allowFreeEmail))
    if (!form.ok) return signUpPage(c, form)
    return register(c, form.value)
  })

  .get('/check-inbox', (c) => checkInboxPage(c))
  .post('/resend', async (c) => {
    const form = await readForm(c, z.object({ email }))
    if (!form.ok) return checkInboxPage(c, form)
    const tooMany = await mayMail(c, form.value.email)
    if (tooMany) return tooMany
    await authOf(c.env, baseUrlOf(c)).api.sendVerificationEmail({ body: form.value })
    return c.redirect('/console/check-inbox?sent=1', 303)
  })
  .get('/resend', (c) => c.redirect('/console/check-inbox', 303))

  .get('/verify', async (c) => {
    const token = c.req.query('token') ?? ''
    const auth = authOf(c.env, baseUrlOf(c))
    const verified = await auth.api
      .verifyEmail({ query: { token }, headers: new Headers(), returnHeaders: true })
      .catch((error: unknown) => {
        if (isBadLink(error)) return null
        throw error
      })
    if (!verified) {
      return guestPage(
        c,
        { title: 'Link expired', status: 403 },
        <article>
          <h1>This link does not work</h1>
          <p>It is incomplete or older than an hour. Have a new one sent to you.</p>
          <a href="/console/check-inbox" role="button">
            Send a new link
          </a>
        </article>,
      )
    }
    const cookies = verified.headers.getSetCookie()
    if (cookies.length > 0 && (await signedUpHere(c)) === decodeJwt(token)['email']) {
      forwardCookies(c, verified.headers)
      return c.redirect('/console', 303)
    }
    // Somebody else may have signed up with this address and a password of theirs. Whoever owns the
    // address proves here that they know the password, or sets a new one.
    if (cookies.length > 0) {
      const cookie = cookies.map((line) => line.split(';', 1)[0]).join('; ')
      await auth.api.signOut({ headers: new Headers({ Cookie: cookie }) })
    }
    return c.redirect('/console/sign-in?verified=1', 303)
  })

async function register(
  c: ConsoleContext,
  account: { email: string; password: string; organisation?: string },
) {
  const tooMany = await mayMail(c, account.email)
  if (tooMany) return tooMany
  await authOf(c.env, baseUrlOf(c)).api.signUpEmail({
    body: {
      email: account.email,
      password: account.password,
      name: account.email.slice(0, account.email.lastIndexOf('@')),
      ...(account.organisation !== undefined && { organisationName: account.organisation }),
    },
    headers: c.req.raw.headers,
  })
  await setSignedCookie(c, SIGN_UP_COOKIE, account.email, authSecretOf(c.env), {
    path: '/console',
    httpOnly: true,
    sameSite: 'Lax',
    secure: baseUrlOf(c).startsWith('https:'),
    maxAge: HOUR_SECONDS,
  })
  // Who was there before in this browser has gone without signing out.
  forgetOrganisation(c)
  const invited = account.organisation === undefined
  return c.redirect(`/console/check-inbox${invited ? '?invited=1' : ''}`, 303)
}

const signedUpHere = async (c: ConsoleContext): Promise<string | null> =>
  (await getSignedCookie(c, authSecretOf(c.env), SIGN_UP_COOKIE)) || null

/** An account for joining an organisation: there is nothing to name, and nothing is given. */
function invitedPage(
  c: ConsoleContext,
  { invitation, organisation, token }: OpenInvitation & { token: string },
  state: FieldState = {},
) {
  return guestPage(
    c,
    { title: `Join ${organisation.name}`, status: state.complaints ? 422 : 200 },
    <article>
      <h1>Join {organisation.name}</h1>
      <p>
        Create your account for <strong>{invitation.email}</strong>, the address that was invited.
        We then mail you a link that verifies it, and you can join as {invitation.role}.
      </p>
      <form method="post" action="/console/sign-up" novalidate>
        <FormError state={state} />
        <input type="hidden" name="invitation" value={token} />
        <NewPasswordField state={state} autofocus />
        <Button>Create account</Button>
      </form>
      <p class="aside">
        Have an account? <a href="/console/sign-in?next=/console/invitations">Sign in</a>
      </p>
    </article>,
  )
}

/** Claims that a link was sent only to whoever has just signed up here, or asked for another. */
async function checkInboxPage(c: ConsoleContext, state: FieldState = {}) {
  const address = await signedUpHere(c)
  const sent = c.req.query('sent') !== undefined
  return guestPage(
    c,
    { title: 'Verify your email', status: state.complaints ? 422 : 200 },
    <article>
      {c.req.query('invited') ? null : <Steps at="email" />}
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
          value={address ?? undefined}
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

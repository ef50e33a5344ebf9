// Creating an account and verifying its email address with a link. The pages do not reveal whether an
// address already has an account; only the email does.
import { z } from 'zod'
import { FREE_CREDITS } from '../../domain/limits.ts'
import { passwordProblem } from '../../users/password-policy.ts'
import {
  findVerification,
  verifyAddress,
  verifyAddressWithPassword,
} from '../../users/passwords.ts'
import type { User } from '../../users/users.ts'
import { settingsOf } from '../../platform/settings.ts'
import { authApi, createApp, type ConsoleContext } from '../console-context.ts'
import { signedCookie } from '../cookies.ts'
import { email, name, newPassword, pageWith, workEmail, readForm, textIn } from '../forms.ts'
import { NewPasswordField } from '../components/credential-fields.tsx'
import { Button, Field, OrganisationNameField, PostForm } from '../components/form.tsx'
import { noticeOf, redirectWithNotice } from '../form-notices.ts'
import { cardPage } from '../components/layout.tsx'
import { limitMail, requireMailSetUp } from '../middleware/throttle.tsx'
import { DevMailboxNotice } from './dev-mailbox.tsx'
import { forgetOrganisation, startSession } from '../middleware/session.ts'
import { invalidLinkPage } from '../error-pages.tsx'

const SIGN_UP_SECONDS = 60 * 60

/**
 * The account that this browser created. In other browsers, the verification link requires a new
 * password. If the address already had an account, the cookie contains an ID that does not exist, so
 * that the response does not reveal it.
 */
const signUpCookie = signedCookie(
  'try-on.sign-up',
  SIGN_UP_SECONDS,
  z.object({ userId: z.string(), email: z.string() }),
)

export const signUp = createApp()
  .get('/sign-up', requireMailSetUp, (c) => signUpPage(c))
  .post('/sign-up', requireMailSetUp, async (c) => {
    const workAddress = workEmail(settingsOf(c.env).allowFreeEmail)
    const schema = z.object({ email: workAddress, password: newPassword, organisation: name })
    const { password, ...values } = await readForm(c, schema, signUpPage)
    const { email: address, organisation } = values
    const names = [organisation]
    const problem = await passwordProblem({ env: c.env, password, email: address, names })
    if (problem) return pageWith(c, signUpPage, { errors: { password: problem }, values })
    await limitMail(c, 'verification', address)
    const { user } = await authApi(c).signUpEmail({
      body: { email: address, password, name: '', organisationName: organisation },
      headers: c.req.raw.headers,
    })
    await signUpCookie.set(c, { userId: user.id, email: address })
    // A previous user of this browser may not have signed out.
    forgetOrganisation(c)
    return c.redirect('/console/check-inbox', 303)
  })

  .get('/check-inbox', requireMailSetUp, (c) => checkInboxPage(c))
  .post('/resend', requireMailSetUp, async (c) => {
    const body = await readForm(c, z.object({ email }), checkInboxPage)
    await limitMail(c, 'verification', body.email)
    await authApi(c).sendVerificationEmail({ body })
    return redirectWithNotice(c, '/console/check-inbox', 'verification_sent')
  })
  .get('/resend', (c) => c.redirect('/console/check-inbox', 303))

  // Email scanners open links, so only the form verifies the address.
  .get('/verify', async (c) => {
    const token = c.req.query('token') ?? ''
    const link = await findVerification(c.env, token)
    if (link.state !== 'open') return invalidLink(c, link.state)
    return (await signUpCookie.read(c))?.userId === link.user.id
      ? confirmPage(c, link.user, token)
      : setPasswordPage(c, link.user, token)
  })
  .post('/verify', async (c) => {
    const token = await textIn(c, 'token')
    const link = await findVerification(c.env, token)
    if (link.state !== 'open') return invalidLink(c, link.state)
    const { user } = link
    let verified: boolean
    if ((await signUpCookie.read(c))?.userId === user.id) {
      verified = await verifyAddress(c.env, user.id)
    } else {
      const page = () => setPasswordPage(c, user, token)
      const { password } = await readForm(c, z.object({ password: newPassword }), page)
      const problem = await passwordProblem({ env: c.env, password, email: user.email })
      if (problem) return pageWith(c, page, { errors: { password: problem } })
      verified = await verifyAddressWithPassword({ env: c.env, user, password })
    }
    if (!verified) return invalidLink(c, 'verified')
    await startSession(c, user, 'link')
    forgetOrganisation(c)
    return c.redirect('/console', 303)
  })

function invalidLink(c: ConsoleContext, state: 'invalid' | 'verified') {
  if (state === 'verified') return redirectWithNotice(c, '/console/sign-in', 'already_verified')
  const message = 'Verification links are valid for one hour. Request a new one.'
  return invalidLinkPage(c, message, ['/console/check-inbox', 'Request a new link'])
}

const confirmPage = (c: ConsoleContext, user: User, token: string) =>
  cardPage(
    { c, title: 'Verify your email', step: 'email' },
    <>
      <p>
        Confirm that <strong>{user.email}</strong> is your email address.
      </p>
      <PostForm action="/console/verify" fields={{ token }}>
        <Button>Verify and continue</Button>
      </PostForm>
    </>,
  )

const setPasswordPage = (c: ConsoleContext, user: User, token: string) =>
  cardPage(
    { c, title: 'Verify your email', heading: 'Set your password', step: 'email' },
    <>
      <p>
        The sign-up took place in another browser. Set a password for <strong>{user.email}</strong>{' '}
        to verify the email address. It replaces the password from the sign-up form.
      </p>
      <PostForm action="/console/verify" fields={{ token }}>
        <NewPasswordField autofocus />
        <Button>Verify and set password</Button>
      </PostForm>
    </>,
  )

/** States that a link was sent only if this browser signed up or requested a link. */
async function checkInboxPage(c: ConsoleContext) {
  const address = (await signUpCookie.read(c))?.email
  const isSent = address !== undefined || noticeOf(c) === 'verification_sent'
  const title = 'Verify your email'
  return cardPage(
    { c, title, heading: isSent ? 'Check your inbox' : title, step: 'email' },
    <>
      {address && (
        <p>
          We sent a verification link to <strong>{address}</strong>. The link is valid for one hour.
        </p>
      )}
      {!isSent && <p>Enter your email address and we will send you a verification link.</p>}
      <DevMailboxNotice c={c} />
      <PostForm action="/console/resend">
        <Field name="email" label="Email" type="email" autocomplete="email" value={address} />
        <Button kind="secondary">{isSent ? 'Resend link' : 'Send link'}</Button>
      </PostForm>
    </>,
  )
}

const signUpPage = (c: ConsoleContext) =>
  cardPage(
    { c, title: 'Sign up', heading: 'Create your account', step: 'account' },
    <>
      <p class="muted">
        {FREE_CREDITS} free credits, no card required. <a href="/pricing">See pricing</a>
      </p>
      <PostForm action="/console/sign-up">
        <Field name="email" label="Work email" type="email" autocomplete="email" autofocus />
        <NewPasswordField />
        <OrganisationNameField name="organisation" />
        <Button>Create account</Button>
      </PostForm>
      <p class="aside">
        Already have an account? <a href="/console/sign-in">Sign in</a>
      </p>
    </>,
  )

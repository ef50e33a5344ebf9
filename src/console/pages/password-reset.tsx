// Resetting a forgotten password with a link that is sent by email.
import { z } from 'zod'
import { passwordProblem } from '../../users/password-policy.ts'
import { findReset, resetPassword } from '../../users/passwords.ts'
import { DevMailboxNotice } from './dev-mailbox.tsx'
import { NewPasswordField } from '../components/credential-fields.tsx'
import { Button, Field, PostForm } from '../components/form.tsx'
import { cardPage } from '../components/layout.tsx'
import { email, newPassword, pageWith, readForm, textIn } from '../forms.ts'
import { authApi, createApp, ipAddressOf, type ConsoleContext } from '../console-context.ts'
import { limitMail, requireMailSetUp } from '../middleware/throttle.tsx'
import { trustBrowser } from '../middleware/trusted-browser.ts'
import { redirectWithNotice } from '../form-notices.ts'
import { invalidLinkPage } from '../error-pages.tsx'
import { sendSecurityEmail } from '../send-security-mail.ts'

export const passwordReset = createApp()
  .get('/forgot', requireMailSetUp, (c) => forgotPage(c))
  .post('/forgot', requireMailSetUp, async (c) => {
    // The button on the sign-in page posts here to fill in the email address. It requests no link.
    const { from_sign_in: fromSignIn } = await c.req.parseBody()
    if (fromSignIn !== undefined) {
      return pageWith(c, forgotPage, { values: { email: await textIn(c, 'email') } })
    }
    const body = await readForm(c, z.object({ email }), forgotPage)
    await limitMail(c, 'reset', body.email)
    await authApi(c).requestPasswordReset({ body })
    return linkSentPage(c, body.email)
  })

  .get('/reset', async (c) => {
    const token = c.req.query('token') ?? ''
    return (await findReset(c.env, token)) ? resetPage(c, token) : invalidPage(c)
  })
  .post('/reset', async (c) => {
    const token = await textIn(c, 'token')
    const page = () => resetPage(c, token)
    const { password } = await readForm(c, z.object({ password: newPassword }), page)
    const reset = await findReset(c.env, token)
    if (!reset) return invalidPage(c)
    const problem = await passwordProblem({ env: c.env, password, email: reset.email })
    if (problem) return pageWith(c, page, { errors: { password: problem } })
    const isReset = await resetPassword({ env: c.env, token, password, ipAddress: ipAddressOf(c) })
    if (!isReset) return invalidPage(c)
    // The link proves that the mailbox is theirs: they can sign in while others try passwords.
    await trustBrowser(c, reset.userId)
    sendSecurityEmail(c, reset.email, 'password_changed')
    return redirectWithNotice(c, '/console/sign-in', 'password_reset')
  })

const forgotPage = (c: ConsoleContext) =>
  cardPage(
    { c, title: 'Reset your password', aside: [['/console/sign-in', 'Back to sign in']] },
    <>
      <p>Enter your email address and we will send you a link to reset your password.</p>
      <PostForm action="/console/forgot">
        <Field name="email" label="Email" type="email" autocomplete="email" autofocus />
        <Button>Send reset link</Button>
      </PostForm>
    </>,
  )

/** The same page with and without an account, so that it does not reveal which addresses have one. */
const linkSentPage = (c: ConsoleContext, address: string) =>
  cardPage(
    { c, title: 'Check your inbox' },
    <>
      <p>
        If an account exists for <strong>{address}</strong>, we sent a link to reset its password.
        The link is valid for one hour.
      </p>
      <DevMailboxNotice c={c} />
    </>,
  )

const invalidPage = (c: ConsoleContext) =>
  invalidLinkPage(
    c,
    'Reset links are valid for one hour and can be used once. Request a new one.',
    ['/console/forgot', 'Request a new link'],
  )

const resetPage = (c: ConsoleContext, token: string) =>
  cardPage(
    { c, title: 'Set a new password', aside: [['/console/forgot', 'Request a new link']] },
    <PostForm action="/console/reset" fields={{ token }}>
      <NewPasswordField
        label="New password"
        consequence="You will be signed out everywhere."
        autofocus
      />
      <Button>Set password</Button>
    </PostForm>,
  )

// The forms of the account page: name, password, email address, sessions and passkeys.
import { Hono } from 'hono'
import { z } from 'zod'
import { requestEmailChange } from '../../users/email-change.ts'
import { passwordProblem } from '../../users/password-policy.ts'
import { changePassword } from '../../users/passwords.ts'
import { revokeSessions } from '../../users/sessions.ts'
import { changeName } from '../../users/users.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { settingsOf } from '../../platform/settings.ts'
import { confirmIdentity } from '../confirm-identity.tsx'
import type { ConsoleApp } from '../console-context.ts'
import { currentPassword, displayName, newPassword, workEmail } from '../fields.ts'
import { requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { actorOf, startSession } from '../middleware/session.ts'
import { limitMail, requireMailSetUp } from '../middleware/throttle.tsx'
import { redirectWithNotice } from '../form-notices.ts'
import { readForm } from '../read-form.ts'
import { sendSecurityEmail } from '../send-security-mail.ts'
import { ACCOUNT_PAGE, accountPage } from './account-page.tsx'
import { accountPasskeys } from './account-passkeys.tsx'
import { twoFactor } from './two-factor-pages.tsx'

const PasswordChange = z.object({ current: currentPassword, password: newPassword })

export const account = new Hono<ConsoleApp>()
  .route('/two-factor', twoFactor)
  .route('/passkeys', accountPasskeys)
  .get('/', (c) => accountPage(c))
  // The actions of forms, whose pages are the account page.
  .get('/:form{name|email|password}', (c) => c.redirect(ACCOUNT_PAGE, 303))

  .post('/name', async (c) => {
    const form = await readForm(c, z.object({ display_name: displayName }))
    if (!form.ok) return accountPage(c, form)
    const { display_name: name } = form.data
    if (name !== c.var.user.name) await changeName({ env: c.env, actor: actorOf(c), name })
    return redirectWithNotice(c, ACCOUNT_PAGE, 'name_saved')
  })

  .post('/password', async (c) => {
    const form = await readForm(c, PasswordChange)
    if (!form.ok) return accountPage(c, form)
    const { id, email } = c.var.user
    const { password } = form.data
    const names = c.var.memberships.map(({ organisation }) => organisation.name)
    const problem = await passwordProblem({ env: c.env, password, email, names })
    if (problem) return accountPage(c, { errors: { password: problem } })
    // The new session counts as recent, so it requires the same proof as a confirmation.
    const confirmed = await confirmIdentity(c, '', 'current')
    if (confirmed instanceof Response) return confirmed
    if ('errors' in confirmed) return accountPage(c, confirmed)
    await changePassword({ env: c.env, actor: actorOf(c), password })
    sendSecurityEmail(c, email, 'password_changed')
    await startSession(c, { id, email }, confirmed.method)
    return redirectWithNotice(c, `${ACCOUNT_PAGE}#security`, 'password_changed')
  })

  .post('/email', requireMailSetUp, requireRecentSignIn, async (c) => {
    const form = await readForm(c, z.object({ email: workEmail(settingsOf(c.env).allowFreeEmail) }))
    if (!form.ok) return accountPage(c, form)
    const { email } = form.data
    if (email === c.var.user.email) {
      const errors = { email: 'This is your current email address.' }
      return accountPage(c, { errors, values: { email } })
    }
    const tooMany = await limitMail(c, 'address-change', email)
    if (tooMany) return tooMany
    await requestEmailChange({ env: c.env, actor: actorOf(c), email, baseUrl: baseUrlOf(c) })
    return redirectWithNotice(c, ACCOUNT_PAGE, 'email_change_sent')
  })

  .post('/sessions/sign-out-others', async (c) => {
    const which = { except: c.var.user.sessionId }
    await revokeSessions({ env: c.env, actor: actorOf(c), which })
    return redirectWithNotice(c, `${ACCOUNT_PAGE}#security`, 'sessions_signed_out')
  })
  .post('/sessions/:sessionId/sign-out', async (c) => {
    const which = { id: c.req.param('sessionId') }
    await revokeSessions({ env: c.env, actor: actorOf(c), which })
    return redirectWithNotice(c, `${ACCOUNT_PAGE}#security`, 'session_signed_out')
  })
  .post('/sign-out-everywhere', async (c) => {
    await revokeSessions({ env: c.env, actor: actorOf(c), which: 'all' })
    return c.redirect('/console/sign-in', 303)
  })

// The forms of the account page: name, password, email address, sessions, passkeys and notifications.
import { z } from 'zod'
import { AppError } from '../../domain/errors.ts'
import { requestEmailChange } from '../../users/email-change.ts'
import { updatePreferences } from '../../users/notification-preferences.ts'
import {
  addPasskey,
  assertionOptions,
  listPasskeys,
  MAX_PASSKEYS,
  registrationOptions,
  removePasskey,
  renamePasskey,
} from '../../users/passkeys.ts'
import { passwordProblem } from '../../users/password-policy.ts'
import { changePassword } from '../../users/passwords.ts'
import { revokeSessions } from '../../users/sessions.ts'
import { changeName } from '../../users/users.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { settingsOf } from '../../platform/settings.ts'
import { confirmIdentity } from '../confirm-identity.tsx'
import {
  currentPassword,
  displayName,
  name,
  newPassword,
  pageWith,
  workEmail,
  readForm,
} from '../forms.ts'
import { requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { startSession } from '../middleware/session.ts'
import { createApp, requestOf, type ConsoleContext } from '../console-context.ts'
import { limitMail, requireMailSetUp } from '../middleware/throttle.tsx'
import { redirectWithNotice, type NoticeName } from '../form-notices.ts'
import { setPasskeyChallenge, takePasskeyChallenge } from '../passkey-challenge.ts'
import { sendSecurityEmail } from '../send-security-mail.ts'
import { accountPage } from './account-page.tsx'
import { twoFactor } from './two-factor-pages.tsx'

const PAGE = '/console/account'
const NewPasskey = z.object({ passkey_name: name, credential: z.string() })
const PasswordChange = z.object({ current: currentPassword, password: newPassword })
const PASSKEY_PROBLEMS = {
  expired: 'The request has expired. Add the passkey again.',
  rejected: 'The passkey was not accepted. Add it again.',
  too_many: `You can have at most ${MAX_PASSKEYS} passkeys, each of them once.`,
}

/** Shows a tab of the page. */
const showTab = (c: ConsoleContext, tab: string, notice: NoticeName) =>
  redirectWithNotice(c, `${PAGE}#${tab}`, notice)

const passkeys = createApp()
  .get('/', (c) => c.redirect(PAGE, 303))
  .get('/:passkeyId/:form', (c) => c.redirect(PAGE, 303))

  .post('/options', async (c) => {
    const { user } = c.var
    const challenge = await setPasskeyChallenge(c, 'add', user.id)
    return c.json(await registrationOptions({ env: c.env, ...challenge, user }))
  })
  .post('/confirmation-options', async (c) => {
    const { id } = c.var.user
    const ids = (await listPasskeys(c.env, id)).map((passkey) => passkey.id)
    const challenge = await setPasskeyChallenge(c, 'confirm', id)
    return c.json(assertionOptions({ ...challenge, ids }))
  })

  .post('/', requireRecentSignIn, async (c) => {
    const { passkey_name: passkeyName, credential } = await readForm(c, NewPasskey, accountPage)
    const challenge = await takePasskeyChallenge(c, 'add', c.var.user.id)
    const result = challenge
      ? await addPasskey({ ...requestOf(c), ...challenge, name: passkeyName, credential })
      : 'expired'
    if (result !== 'added') {
      const errors = { credential: PASSKEY_PROBLEMS[result] }
      return pageWith(c, accountPage, { errors, values: { passkey_name: passkeyName } })
    }
    sendSecurityEmail(c, c.var.user.email, 'passkey_added')
    return showTab(c, 'security', 'passkey_added')
  })
  .post('/:passkeyId/rename', async (c) => {
    const form = await readForm(c, z.object({ name }), accountPage)
    const passkeyId = c.req.param('passkeyId')
    const isRenamed = await renamePasskey({ ...requestOf(c), passkeyId, ...form })
    if (!isRenamed) throw new AppError('not_found')
    return showTab(c, 'security', 'passkey_renamed')
  })
  .post('/:passkeyId/remove', requireRecentSignIn, async (c) => {
    const passkeyId = c.req.param('passkeyId')
    const isRemoved = await removePasskey({ ...requestOf(c), passkeyId })
    if (!isRemoved) throw new AppError('not_found')
    sendSecurityEmail(c, c.var.user.email, 'passkey_removed')
    return showTab(c, 'security', 'passkey_removed')
  })

export const account = createApp()
  .route('/two-factor', twoFactor)
  .route('/passkeys', passkeys)
  .get('/', (c) => accountPage(c))
  // The actions of forms, whose pages are the account page.
  .get('/:form{name|email|password|notifications}', (c) => c.redirect(PAGE, 303))

  .post('/name', async (c) => {
    const form = await readForm(c, z.object({ display_name: displayName }), accountPage)
    const newName = form.display_name
    if (newName !== c.var.user.name) await changeName({ ...requestOf(c), name: newName })
    return redirectWithNotice(c, PAGE, 'name_saved')
  })

  .post('/password', async (c) => {
    const { password } = await readForm(c, PasswordChange, accountPage)
    const { email } = c.var.user
    const names = c.var.memberships.map(({ organisation }) => organisation.name)
    const problem = await passwordProblem({ env: c.env, password, email, names })
    if (problem) return pageWith(c, accountPage, { errors: { password: problem } })
    // The new session counts as recent, so it requires the same proof as a confirmation.
    const method = await confirmIdentity(c, accountPage, { passwordName: 'current' })
    await changePassword({ ...requestOf(c), password })
    sendSecurityEmail(c, email, 'password_changed')
    await startSession(c, c.var.user, method)
    return showTab(c, 'security', 'password_changed')
  })

  .post('/email', requireMailSetUp, requireRecentSignIn, async (c) => {
    const schema = z.object({ email: workEmail(settingsOf(c.env).allowFreeEmail) })
    const { email } = await readForm(c, schema, accountPage)
    if (email === c.var.user.email) {
      const errors = { email: 'This is your current email address.' }
      return pageWith(c, accountPage, { errors, values: { email } })
    }
    await limitMail(c, 'address-change', email)
    await requestEmailChange({ ...requestOf(c), email, baseUrl: baseUrlOf(c) })
    return redirectWithNotice(c, PAGE, 'email_change_sent')
  })

  .post('/sessions/sign-out-others', async (c) => {
    await revokeSessions({ ...requestOf(c), which: { except: c.var.user.sessionId } })
    return showTab(c, 'security', 'sessions_signed_out')
  })
  .post('/sessions/:sessionId/sign-out', async (c) => {
    await revokeSessions({ ...requestOf(c), which: { id: c.req.param('sessionId') } })
    return showTab(c, 'security', 'session_signed_out')
  })
  .post('/sign-out-everywhere', async (c) => {
    await revokeSessions({ ...requestOf(c), which: 'all' })
    return c.redirect('/console/sign-in', 303)
  })

  .post('/notifications', async (c) => {
    const form = await c.req.formData()
    const on = new Set(form.getAll('on'))
    const choices = new Map(form.getAll('shown').map((name) => [String(name), on.has(name)]))
    await updatePreferences({ ...requestOf(c), choices })
    return showTab(c, 'notifications', 'notifications_saved')
  })

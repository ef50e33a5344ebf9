// Adds, renames and removes passkeys.
import { Hono } from 'hono'
import { z } from 'zod'
import {
  addPasskey,
  assertionOptions,
  listPasskeys,
  MAX_PASSKEYS,
  registrationOptions,
  removePasskey,
  renamePasskey,
} from '../../users/passkeys.ts'
import { AppError } from '../../domain/errors.ts'
import type { ConsoleApp } from '../console-context.ts'
import { name } from '../fields.ts'
import { requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { actorOf } from '../middleware/session.ts'
import { passkeyOrigin, setPasskeyChallenge, takePasskeyChallenge } from '../passkey-challenge.ts'
import { redirectWithNotice } from '../form-notices.ts'
import { readForm } from '../read-form.ts'
import { sendSecurityEmail } from '../send-security-mail.ts'
import { ACCOUNT_PAGE, accountPage } from './account-page.tsx'

const NewPasskey = z.object({ passkey_name: name, credential: z.string() })

export const accountPasskeys = new Hono<ConsoleApp>()
  .get('/', (c) => c.redirect(ACCOUNT_PAGE, 303))
  .get('/:passkeyId/:form', (c) => c.redirect(ACCOUNT_PAGE, 303))

  .post('/options', async (c) => {
    const { user } = c.var
    const challenge = await setPasskeyChallenge(c, 'add', user.id)
    const origin = passkeyOrigin(c)
    return c.json(await registrationOptions({ env: c.env, origin, challenge, user }))
  })
  .post('/confirmation-options', async (c) => {
    const { id } = c.var.user
    const ids = (await listPasskeys(c.env, id)).map((passkey) => passkey.id)
    const challenge = await setPasskeyChallenge(c, 'confirm', id)
    return c.json(assertionOptions({ origin: passkeyOrigin(c), challenge, ids }))
  })

  .post('/', requireRecentSignIn, async (c) => {
    const form = await readForm(c, NewPasskey)
    if (!form.ok) return accountPage(c, form)
    const { passkey_name: passkeyName, credential } = form.data
    const challenge = await takePasskeyChallenge(c, 'add', c.var.user.id)
    const result =
      challenge === undefined
        ? 'expired'
        : await addPasskey({
            env: c.env,
            actor: actorOf(c),
            name: passkeyName,
            origin: passkeyOrigin(c),
            challenge,
            credential,
          })
    if (result === 'added') {
      sendSecurityEmail(c, c.var.user.email, 'passkey_added')
      return redirectWithNotice(c, `${ACCOUNT_PAGE}#security`, 'passkey_added')
    }
    const errors = { credential: MESSAGES[result] }
    return accountPage(c, { errors, values: { passkey_name: passkeyName } })
  })

  .post('/:passkeyId/rename', async (c) => {
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return accountPage(c, { errors: { credential: form.errors['name'] ?? '' } })
    const passkeyId = c.req.param('passkeyId')
    const { name: newName } = form.data
    const isRenamed = await renamePasskey({
      env: c.env,
      actor: actorOf(c),
      passkeyId,
      name: newName,
    })
    if (!isRenamed) throw new AppError('not_found')
    return redirectWithNotice(c, `${ACCOUNT_PAGE}#security`, 'passkey_renamed')
  })
  .post('/:passkeyId/remove', requireRecentSignIn, async (c) => {
    const passkeyId = c.req.param('passkeyId')
    const isRemoved = await removePasskey({ env: c.env, actor: actorOf(c), passkeyId })
    if (!isRemoved) throw new AppError('not_found')
    sendSecurityEmail(c, c.var.user.email, 'passkey_removed')
    return redirectWithNotice(c, `${ACCOUNT_PAGE}#security`, 'passkey_removed')
  })

const MESSAGES = {
  expired: 'The request has expired. Add the passkey again.',
  rejected: 'The passkey was not accepted. Add it again.',
  too_many: `You can have at most ${MAX_PASSKEYS} passkeys, each of them once.`,
}

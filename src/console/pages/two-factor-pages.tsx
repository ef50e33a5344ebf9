// Turns two-factor authentication on and off, and creates recovery codes, which are shown once.
import { z } from 'zod'
import {
  countRecoveryCodes,
  disableTwoFactor,
  enableTwoFactor,
  pendingSecretOf,
  RECOVERY_CODE_COUNT,
  replaceRecoveryCodes,
  startTwoFactor,
} from '../../users/two-factor.ts'
import { totpUri } from '../../users/totp.ts'
import { CopyableText } from '../components/copyable-text.tsx'
import { CodeField } from '../components/credential-fields.tsx'
import { ActionForm, Button, PostForm } from '../components/form.tsx'
import { Aside, memberPage } from '../components/layout.tsx'
import { Notice, ButtonLink } from '../components/text.tsx'
import { code, pageWith, readForm } from '../forms.ts'
import { isRecentSignIn, requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { createApp, requestOf, type ConsoleContext } from '../console-context.ts'
import { attemptCode } from '../middleware/throttle.tsx'
import { redirectWithNotice } from '../form-notices.ts'
import { Section } from '../components/section.tsx'
import { sendSecurityEmail } from '../send-security-mail.ts'

const PAGE = '/console/account/two-factor'
const SET_UP = `${PAGE}/set-up`
/** The page warns when fewer are left. */
const FEW_CODES = 4

export const twoFactor = createApp()
  .get('/', (c) => statePage(c))
  .post('/set-up', requireRecentSignIn, async (c) => {
    await startTwoFactor(requestOf(c))
    return c.redirect(SET_UP, 303)
  })
  .get('/set-up', async (c) => {
    // The page contains the secret.
    const secret = isRecentSignIn(c) && (await pendingSecretOf(c.env, c.var.user.id))
    return secret ? setUpPage(c, secret) : c.redirect(PAGE, 303)
  })
  .get('/:form', (c) => c.redirect(PAGE, 303))

  .post('/enable', async (c) => {
    const secret = isRecentSignIn(c) && (await pendingSecretOf(c.env, c.var.user.id))
    if (!secret) return c.redirect(PAGE, 303)
    const page = () => setUpPage(c, secret)
    const form = await readForm(c, z.object({ code }), page)
    const undo = await attemptCode(c, c.var.user)
    const codes = await enableTwoFactor({ ...requestOf(c), ...form })
    if (!codes) {
      const message = 'Incorrect code. Check the time of your device and enter the current code.'
      return pageWith(c, page, { errors: { code: message } })
    }
    await undo()
    sendSecurityEmail(c, c.var.user.email, 'two_factor_enabled')
    return codesPage(c, codes, 'Two-factor authentication is on')
  })
  .post('/recovery-codes', requireRecentSignIn, async (c) => {
    const codes = await replaceRecoveryCodes(requestOf(c))
    if (!codes) return c.redirect(PAGE, 303)
    sendSecurityEmail(c, c.var.user.email, 'recovery_codes_replaced')
    return codesPage(c, codes, 'Your new recovery codes')
  })
  .post('/disable', requireRecentSignIn, async (c) => {
    await disableTwoFactor(requestOf(c))
    if (c.var.user.hasTwoFactor) sendSecurityEmail(c, c.var.user.email, 'two_factor_disabled')
    return redirectWithNotice(c, PAGE, 'two_factor_disabled')
  })

async function statePage(c: ConsoleContext) {
  const { id, hasTwoFactor } = c.var.user
  const codesLeft = hasTwoFactor ? await countRecoveryCodes(c.env, id) : 0
  return memberPage(
    { c, title: 'Two-factor authentication' },
    <>
      {hasTwoFactor ? (
        <>
          <p>
            Two-factor authentication is <strong>on</strong>. Signing in with your password also
            requires a code of your authenticator app. A passkey needs no code.
          </p>
          <Section id="codes-heading" title="Recovery codes" card>
            {codesLeft < FEW_CODES && (
              <Notice kind="bad">
                {codesLeft === 0 ? 'No recovery codes are left.' : 'Few recovery codes are left.'}{' '}
                Create new ones, so that you can sign in without your authenticator app.
              </Notice>
            )}
            <p>
              {codesLeft} of {RECOVERY_CODE_COUNT} unused. Each code signs in once if you cannot use
              your authenticator app.
            </p>
            <ActionForm
              action={`${PAGE}/recovery-codes`}
              label="Create new recovery codes"
              confirm="The current recovery codes stop working."
              isSafe
            />
          </Section>
          <Section id="off-heading" title="Turn off" card>
            <p>To use another authenticator app, turn it off and set it up again.</p>
            <ActionForm
              action={`${PAGE}/disable`}
              label="Turn off two-factor authentication"
              kind="danger"
              confirm="Your password alone will sign in, and the recovery codes stop working."
            />
          </Section>
        </>
      ) : (
        <Section id="set-up-heading" title="Authenticator app" card>
          <p>
            Two-factor authentication is <strong>off</strong>. Once it is on, signing in with your
            password also requires a six-digit code of an app such as 1Password, Google
            Authenticator or Microsoft Authenticator.
          </p>
          <ActionForm action={SET_UP} label="Set up" on="the authenticator app" kind="primary" />
        </Section>
      )}
      <Aside links={[['/console/account', 'Back to your account']]} />
    </>,
  )
}

async function setUpPage(c: ConsoleContext, secret: string) {
  const { renderSVG } = await import('uqr')
  const svg = renderSVG(totpUri({ secret, account: c.var.user.email }), { border: 2 })
  return memberPage(
    { c, title: 'Set up the authenticator app' },
    <>
      <ol class="set-up">
        <li>
          <h2>1. Scan the QR code</h2>
          <p>Open your authenticator app, add an account and scan this code.</p>
          <img
            class="qr-code"
            src={`data:image/svg+xml;base64,${btoa(svg)}`}
            alt="QR code with the secret below"
            width="200"
            height="200"
          />
          <p>If you cannot scan it, enter this secret in the app:</p>
          <CopyableText label="Secret" text={(secret.match(/.{4}/g) ?? []).join(' ')} />
        </li>
        <li>
          <h2>2. Enter the code</h2>
          <p>The app now shows a code of six digits for Try-On.</p>
          <PostForm action={`${PAGE}/enable`}>
            <CodeField label="Code" />
            <Button>Turn on two-factor authentication</Button>
          </PostForm>
        </li>
      </ol>
      <Aside links={[[PAGE, 'Cancel']]} />
    </>,
  )
}

const codesPage = (c: ConsoleContext, codes: string[], title: string) =>
  memberPage(
    { c, title },
    <>
      <Notice kind="info">
        <strong>These recovery codes are shown only once.</strong> Store them in a safe place, such
        as a password manager. Each code signs in once if you cannot use your authenticator app.
      </Notice>
      <CopyableText label="Recovery codes" text={codes.join('\n')} />
      <p class="buttons">
        <ButtonLink
          download="try-on-recovery-codes.txt"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join('\n')}\n`)}`}
          label="Download"
        />
        <ButtonLink href={PAGE} kind="primary" label="I have stored the codes" />
      </p>
    </>,
  )

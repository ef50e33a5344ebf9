// The account in Chromium: passkeys with a virtual authenticator, two-factor authentication, and what
// the pages look like.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { codeAt } from '../../src/users/totp.ts'
import { assertSound } from './support/checks.ts'
import {
  newAddress,
  onboard,
  openMail,
  PASSWORD,
  openConsole,
  type Console,
} from './support/console.ts'

const ACCOUNT = '/console/account'
let service: Console
before(async () => {
  service = await openConsole()
})
after(() => service.close())

/** A passkey authenticator of the browser, whose user always confirms. */
async function addAuthenticator(page: Page) {
  const client = await page.context().newCDPSession(page)
  await client.send('WebAuthn.enable')
  await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

async function signOut(page: Page) {
  await page.goto('/console')
  await page.context().clearCookies({ name: /session_token/ })
  await page.goto('/console/sign-in')
}

/** The code of the authenticator app. @param offset in steps of 30 seconds */
const codeOf = (secret: string, offset = 0) =>
  codeAt(secret, Math.floor(Date.now() / 30_000) + offset)

describe('a passkey', () => {
  it('is added on the account page and signs in', async () => {
    const page = await service.open()
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    await addAuthenticator(page)
    await onboard(page)
    await page.goto(`${ACCOUNT}#security`)
    assert.equal(await page.getByText('Passkeys need JavaScript').isVisible(), false)
    await page
      .getByLabel('Name of the new passkey')
      .fill('A laptop with a very long name'.repeat(3))
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('Passkey added').waitFor()
    await assertSound(page, 'account')
    // The device has a passkey already.
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('This device already has a passkey').waitFor()
    await signOut(page)
    // Autofill would use the passkey at once, since the authenticator confirms everything.
    await page.waitForURL(/\/console\/org_/)
    await page.goto(`${ACCOUNT}#security`)
    await page.getByText('This session').waitFor()
    assert.deepEqual(errors, [])
    await page.context().close()
  })

  it('signs in with the button', async () => {
    const page = await service.open()
    await page.addInitScript(
      'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
    )
    await addAuthenticator(page)
    await onboard(page)
    await page.goto(`${ACCOUNT}#security`)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('Passkey added').waitFor()
    await signOut(page)
    await assertSound(page, 'sign-in')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(/\/console\/org_/)
    await page.context().close()
  })
})

describe('two-factor authentication', () => {
  it('is set up, asked for at the sign-in, and has recovery codes', async () => {
    const page = await service.open()
    const email = await onboard(page)
    await page.goto(`${ACCOUNT}#security`)
    await page.getByRole('button', { name: 'Set up two-factor authentication' }).click()
    await page.getByRole('button', { name: 'Set up the authenticator app' }).click()
    await page.getByAltText('QR code').waitFor()
    const text = await page.getByRole('group', { name: 'Secret' }).textContent()
    const secret = (text ?? '').replaceAll(/\s/g, '')
    await assertSound(page, 'two-factor-set-up')
    await page.getByLabel('Code', { exact: true }).fill(await codeOf(secret))
    await page.getByRole('button', { name: 'Turn on two-factor authentication' }).click()
    const codes = await page.getByRole('group', { name: 'Recovery codes' }).textContent()
    const [recoveryCode = ''] = (codes ?? '').split('\n')
    await assertSound(page, 'recovery-codes')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    assert.equal((await download).suggestedFilename(), 'try-on-recovery-codes.txt')
    await page.getByRole('button', { name: 'I have stored the codes' }).click()

    const signIn = async () => {
      await signOut(page)
      await page.getByLabel('Email').fill(email)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor()
    }
    await signIn()
    await assertSound(page, 'sign-in-code')
    await page.getByLabel('Code', { exact: true }).fill(await codeOf(secret, 1))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(/\/console\/org_/)
    await signIn()
    await page.getByRole('link', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(recoveryCode)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('9 of 10 unused').waitFor()
    await page.context().close()
  })
})

describe('the account page', () => {
  it('changes the email address and shows passwords on request', async () => {
    const page = await service.open()
    await onboard(page)
    await page.goto(`${ACCOUNT}#security`)
    const password = page.getByLabel('New password')
    await password.fill('visible words')
    const button = page.getByRole('button', { name: 'Show password' }).nth(1)
    const colour = () => button.evaluate('(element) => getComputedStyle(element).color')
    const atRest = await colour()
    await button.click()
    assert.equal(await colour(), atRest)
    assert.equal(await password.getAttribute('type'), 'text')
    await button.click()
    assert.equal(await password.getAttribute('type'), 'password')
    const email = newAddress()
    await page.getByRole('link', { name: 'Profile', exact: true }).click()
    await page.getByText('Change email address', { exact: true }).click()
    await page.getByLabel('New work email').fill(email)
    await page.getByRole('button', { name: 'Send link' }).click()
    await page.getByText('We sent a link to the new address').waitFor()
    await openMail(page, email)
    await page.getByRole('button', { name: 'Change email address' }).click()
    await page.getByText('Email address changed').waitFor()
    await page.context().close()
  })
})

// Passkeys: registration, sign-in, confirmation of sensitive actions, and rejected signatures.
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { latestMail, newBrowser, newOwner, PASSWORD, userIdOf } from '../support/browser.ts'
import {
  addPasskey,
  challengeOf,
  newAuthenticator,
  signInWithPasskey,
} from '../support/authenticator.ts'
import { passTime } from '../support/deletion.ts'
import { turnOnTwoFactor } from '../support/two-factor.ts'

const ACCOUNT = '/console/account'
const SIGN_IN = '/console/sign-in/passkey'

afterEach(() => vi.useRealTimers())

async function newOwnerWithPasskey() {
  const owner = await newOwner()
  const authenticator = await newAuthenticator()
  expect(await addPasskey(owner.browser, authenticator)).toMatchObject({
    path: ACCOUNT,
    notice: 'Passkey added. You can now sign in with it.',
  })
  return { ...owner, authenticator }
}

const actionsOf = async (organisationId: string) => {
  const { results } = await env.DB.prepare(
    'SELECT action, details FROM audit_log WHERE organisation_id = ? ORDER BY id',
  )
    .bind(organisationId)
    .all<{ action: string; details: string | null }>()
  return results
}

describe('a passkey', () => {
  it('signs in a user, who needs neither password nor code', async () => {
    const { browser, organisationId, authenticator } = await newOwnerWithPasskey()
    await turnOnTwoFactor(browser)
    const elsewhere = newBrowser()
    expect((await signInWithPasskey(elsewhere, authenticator)).path).toBe('/console')
    const page = await elsewhere.get(ACCOUNT)
    expect(page.html).toContain('Laptop')
    expect(page.html).toContain('This session')
    const entries = await actionsOf(organisationId)
    const actions = entries.map(({ action }) => action)
    expect(actions).toContain('user.passkey_added')
    expect(JSON.parse(entries.at(-1)?.details ?? '')).toEqual({
      method: 'passkey',
      known_browser: false,
    })
  })

  it('returns to the page that required the sign-in, but to no other site', async () => {
    const { authenticator } = await newOwnerWithPasskey()
    for (const [next, path] of [
      ['/console/jobs', '/console/jobs'],
      ['https://evil.example/console', '/console'],
    ] as const) {
      const browser = newBrowser()
      const challenge = await challengeOf(browser, `${SIGN_IN}/options`)
      const credential = await authenticator.sign(challenge)
      expect((await browser.post(SIGN_IN, { credential, next })).path).toBe(path)
    }
  })

  it('can be renamed and removed by its user only', async () => {
    const { browser, organisationId, authenticator } = await newOwnerWithPasskey()
    const other = await newOwner()
    const path = `${ACCOUNT}/passkeys/${authenticator.id}`
    expect((await other.browser.post(`${path}/rename`, { name: 'Mine' })).status).toBe(404)
    expect((await other.browser.post(`${path}/remove`)).status).toBe(404)
    const renamed = await browser.post(`${path}/rename`, { name: 'Phone <b>' })
    expect(renamed.html).toContain('Phone &lt;b&gt;')
    expect((await browser.post(`${path}/rename`, { name: '' })).status).toBe(422)
    expect(await browser.post(`${path}/remove`)).toMatchObject({
      path: ACCOUNT,
      notice: 'Passkey removed. It no longer signs in.',
    })
    expect((await signInWithPasskey(newBrowser(), authenticator)).status).toBe(401)
    const actions = (await actionsOf(organisationId)).map(({ action }) => action)
    expect(actions).toContain('user.passkey_removed')
  })

  it('confirms a sensitive action when the sign-in is not recent', async () => {
    const { browser, authenticator } = await newOwnerWithPasskey()
    passTime(16 * 60_000)
    const remove = `${ACCOUNT}/passkeys/${authenticator.id}/remove`
    const page = await browser.post(remove)
    expect(page.status).toBe(403)
    expect(page.html).toContain('Use a passkey')
    const options = `${ACCOUNT}/passkeys/confirmation-options`
    const stranger = await newAuthenticator()
    const wrong = await stranger.sign(await challengeOf(browser, options))
    expect((await browser.post(remove, { confirm_passkey: wrong })).status).toBe(422)
    // A challenge for a sign-in does not confirm an action.
    const forSignIn = await authenticator.sign(await challengeOf(browser, `${SIGN_IN}/options`))
    expect((await browser.post(remove, { confirm_passkey: forSignIn })).status).toBe(422)
    const right = await authenticator.sign(await challengeOf(browser, options))
    const removed = await browser.post(remove, { confirm_passkey: right })
    expect(removed).toMatchObject({
      path: ACCOUNT,
      notice: 'Passkey removed. It no longer signs in.',
    })
  })

  it('is added only after a recent sign-in', async () => {
    const { browser, email } = await newOwner()
    passTime(16 * 60_000)
    const page = await addPasskey(browser, await newAuthenticator())
    expect(page.status).toBe(403)
    expect(page.html).toContain('Confirm your password')
    const [, credential = ''] = /name="credential" value="([^"]+)"/.exec(page.html) ?? []
    const added = await browser.post(`${ACCOUNT}/passkeys`, {
      passkey_name: 'Laptop',
      credential: credential.replaceAll('&quot;', '"'),
      confirm_password: PASSWORD,
    })
    expect(added).toMatchObject({
      path: ACCOUNT,
      notice: 'Passkey added. You can now sign in with it.',
    })
    expect(latestMail(email).subject).not.toContain(credential)
  })

  it('remains after a password reset and is deleted with its user', async () => {
    const { browser, email, authenticator } = await newOwnerWithPasskey()
    const password = 'another long password'
    await browser.post(`${ACCOUNT}/password`, { current: PASSWORD, password })
    expect((await signInWithPasskey(newBrowser(), authenticator)).path).toBe('/console')
    const id = await userIdOf(email)
    await env.DB.prepare('DELETE FROM users WHERE id = ?').bind(id).run()
    const count = await env.DB.prepare('SELECT count(*) FROM passkeys WHERE user_id = ?')
      .bind(id)
      .first('count(*)')
    expect(count).toBe(0)
  })
})

describe('a registration is rejected', () => {
  it.each([
    ['for another website', { origin: 'https://evil.example' }],
    ['for another domain', { rpId: 'evil.example' }],
    ['with another challenge', { challenge: 'AAAA' }],
    ['without user verification', { unverified: true }],
    ['that is a sign-in', { type: 'webauthn.get' }],
  ])('%s', async (_, flaws) => {
    const { browser } = await newOwner()
    const authenticator = await newAuthenticator()
    const page = await addPasskey(browser, authenticator, { flaws })
    expect(page.status).toBe(422)
    expect(page.html).toContain('The passkey was not accepted')
    expect((await signInWithPasskey(newBrowser(), authenticator)).status).toBe(401)
  })

  it('with an invalid credential, an expired or a used challenge, or of another user', async () => {
    const { browser } = await newOwner()
    const options = `${ACCOUNT}/passkeys/options`
    const post = (credential: string) =>
      browser.post(`${ACCOUNT}/passkeys`, { passkey_name: 'Laptop', credential })
    for (const credential of ['', 'null', '{}', '{"id":"a"}']) {
      await challengeOf(browser, options)
      expect((await post(credential)).status).toBe(422)
    }
    const first = await newAuthenticator()
    const challenge = await challengeOf(browser, options)
    const cookies = new Map(browser.cookies)
    expect(await post(await first.register(challenge))).toMatchObject({
      path: ACCOUNT,
      notice: 'Passkey added. You can now sign in with it.',
    })
    for (const [name, value] of cookies) browser.cookies.set(name, value)
    const again = await newAuthenticator()
    expect((await post(await again.register(challenge))).status).toBe(422)
    // The same passkey for another account.
    const other = await newOwner()
    expect((await addPasskey(other.browser, first)).status).toBe(422)
    const late = await newAuthenticator()
    const credential = await late.register(await challengeOf(browser, options))
    passTime(6 * 60_000)
    const expired = await post(credential)
    expect(expired.status).toBe(422)
    expect(expired.html).toContain('The request has expired')
  })
})

describe('a sign-in with a passkey is rejected', () => {
  it.each([
    ['with another key', { forged: true }],
    ['for another website', { origin: 'https://evil.example' }],
    ['for another domain', { rpId: 'evil.example' }],
    ['with another challenge', { challenge: 'AAAA' }],
    ['without user verification', { unverified: true }],
    ['that is a registration', { type: 'webauthn.create' }],
    ['with a counter that did not increase', { counter: 1 }],
  ])('%s', async (_, flaws) => {
    const { authenticator } = await newOwnerWithPasskey()
    const page = await signInWithPasskey(newBrowser(), authenticator, flaws)
    expect(page.status).toBe(401)
    expect(page.html).toContain('This passkey was not accepted')
    expect((await signInWithPasskey(newBrowser(), authenticator, { counter: 9 })).status).toBe(200)
  })

  it('with a challenge that was used, has expired or belongs to another browser', async () => {
    const { authenticator } = await newOwnerWithPasskey()
    const browser = newBrowser()
    const challenge = await challengeOf(browser, `${SIGN_IN}/options`)
    const credential = await authenticator.sign(challenge)
    const stolen = await newBrowser().post(SIGN_IN, { credential })
    expect(stolen.status).toBe(401)
    const copy = newBrowser()
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
    expect((await browser.post(SIGN_IN, { credential })).path).toBe('/console')
    expect((await copy.post(SIGN_IN, { credential })).status).toBe(401)
    const later = newBrowser()
    const late = await authenticator.sign(await challengeOf(later, `${SIGN_IN}/options`))
    passTime(6 * 60_000)
    const expired = await later.post(SIGN_IN, { credential: late })
    expect(expired.html).toContain('has expired')
  })

  it('with an unknown passkey or an invalid credential', async () => {
    const unknown = await signInWithPasskey(newBrowser(), await newAuthenticator())
    expect(unknown.status).toBe(401)
    const browser = newBrowser()
    await challengeOf(browser, `${SIGN_IN}/options`)
    expect((await browser.post(SIGN_IN, { credential: '{"id":"x"}' })).status).toBe(401)
    expect((await browser.post(SIGN_IN)).status).toBe(422)
  })
})

// Two-factor authentication: set-up, sign-in with codes, recovery codes and their limits.
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { base32, codeAt, stepOf } from '../../src/users/totp.ts'
import { decryptTotpSecret } from '../../src/users/two-factor.ts'
import {
  latestToken,
  newBrowser,
  newOwner,
  PASSWORD,
  userIdOf,
  type Browser,
} from '../support/browser.ts'
import { passTime } from '../support/deletion.ts'
import {
  recoveryCodesIn,
  setUpTwoFactor,
  turnOnTwoFactor,
  TWO_FACTOR,
} from '../support/two-factor.ts'

const CODE = '/console/sign-in/code'

afterEach(() => vi.useRealTimers())

/** Enters the right password. The page of the code follows. */
const enterPassword = async (browser: Browser, email: string, password = PASSWORD) => {
  const page = await browser.post('/console/sign-in', { email, password })
  expect(page.path).toBe(CODE)
  return browser
}

const isSignedIn = async (browser: Browser) => (await browser.get('/console')).path === '/console'

describe('codes', () => {
  it('are those of RFC 6238', async () => {
    const secret = base32(new TextEncoder().encode('12345678901234567890'))
    expect(secret).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
    for (const [seconds, code] of [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [20_000_000_000, '353130'],
    ] as const) {
      expect(await codeAt(secret, Math.floor(seconds / 30))).toBe(code)
    }
  })

  it('are valid for one step before and after their own', async () => {
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
    vi.useFakeTimers({ toFake: ['Date'], now: 59_000 })
    const valid = await Promise.all(
      [-2, -1, 0, 1, 2].map(async (offset) => stepOf(secret, await codeAt(secret, 1 + offset))),
    )
    expect(valid).toEqual([null, 0, 1, 2, null])
  })
})

describe('two-factor authentication', () => {
  it('is on once a code confirms the set-up', async () => {
    const { browser, email } = await newOwner()
    const app = await setUpTwoFactor(browser)
    const page = await browser.get(`${TWO_FACTOR}/set-up`)
    expect(page.html).toContain('src="data:image/svg+xml;base64,')
    expect(page.html).not.toContain('style=')
    const wrong = await browser.post(`${TWO_FACTOR}/enable`, { code: '000000' })
    expect(wrong.status).toBe(422)
    expect(wrong.html).toContain('id="code-error"')
    const elsewhere = newBrowser()
    await elsewhere.post('/console/sign-in', { email, password: PASSWORD })
    expect(await isSignedIn(elsewhere)).toBe(true)
    const on = await browser.post(`${TWO_FACTOR}/enable`, { code: await app.code() })
    expect(recoveryCodesIn(on.html)).toHaveLength(10)
    expect(on.html).toContain('download="try-on-recovery-codes.txt"')
    // The codes and the secret are not shown again.
    expect((await browser.get(`${TWO_FACTOR}/set-up`)).path).toBe(TWO_FACTOR)
    expect(recoveryCodesIn((await browser.get(TWO_FACTOR)).html)).toEqual([])
    await enterPassword(newBrowser(), email)
  })

  it('stores the secret encrypted and the recovery codes as hashes', async () => {
    const { browser, email } = await newOwner()
    const { app, codes } = await turnOnTwoFactor(browser)
    const userId = await userIdOf(email)
    const stored =
      (await env.DB.prepare('SELECT secret FROM totp_secrets WHERE user_id = ?')
        .bind(userId)
        .first<string>('secret')) ?? ''
    expect(stored).toMatch(/^enc:v1:/)
    expect(await decryptTotpSecret(env, { userId, stored })).toBe(app.secret)
    await expect(decryptTotpSecret(env, { userId: 'usr_other', stored })).rejects.toThrow()
    const { results } = await env.DB.prepare('SELECT * FROM recovery_codes').all()
    for (const code of codes) expect(JSON.stringify(results)).not.toContain(code)
  })

  it('asks for a code after the right password, and returns to the requested page', async () => {
    const { browser, email, organisationId } = await newOwner()
    const { app } = await turnOnTwoFactor(browser)
    const other = newBrowser()
    const wrongPassword = await other.post('/console/sign-in', { email, password: 'wrong' })
    expect(wrongPassword.status).toBe(401)
    const next = '/console/jobs?status=failed'
    const page = await other.post('/console/sign-in', { email, password: PASSWORD, next })
    expect(page.html).toContain('<h1>Two-factor authentication</h1>')
    expect(await isSignedIn(other)).toBe(false)
    await other.get(CODE)
    const empty = await other.post(CODE, { code: '', next })
    expect(empty.status).toBe(422)
    const wrong = await other.post(CODE, { code: '000000', next })
    expect(wrong.status).toBe(401)
    expect(wrong.html).toContain('Incorrect code')
    const code = await app.code(1)
    const spaced = `${code.slice(0, 3)} ${code.slice(3)}`
    expect((await other.post(CODE, { code: spaced, next })).path).toBe(next)
    const details = await env.DB.prepare(
      `SELECT details FROM audit_log WHERE organisation_id = ? AND action = 'session.created'
       ORDER BY id DESC`,
    )
      .bind(organisationId)
      .first<string>('details')
    expect(JSON.parse(details ?? '')).toEqual({
      method: 'password_and_code',
      known_browser: false,
    })
  })

  it('accepts each code once, also for concurrent sign-ins', async () => {
    const { browser, email } = await newOwner()
    const { app } = await turnOnTwoFactor(browser)
    const code = await app.code(1)
    // Another sign-in replaces the challenge, so all three use the same one.
    const first = await enterPassword(newBrowser(), email)
    const copies = [first, newBrowser(), newBrowser()]
    for (const copy of copies.slice(1))
      for (const [name, value] of first.cookies) copy.cookies.set(name, value)
    await Promise.all(copies.map((copy) => copy.post(CODE, { code })))
    const signedIn = await Promise.all(copies.map(isSignedIn))
    expect(signedIn.filter(Boolean)).toHaveLength(1)
    const again = await enterPassword(newBrowser(), email)
    expect((await again.post(CODE, { code })).status).toBe(401)
    // Nor an earlier one.
    expect((await again.post(CODE, { code: await app.code() })).status).toBe(401)
    passTime(60_000)
    expect((await again.post(CODE, { code: await app.code() })).path).toBe('/console')
  })

  it('requires the password of the last ten minutes', async () => {
    const { browser, email } = await newOwner()
    const { app } = await turnOnTwoFactor(browser)
    const stranger = newBrowser()
    expect(await stranger.get(CODE)).toMatchObject({
      path: '/console/sign-in',
      notice: 'The sign-in took more than ten minutes. Sign in again.',
    })
    expect(await stranger.post(CODE, { code: await app.code(1) })).toMatchObject({
      path: '/console/sign-in',
      notice: 'The sign-in took more than ten minutes. Sign in again.',
    })
    await enterPassword(stranger, email)
    passTime(11 * 60_000)
    const late = await stranger.post(CODE, { code: await app.code() })
    expect(late.html).toContain('took more than ten minutes')
  })

  it('ends pending sign-ins when the password changes', async () => {
    const { browser, email } = await newOwner()
    const { app } = await turnOnTwoFactor(browser)
    const attacker = await enterPassword(newBrowser(), email)
    const password = 'another long password'
    const change = { current: PASSWORD, password }
    const withoutCode = await browser.post('/console/account/password', change)
    expect(withoutCode.html).toContain('id="code-error"')
    await browser.post('/console/account/password', { ...change, code: await app.code(1) })
    expect(await attacker.post(CODE, { code: await app.code(1) })).toMatchObject({
      path: '/console/sign-in',
      notice: 'The sign-in took more than ten minutes. Sign in again.',
    })
  })

  it('limits wrong codes per user across networks', async () => {
    const { browser, email } = await newOwner()
    const { app } = await turnOnTwoFactor(browser)
    const statuses: number[] = []
    for (let round = 0; round < 3; round++) {
      const attacker = await enterPassword(newBrowser(), email)
      for (let tries = 0; tries < 8; tries++) {
        statuses.push((await attacker.post(CODE, { code: '000000' })).status)
      }
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(20)
    expect(statuses.at(-1)).toBe(429)
    // The user's own browser has its own limit.
    await browser.post('/console/sign-out')
    await enterPassword(browser, email)
    expect((await browser.post(CODE, { code: await app.code(1) })).path).toBe('/console')
  })

  it('is asked for after a password reset', async () => {
    const { browser, email } = await newOwner()
    const { app } = await turnOnTwoFactor(browser)
    const elsewhere = newBrowser()
    await elsewhere.post('/console/forgot', { email })
    const password = 'another long password'
    const token = latestToken(email)
    const reset = await elsewhere.post('/console/reset', { token, password })
    expect(reset).toMatchObject({
      path: '/console/sign-in',
      notice: 'Password changed. You have been signed out everywhere.',
    })
    await enterPassword(elsewhere, email, password)
    expect(await isSignedIn(elsewhere)).toBe(false)
    expect((await elsewhere.post(CODE, { code: await app.code(1) })).path).toBe('/console')
  })

  it('can be turned off after a confirmation, and then removes secret and codes', async () => {
    const { browser, email, organisationId } = await newOwner()
    const { app, codes } = await turnOnTwoFactor(browser)
    passTime(16 * 60_000)
    const page = await browser.post(`${TWO_FACTOR}/disable`)
    expect(page.html).toContain('id="confirm_code"')
    const withoutCode = await browser.post(`${TWO_FACTOR}/disable`, { confirm_password: PASSWORD })
    expect(withoutCode.html).toContain('id="confirm_code-error"')
    const off = await browser.post(`${TWO_FACTOR}/disable`, {
      confirm_password: PASSWORD,
      confirm_code: await app.code(),
    })
    expect(off).toMatchObject({
      path: TWO_FACTOR,
      notice: 'Two-factor authentication is off. Your password alone signs in.',
    })
    const elsewhere = newBrowser()
    await elsewhere.post('/console/sign-in', { email, password: PASSWORD })
    expect(await isSignedIn(elsewhere)).toBe(true)
    expect(codes.length).toBeGreaterThan(0)
    const userId = await userIdOf(email)
    for (const table of ['totp_secrets', 'recovery_codes']) {
      const { results } = await env.DB.prepare(`SELECT * FROM ${table} WHERE user_id = ?`)
        .bind(userId)
        .all()
      expect(results).toEqual([])
    }
    const { results } = await env.DB.prepare(
      `SELECT action FROM audit_log WHERE organisation_id = ? AND action LIKE 'user.%' ORDER BY id`,
    )
      .bind(organisationId)
      .all<{ action: string }>()
    expect(results.map(({ action }) => action)).toEqual([
      'user.two_factor_enabled',
      'user.two_factor_disabled',
    ])
  })

  it('asks for a code before an account or an organisation is deleted', async () => {
    const { browser } = await newOwner('Acme')
    const { app } = await turnOnTwoFactor(browser)
    const organisation = '/console/settings/organisation/delete'
    const fields = { confirmation: 'Acme', password: PASSWORD }
    expect((await browser.post(organisation, fields)).html).toContain('id="code-error"')
    const account = '/console/account/delete'
    expect((await browser.post(account, { password: PASSWORD })).html).toContain('id="code-error"')
    const code = await app.code(1)
    const deleted = await browser.post(account, { password: PASSWORD, code })
    expect(deleted).toMatchObject({
      path: '/console/sign-in',
      notice: expect.stringContaining('Your account is scheduled for deletion'),
    })
  })
})

describe('recovery codes', () => {
  it('sign in once each and are replaced by new ones', async () => {
    const { browser, email } = await newOwner()
    const { codes } = await turnOnTwoFactor(browser)
    const [first = '', second = ''] = codes
    const elsewhere = await enterPassword(newBrowser(), email)
    const page = await elsewhere.get(`${CODE}?kind=recovery`)
    expect(page.html).toContain('Recovery code')
    const typed = first.toUpperCase().replaceAll('-', ' ')
    const signedIn = await elsewhere.post(CODE, { code: typed, kind: 'recovery' })
    expect(signedIn).toMatchObject({
      path: TWO_FACTOR,
      notice: expect.stringContaining('You signed in with a recovery code'),
    })
    expect(signedIn.html).toContain('9 of 10 unused')
    const again = await enterPassword(newBrowser(), email)
    const used = await again.post(CODE, { code: first, kind: 'recovery' })
    expect(used.html).toContain('was used before')
    const fresh = recoveryCodesIn((await browser.post(`${TWO_FACTOR}/recovery-codes`)).html)
    expect(fresh).toHaveLength(10)
    expect((await again.post(CODE, { code: second, kind: 'recovery' })).status).toBe(401)
    const [newCode = ''] = fresh
    expect((await again.post(CODE, { code: newCode, kind: 'recovery' })).path).toContain(TWO_FACTOR)
  })

  it('of one user are wrong for another', async () => {
    const one = await newOwner()
    const { codes } = await turnOnTwoFactor(one.browser)
    const other = await newOwner()
    await turnOnTwoFactor(other.browser)
    const browser = await enterPassword(newBrowser(), other.email)
    expect((await browser.post(CODE, { code: codes[0] ?? '', kind: 'recovery' })).status).toBe(401)
  })
})

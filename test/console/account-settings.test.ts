// The account page: name, email address and sessions.
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { deviceOf } from '../../src/console/device.ts'
import {
  join,
  latestMail,
  latestToken,
  newAddress,
  newBrowser,
  newOwner,
  PASSWORD,
  signUp,
  userIdOf,
  type Browser,
} from '../support/browser.ts'
import { DAY_MS, PAST_GRACE_MS, passTime, runCron } from '../support/deletion.ts'
import { cellsWith } from '../support/traces.ts'

const ACCOUNT = '/console/account'
const CONFIRM = `${ACCOUNT}/email/confirm`

afterEach(() => vi.useRealTimers())

const signIn = (browser: Browser, email: string, password = PASSWORD) =>
  browser.post('/console/sign-in', { email, password })

const isSignedIn = async (browser: Browser) => (await browser.get('/console')).path === '/console'

const auditOf = async (organisationId: string, action: string) => {
  const { results } = await env.DB.prepare(
    'SELECT details FROM audit_log WHERE organisation_id = ? AND action = ? ORDER BY id',
  )
    .bind(organisationId, action)
    .all<{ details: string | null }>()
  return results.map(({ details }) => (details === null ? null : JSON.parse(details)))
}

describe('the name', () => {
  it('is empty at first and is shown in the account and the team', async () => {
    const { browser, organisationId } = await newOwner()
    const name = 'Ada <Lovelace>'
    const page = await browser.post(`${ACCOUNT}/name`, { display_name: name })
    expect(page).toMatchObject({ path: ACCOUNT, notice: 'Name saved.' })
    expect(page.html).toContain('value="Ada &lt;Lovelace&gt;"')
    expect((await browser.get('/console/settings/team')).html).toContain('Ada &lt;Lovelace&gt;')
    expect(await auditOf(organisationId, 'user.updated')).toEqual([null])
    const tooLong = await browser.post(`${ACCOUNT}/name`, { display_name: 'x'.repeat(101) })
    expect(tooLong.status).toBe(422)
    await browser.post(`${ACCOUNT}/name`, { display_name: '' })
    expect((await browser.get(ACCOUNT)).html).not.toContain('Lovelace')
  })
})

describe('the email address', () => {
  /** Requests the change and returns the new address. */
  async function requestChange(browser: Browser, email = newAddress()) {
    const page = await browser.post(`${ACCOUNT}/email`, { email })
    expect(page).toMatchObject({
      path: ACCOUNT,
      notice: 'We sent a link to the new address. Open it within one hour to complete the change.',
    })
    return email
  }

  it('changes with the link to the new address, which works once', async () => {
    const { browser, email: oldEmail, organisationId } = await newOwner()
    const other = newBrowser()
    await signIn(other, oldEmail)
    const email = await requestChange(browser)
    const { path } = latestMail(email)
    const page = await browser.get(path)
    expect(page.html).toContain(`<strong>${email}</strong>`)
    // Opening the link changes nothing.
    expect((await browser.get(ACCOUNT)).html).toContain(oldEmail)
    const token = latestToken(email)
    const changed = await browser.post(CONFIRM, { token })
    expect(changed).toMatchObject({
      path: ACCOUNT,
      notice: 'Email address changed. All other sessions have been signed out.',
    })
    expect(await isSignedIn(browser)).toBe(true)
    expect(await isSignedIn(other)).toBe(false)
    expect((await browser.post(CONFIRM, { token })).status).toBe(403)
    expect((await signIn(newBrowser(), oldEmail)).status).toBe(401)
    expect((await signIn(newBrowser(), email)).path).toBe('/console')
    expect(await auditOf(organisationId, 'user.email_changed')).toEqual([
      { email_old: oldEmail, email_new: email },
    ])
    const notice = latestMail(oldEmail)
    expect(notice.subject).toBe('Your email address was changed')
  })

  it('can be confirmed in another browser, after signing in as the same user', async () => {
    const { browser, email: oldEmail } = await newOwner()
    const email = await requestChange(browser)
    const { path } = latestMail(email)
    const elsewhere = newBrowser()
    const signInPage = await elsewhere.get(path)
    expect(signInPage.path).toContain('/console/sign-in?next=')
    const [, next = ''] = /name="next" value="([^"]+)"/.exec(signInPage.html) ?? []
    const page = await elsewhere.post('/console/sign-in', {
      email: oldEmail,
      password: PASSWORD,
      next,
    })
    expect(page.html).toContain('<h1>Change your email address</h1>')
    const stranger = await newOwner()
    expect((await stranger.browser.get(path)).status).toBe(403)
    const token = latestToken(email)
    expect((await stranger.browser.post(CONFIRM, { token })).status).toBe(403)
    expect(await elsewhere.post(CONFIRM, { token })).toMatchObject({
      path: ACCOUNT,
      notice: 'Email address changed. All other sessions have been signed out.',
    })
    expect(await isSignedIn(browser)).toBe(false)
  })

  it('returns the same page for an address that has an account, whose user is informed', async () => {
    const { browser } = await newOwner()
    const existing = await newOwner()
    await requestChange(browser, existing.email)
    expect(latestMail(existing.email).subject).toBe('This address already has an account')
  })

  it('must be a work email address and differ from the current one', async () => {
    const { browser, email } = await newOwner()
    for (const address of ['ada@gmail.com', 'no address', email]) {
      const page = await browser.post(`${ACCOUNT}/email`, { email: address })
      expect(page.status).toBe(422)
      expect(page.html).toContain('id="email-error"')
    }
  })

  it('requires the password 15 minutes after the sign-in', async () => {
    const { browser } = await newOwner()
    const email = newAddress()
    passTime(16 * 60_000)
    expect((await browser.post(`${ACCOUNT}/email`, { email })).status).toBe(403)
    const confirmed = await browser.post(`${ACCOUNT}/email`, { email, confirm_password: PASSWORD })
    expect(confirmed).toMatchObject({
      path: ACCOUNT,
      notice: 'We sent a link to the new address. Open it within one hour to complete the change.',
    })
  })

  it('does not change with an expired link, a replaced one, or after a password reset', async () => {
    const { browser } = await newOwner()
    const first = await requestChange(browser)
    const replaced = latestToken(first)
    const second = await requestChange(browser)
    const token = latestToken(second)
    expect((await browser.post(CONFIRM, { token: replaced })).status).toBe(403)
    const password = 'another long password'
    await browser.post(`${ACCOUNT}/password`, { current: PASSWORD, password })
    expect((await browser.post(CONFIRM, { token })).status).toBe(403)
    const third = await requestChange(browser)
    const late = latestToken(third)
    passTime(61 * 60_000)
    expect((await browser.post(CONFIRM, { token: late })).status).toBe(403)
  })

  it('replaces an unverified sign-up, and changes nothing if the address was verified', async () => {
    const { browser } = await newOwner()
    const squatted = newAddress()
    await newBrowser().post('/console/sign-up', {
      email: squatted,
      password: PASSWORD,
      organisation: 'Acme',
    })
    await requestChange(browser, squatted)
    const token = latestToken(squatted)
    expect(await browser.post(CONFIRM, { token })).toMatchObject({
      path: ACCOUNT,
      notice: 'Email address changed. All other sessions have been signed out.',
    })
    const taken = await requestChange(browser)
    const link = latestToken(taken)
    await signUp(newBrowser(), taken)
    expect((await browser.post(CONFIRM, { token: link })).status).toBe(403)
    expect((await browser.get(ACCOUNT)).html).toContain(squatted)
  })

  it('leaves no trace of an earlier address once the account is deleted', async () => {
    const owner = await newOwner()
    const oldEmail = newAddress()
    await owner.browser.post('/console/settings/team/invitations', {
      email: oldEmail,
      role: 'developer',
    })
    const browser = await join(oldEmail)
    const email = await requestChange(browser)
    await browser.post(CONFIRM, { token: latestToken(email) })
    const exported = await browser.post(`${ACCOUNT}/export`)
    expect(exported.source).toContain(oldEmail)
    await browser.post(`${ACCOUNT}/delete`, { password: PASSWORD })
    passTime(PAST_GRACE_MS)
    await runCron()
    expect(await userIdOf(email)).toBe('')
    expect(await cellsWith(oldEmail)).toEqual([])
    expect(await cellsWith(email)).toEqual([])
  })
})

describe('sessions', () => {
  it('are listed with device, address and this session, and can be signed out', async () => {
    const { browser, email, organisationId } = await newOwner()
    const [one, two] = [newBrowser('203.0.113.7'), newBrowser()]
    await signIn(one, email)
    await signIn(two, email)
    const page = await browser.get(ACCOUNT)
    expect(page.html).toContain('203.0.113.7')
    expect(page.html.match(/This session/g)).toHaveLength(1)
    const id = await env.DB.prepare('SELECT id FROM sessions WHERE ip_address = ?')
      .bind('203.0.113.7')
      .first<string>('id')
    const stranger = await newOwner()
    await stranger.browser.post(`${ACCOUNT}/sessions/${id}/sign-out`)
    expect(await isSignedIn(one)).toBe(true)
    const ended = await browser.post(`${ACCOUNT}/sessions/${id}/sign-out`)
    expect(ended).toMatchObject({ path: ACCOUNT, notice: 'Session signed out.' })
    expect([await isSignedIn(one), await isSignedIn(two)]).toEqual([false, true])
    await browser.post(`${ACCOUNT}/sessions/sign-out-others`)
    expect([await isSignedIn(two), await isSignedIn(browser)]).toEqual([false, true])
    await browser.post(`${ACCOUNT}/sign-out-everywhere`)
    expect(await isSignedIn(browser)).toBe(false)
    expect(await auditOf(organisationId, 'session.revoked')).toHaveLength(3)
    // A repeated request ends and records nothing.
    expect(await auditOf(stranger.organisationId, 'session.revoked')).toHaveLength(0)
  })

  it('end 30 days after the sign-in, also when they are used every day', async () => {
    const { browser, email } = await newOwner()
    for (let day = 1; day < 30; day++) {
      passTime(DAY_MS)
      expect([day, await isSignedIn(browser)]).toEqual([day, true])
    }
    passTime(DAY_MS)
    const cookies = new Map(browser.cookies)
    expect(await isSignedIn(browser)).toBe(false)
    const left = env.DB.prepare('SELECT id FROM sessions WHERE user_id = ?')
    expect((await left.bind(await userIdOf(email)).all()).results).toEqual([])
    for (const [name, value] of cookies) browser.cookies.set(name, value)
    expect(await isSignedIn(browser)).toBe(false)
    await signIn(browser, email)
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('are at most 20: another sign-in ends the oldest', async () => {
    const { browser, email } = await newOwner()
    const others = Array.from({ length: 20 }, () => newBrowser())
    for (const other of others.slice(0, 19)) {
      passTime(1_000)
      await signIn(other, email)
    }
    expect(await isSignedIn(browser)).toBe(true)
    passTime(1_000)
    await signIn(others[19]!, email)
    expect([await isSignedIn(browser), await isSignedIn(others[0]!)]).toEqual([false, true])
    expect(await isSignedIn(others[19]!)).toBe(true)
    const stored = env.DB.prepare('SELECT id FROM sessions WHERE user_id = ?')
    expect((await stored.bind(await userIdOf(email)).all()).results).toHaveLength(20)
  })

  it('show the last activity to ten minutes', async () => {
    const { browser, email } = await newOwner()
    const lastActive = async () =>
      env.DB.prepare('SELECT updated_at FROM sessions WHERE user_id = ?')
        .bind(await userIdOf(email))
        .first<number>('updated_at')
    const before = (await lastActive()) ?? 0
    passTime(11 * 60_000)
    await browser.get('/console')
    expect(await lastActive()).toBeGreaterThanOrEqual(before + 11 * 60_000)
  })

  it.each([
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
      'Edge on macOS',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0',
      'Firefox on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    ['curl/8.5.0', 'curl'],
    ['<script>', 'Unknown browser'],
    [null, 'Unknown browser'],
  ])('name the device of %s', (userAgent, device) => {
    expect(deviceOf(userAgent)).toBe(device)
  })
})

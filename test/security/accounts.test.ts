// Attacks on accounts: takeover, locking out the owner, and secrets in settings and logs.
import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { authOf } from '../../src/users/auth.ts'
import { listAuditEntries } from '../../src/organisations/audit-log.ts'
import { app } from '../../src/app.ts'
import { developmentMailbox } from '../../src/mail/send.ts'
import { BASE } from '../support/client.ts'
import {
  latestMail,
  latestToken,
  newAddress,
  newOwner,
  newBrowser,
  PASSWORD,
  signUp,
  verify,
  type Browser,
} from '../support/browser.ts'

const ATTACKER_PASSWORD = 'the password of an attacker'

const signIn = (email: string, password: string, browser = newBrowser()) =>
  browser.post('/console/sign-in', { email, password })
const signUpWith = (browser: Browser, email: string, password = PASSWORD) =>
  browser.post('/console/sign-up', { email, password, organisation: 'Acme' })
const invite = (browser: Browser, email: string, role = 'developer') =>
  browser.post('/console/settings/team/invitations', { email, role })
const emailsTo = (email: string) => developmentMailbox().filter(({ to }) => to === email).length

describe('an account that an attacker created for the address of another person', () => {
  it('is not verified by a scanner that follows the link, and its password does not work', async () => {
    const owner = await newOwner()
    const victim = newAddress()
    await invite(owner.browser, victim, 'owner')
    const attacker = newBrowser()
    await signUpWith(attacker, victim, ATTACKER_PASSWORD)
    const { path } = latestMail(victim)

    expect((await newBrowser().get(path)).status).toBe(200) // the scanner
    expect((await signIn(victim, ATTACKER_PASSWORD, attacker)).status).toBe(403)

    const inside = await verify(newBrowser(), victim, { password: PASSWORD })
    expect(inside.path).toMatch(/^\/console\/(onboarding|invitations)/)
    expect((await signIn(victim, ATTACKER_PASSWORD, attacker)).status).toBe(401)
    expect((await attacker.get('/console')).path).toMatch(/^\/console\/sign-in/)
  })

  it('gets the password of the person who verifies it, also if that person signed up too', async () => {
    const victim = newAddress()
    await signUpWith(newBrowser(), victim, ATTACKER_PASSWORD)
    const own = newBrowser()
    await signUpWith(own, victim)
    // The account has the attacker's password, although this browser signed up too.
    expect((await own.get(latestMail(victim).path)).html).toContain('Set your password')
    expect((await verify(own, victim)).status).toBe(422)
    expect((await verify(own, victim, { password: PASSWORD })).path).toMatch(/onboarding/)
    expect((await signIn(victim, ATTACKER_PASSWORD)).status).toBe(401)
    expect((await signIn(victim, PASSWORD)).path).toMatch(/onboarding/)
  })

  it('gets a new password when the invited person joins', async () => {
    const owner = await newOwner()
    const victim = newAddress()
    await signUpWith(newBrowser(), victim, ATTACKER_PASSWORD)
    await invite(owner.browser, victim, 'owner')
    const { path } = latestMail(victim)
    expect((await newBrowser().post(path, { password: PASSWORD })).path).toBe('/console')
    expect((await signIn(victim, ATTACKER_PASSWORD)).status).toBe(401)
    expect((await signIn(victim, PASSWORD)).path).toBe('/console')
  })

  it('gets a new password by a reset, which verifies the address', async () => {
    const victim = newAddress()
    await signUpWith(newBrowser(), victim, ATTACKER_PASSWORD)
    await newBrowser().post('/console/forgot', { email: victim })
    const token = latestToken(victim)
    await newBrowser().post('/console/reset', { token, password: PASSWORD })
    expect((await signIn(victim, ATTACKER_PASSWORD)).status).toBe(401)
    expect((await signIn(victim, PASSWORD)).path).toMatch(/onboarding/)
  })
})

describe('an invitation', () => {
  it('is accepted by the link of its email only, not by an account with its address', async () => {
    const owner = await newOwner()
    const browser = newBrowser()
    const email = await signUp(browser)
    await invite(owner.browser, email, 'owner')
    const list = await browser.get('/console/invitations')
    expect(list.html).toContain('open the link in the email')
    expect(list.html).not.toContain('method="post"')
    const team = await owner.browser.get('/console/settings/team')
    const [invitationId = ''] = /inv_\w{26}/.exec(team.html) ?? []
    for (const path of [`/${invitationId}`, `/${invitationId}/accept`, '']) {
      const page = await browser.post(`/console/invitations${path}`, { password: PASSWORD })
      expect(page.html).not.toContain(owner.organisationId)
    }
    expect((await browser.get('/console')).html).not.toContain(owner.organisationId)
    const page = await browser.post(latestMail(email).path)
    expect(page.html).toContain(owner.organisationId)
  })

  it('redirects users with an account to sign-in and back', async () => {
    const owner = await newOwner()
    const other = await newOwner()
    await invite(owner.browser, other.email)
    const { path } = latestMail(other.email)
    const browser = newBrowser()
    const page = await browser.get(path)
    expect(page.html).not.toContain('name="password"')
    const [, link = ''] = /href="(\/console\/sign-in\?next=[^"]+)"/.exec(page.html) ?? []
    expect((await browser.get(link)).html).toContain(`name="next" value="${path}"`)
    // A posted password does not replace the password of the account.
    const ignored = await browser.post(path, { password: ATTACKER_PASSWORD })
    expect(ignored.path).toBe(path)
    const credentials = { email: other.email, password: PASSWORD, next: path }
    const back = await browser.post('/console/sign-in', credentials)
    expect(back.path).toBe(path)
    expect(back.html).toMatch(/<button[^>]*aria-label="Join Acme"/)
    expect((await browser.post(path)).html).toContain(owner.organisationId)
    expect((await signIn(other.email, ATTACKER_PASSWORD)).status).toBe(401)
  })

  it('works once, also for concurrent requests', async () => {
    const owner = await newOwner()
    const email = newAddress()
    await invite(owner.browser, email)
    const { path } = latestMail(email)
    const pages = await Promise.all(
      [1, 2, 3].map((each) => newBrowser().post(path, { password: `long password ${each}` })),
    )
    expect(pages.filter((page) => page.path === '/console')).toHaveLength(1)
    expect((await newBrowser().post(path, { password: PASSWORD })).status).toBe(404)
    const entries = await listAuditEntries(env, owner.organisationId, { limit: 100 })
    expect(entries.filter(({ action }) => action === 'member.joined')).toHaveLength(1)
  })

  it.each(['without an account', 'with an account'])(
    'creates no membership if it is withdrawn while it is accepted, %s',
    async (kind) => {
      const owner = await newOwner()
      const browser = newBrowser()
      const email = kind === 'with an account' ? await signUp(browser) : newAddress()
      await invite(owner.browser, email)
      const { path } = latestMail(email)
      const batch = env.DB.batch.bind(env.DB)
      vi.spyOn(env.DB, 'batch').mockImplementationOnce(async (statements) => {
        await env.DB.prepare('DELETE FROM invitations WHERE email = ?').bind(email).run()
        return batch(statements)
      })
      const page = await browser.post(path, { password: PASSWORD })
      expect(page.status).toBe(404)
      const counted = await env.DB.prepare(
        'SELECT (SELECT count(*) FROM members WHERE organisation_id = ?) AS members',
      )
        .bind(owner.organisationId)
        .first('members')
      expect(counted).toBe(1)
      if (kind === 'without an account') expect((await signIn(email, PASSWORD)).status).toBe(401)
    },
  )

  it('is recorded in the audit log when it is accepted, like each sign-in', async () => {
    const owner = await newOwner()
    const email = newAddress()
    await invite(owner.browser, email, 'owner')
    const ip = '203.0.113.99'
    await newBrowser(ip).post(latestMail(email).path, { password: PASSWORD })
    await signIn(email, PASSWORD, newBrowser('203.0.113.98'))
    await signIn(email, 'a wrong password', newBrowser('203.0.113.97'))
    const entries = await listAuditEntries(env, owner.organisationId, { limit: 100 })
    const of = entries.filter(({ actorEmail }) => actorEmail === email).toReversed()
    expect(of.map(({ action, ipAddress }) => [action, ipAddress])).toEqual([
      ['member.joined', ip],
      ['session.created', ip],
      ['session.created', '203.0.113.98'],
    ])
    expect(of[0]?.details).toEqual({ role: 'owner' })
  })
})

describe('wrong passwords', () => {
  const fail = (email: string, browser: Browser) => signIn(email, 'a wrong password', browser)

  it('limit the attacker’s network, but not the owner', async () => {
    const { email } = await newOwner()
    const attacker = newBrowser()
    for (let count = 0; count < 10; count++) expect((await fail(email, attacker)).status).toBe(401)
    const rejected = await fail(email, attacker)
    expect(rejected.status).toBe(429)
    expect(Number(rejected.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect((await signIn(email, PASSWORD)).path).toBe('/console')
    // Another notation of the address has the same limit.
    expect((await fail(email.replace('@', '+1@'), attacker)).status).toBe(429)
  })

  it('are counted, and successful sign-ins are not', async () => {
    const { email } = await newOwner()
    const ip = '198.51.100.60'
    for (let count = 0; count < 15; count++) {
      const page = await signIn(email, PASSWORD, newBrowser(ip))
      expect(page.path).toBe('/console')
    }
  })

  it('are counted for concurrent requests', async () => {
    const { email } = await newOwner()
    const attacker = newBrowser()
    const pages = await Promise.all(Array.from({ length: 30 }, () => fail(email, attacker)))
    expect(pages.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(pages.filter(({ status }) => status === 429)).toHaveLength(20)
  })

  it('from many networks limit new browsers, but not browsers that signed in before', async () => {
    const { email, browser } = await newOwner()
    await browser.post('/console/sign-out')
    for (let round = 0; round < 10; round++) {
      const attackers = Array.from({ length: 10 }, () => fail(email, newBrowser()))
      await Promise.all(attackers)
    }
    expect((await fail(email, newBrowser())).status).toBe(429)
    const locked = newBrowser()
    const page = await signIn(email, PASSWORD, locked)
    expect(page.status).toBe(429)
    expect(page.html).toContain('href="/console/forgot"')
    expect((await signIn(email, PASSWORD, browser)).path).toBe('/console')
    // The owner proves with the mailbox who they are.
    await locked.post('/console/forgot', { email })
    const password = 'another long password'
    await locked.post('/console/reset', { token: latestToken(email), password })
    expect((await signIn(email, password, locked)).path).toBe('/console')
    // A trusted browser is trusted for this account only, and has a limit too.
    const other = await newOwner()
    expect((await signIn(email, PASSWORD, other.browser)).status).toBe(429)
    for (let count = 0; count < 20; count++) expect((await fail(email, browser)).status).toBe(401)
    expect((await fail(email, browser)).status).toBe(429)
  }, 60_000)

  it('are limited for browsers with a forged cookie', async () => {
    const { email, browser } = await newOwner()
    const attacker = newBrowser()
    const cookie = browser.cookies.get('try-on.browser') ?? ''
    expect(cookie).not.toBe('')
    attacker.cookies.set('try-on.browser', cookie.replace(/\.[^.]+$/, '.AAAA'))
    for (let count = 0; count < 10; count++) await fail(email, attacker)
    expect((await fail(email, attacker)).status).toBe(429)
  })

  it('are no longer limited after the window', async () => {
    const { email } = await newOwner()
    const attacker = newBrowser()
    for (let count = 0; count < 11; count++) await fail(email, attacker)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 16 * 60_000 })
    expect((await fail(email, attacker)).status).toBe(401)
  })
  afterEach(() => void vi.useRealTimers())

  it('of a signed-in user are limited, and correct passwords are not', async () => {
    const { browser } = await newOwner()
    const change = (current: string) =>
      browser.post('/console/account/password', { current, password: PASSWORD })
    expect(await change(PASSWORD)).toMatchObject({
      path: '/console/account',
      notice: 'Password changed. All other sessions have been signed out.',
    })
    for (let count = 0; count < 20; count++) expect((await change('wrong')).status).toBe(422)
    expect((await change(PASSWORD)).status).toBe(429)
  })
})

describe('email', () => {
  it('has a limit for each purpose, network and organisation', async () => {
    const owner = await newOwner()
    const email = newAddress()
    const forgot = (browser: Browser, address = email) =>
      browser.post('/console/forgot', { email: address })
    const attacker = newBrowser()
    for (let count = 0; count < 5; count++) expect((await forgot(attacker)).status).toBe(200)
    expect((await forgot(attacker)).status).toBe(429)
    expect((await forgot(attacker, email.replace('@', '+x@'))).status).toBe(429)
    expect((await forgot(newBrowser())).status).toBe(200)
    for (let count = 0; count < 14; count++) await forgot(newBrowser())
    expect((await forgot(newBrowser())).status).toBe(429)

    expect((await invite(owner.browser, email)).html).toContain('Invitation sent.')
    expect((await signUpWith(newBrowser(), email)).path).toBe('/console/check-inbox')
    expect((await newBrowser().post('/console/resend', { email })).html).toContain(
      'we sent a new link',
    )
    // Another organisation can invite the same person after the first has reached its limit.
    for (let count = 0; count < 4; count++) await invite(owner.browser, email)
    expect((await invite(owner.browser, email)).status).toBe(429)
    const other = await newOwner()
    expect((await invite(other.browser, email)).html).toContain('Invitation sent.')
  })

  it('for a reset can be requested by a trusted browser after others have reached the limit', async () => {
    const { email, browser } = await newOwner()
    for (let count = 0; count < 20; count++) await newBrowser().post('/console/forgot', { email })
    expect((await newBrowser().post('/console/forgot', { email })).status).toBe(429)
    const before = emailsTo(email)
    expect((await browser.post('/console/forgot', { email })).status).toBe(200)
    expect(emailsTo(email)).toBe(before + 1)
  })

  const requestWith = (
    settings: object,
    path: string,
    body?: Record<string, string>,
    host = BASE,
  ) =>
    app.fetch(
      new Request(host + path, {
        ...(body && { method: 'POST', body: new URLSearchParams(body), headers: { Origin: host } }),
      }),
      { ...env, DEV_MAILBOX: 'false', ...settings },
      createExecutionContext(),
    )
  const PAGES = ['/console/sign-up', '/console/check-inbox', '/console/forgot']
  const FORMS = ['/console/sign-up', '/console/resend', '/console/forgot']

  it.each([
    ['BASE_URL', { MAIL_FROM: 'hello@try-on.example' }],
    ['MAIL_FROM', { BASE_URL: 'https://try-on.example' }],
  ])('is unavailable without %s, which is logged', async (missing, settings) => {
    const { email } = await newOwner()
    const send = vi.spyOn(env.MAIL, 'send')
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const host = 'https://evil.example'
    for (const path of PAGES)
      expect((await requestWith(settings, path, undefined, host)).status).toBe(503)
    for (const path of FORMS) {
      const body = { email, password: PASSWORD, organisation: 'Acme' }
      const response = await requestWith(settings, path, body, host)
      expect(response.status).toBe(503)
      const html = await response.text()
      expect(html).toContain('The console is not set up')
      expect(html).toContain('not configured to send email')
      expect(html).not.toContain(missing)
      expect(html).not.toContain('We sent')
    }
    expect(log.mock.lastCall?.[0]).toContain(`needs ${missing}`)
    expect(send).not.toHaveBeenCalled()
    // Pages that send no email work.
    expect((await requestWith(settings, '/console/sign-in')).status).toBe(200)
    expect((await requestWith(settings, '/v1/account')).status).toBe(401)
  })

  it('has links that start with BASE_URL, not with the Host header', async () => {
    const { email } = await newOwner()
    const settings = { MAIL_FROM: 'hello@try-on.example', BASE_URL: 'https://try-on.example' }
    const send = vi.spyOn(env.MAIL, 'send').mockResolvedValue({ messageId: 'm1' })
    const response = await requestWith(
      settings,
      '/console/forgot',
      { email },
      'https://evil.example',
    )
    expect(response.status).toBe(200)
    await vi.waitUntil(() => send.mock.calls.length > 0)
    const [{ text }] = send.mock.calls[0] as unknown as [{ text: string }]
    expect(text).toContain('https://try-on.example/console/reset?token=')
    expect(text).not.toContain('evil.example')
  })

  it('limits the number of better-auth instances for forged hosts', () => {
    const first = authOf(env, 'https://host-0.example')
    expect(authOf(env, 'https://host-0.example')).toBe(first)
    for (let host = 1; host <= 10; host++) authOf(env, `https://host-${host}.example`)
    expect(authOf(env, 'https://host-0.example')).not.toBe(first)
  })
})

describe('reset links', () => {
  const forgot = async (email: string) => {
    await newBrowser().post('/console/forgot', { email })
    return latestToken(email)
  }
  const open = (token: string) => newBrowser().get(`/console/reset?token=${token}`)

  it('all expire with a password reset', async () => {
    const { email } = await newOwner()
    const older = await forgot(email)
    const newer = await forgot(email)
    expect((await open(older)).html).toContain('name="password"')
    const password = 'another long password'
    const done = await newBrowser().post('/console/reset', { token: newer, password })
    expect(done).toMatchObject({
      path: '/console/sign-in',
      notice: 'Password changed. You have been signed out everywhere.',
    })
    const rejected = await newBrowser().post('/console/reset', {
      token: older,
      password: ATTACKER_PASSWORD,
    })
    expect(rejected.status).toBe(403)
    expect((await signIn(email, ATTACKER_PASSWORD)).status).toBe(401)
    expect((await signIn(email, password)).path).toBe('/console')
  })

  it('all expire with a password change', async () => {
    const { email, browser } = await newOwner()
    const token = await forgot(email)
    await browser.post('/console/account/password', {
      current: PASSWORD,
      password: 'another long password',
    })
    expect((await open(token)).status).toBe(403)
  })

  it('work once, also for concurrent requests', async () => {
    const { email } = await newOwner()
    const token = await forgot(email)
    const pages = await Promise.all(
      [1, 2, 3].map((each) =>
        newBrowser().post('/console/reset', { token, password: `long password ${each}` }),
      ),
    )
    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 403, 403])
  })

  it('that are used, invalid or expired show an error instead of a form', async () => {
    const { email } = await newOwner()
    const token = await forgot(email)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61 * 60_000 })
    for (const each of [token, 'invalid', '']) {
      const page = await open(each)
      expect(page.status).toBe(403)
      expect(page.html).toContain('This link is invalid or has expired')
      expect(page.html).not.toContain('name="password"')
    }
  })
  afterEach(() => void vi.useRealTimers())

  it('are stored as hashes', async () => {
    const { email } = await newOwner()
    const token = await forgot(email)
    const { results } = await env.DB.prepare('SELECT * FROM verifications').all()
    expect(results.length).toBeGreaterThan(0)
    expect(JSON.stringify(results)).not.toContain(token)
  })

  it('change nothing when the database fails, and work when repeated', async () => {
    const { email } = await newOwner()
    const token = await forgot(email)
    const fields = { token, password: 'another long password' }
    vi.spyOn(env.DB, 'batch').mockRejectedValueOnce(new Error('D1 is down'))
    vi.spyOn(console, 'error').mockImplementation(() => {})
    expect((await newBrowser().post('/console/reset', fields)).status).toBe(500)
    expect((await signIn(email, PASSWORD)).path).toBe('/console')
    expect(await newBrowser().post('/console/reset', fields)).toMatchObject({
      path: '/console/sign-in',
      notice: 'Password changed. You have been signed out everywhere.',
    })
  })

  it('are requested with the address that was entered at sign-in, without a URL', async () => {
    const { email } = await newOwner()
    const before = emailsTo(email)
    const fields = { email, password: 'forgotten', from_sign_in: '' }
    const page = await newBrowser().post('/console/forgot', fields)
    expect(page.path).toBe('/console/forgot')
    expect(page.html).toContain(`value="${email}"`)
    expect(page.html).not.toContain('forgotten')
    expect(emailsTo(email)).toBe(before)
  })
})

describe('the log', () => {
  it('contains no token of an emailed link', async () => {
    const lines: string[] = []
    vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(String(line)))
    const owner = await newOwner()
    const email = newAddress()
    await invite(owner.browser, email)
    const { path } = latestMail(email)
    const token = latestToken(email)
    await signUpWith(newBrowser(), newAddress())
    const verification =
      new URL(developmentMailbox()[0]?.link ?? '').searchParams.get('token') ?? ''
    const prepare = vi.spyOn(env.DB, 'prepare').mockImplementation(() => {
      throw new Error(`D1 is down: ${path} ${verification} /console/reset?token=abcdef`)
    })
    for (const each of [path, `/console/verify?token=${verification}`]) {
      expect((await newBrowser().get(each)).status).toBe(500)
    }
    prepare.mockRestore()
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain('/console/invitations/[REDACTED]')
    for (const secret of [token, verification, 'abcdef']) {
      expect(secret.length).toBeGreaterThan(5)
      expect(lines.join('\n')).not.toContain(secret)
    }
  })
})

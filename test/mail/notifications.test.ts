// The emails about new keys, new sign-ins, low balances and failing webhooks, and their switches.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { securityEmail } from '../../src/mail/security-mail.ts'
import { developmentMailbox } from '../../src/mail/send.ts'
import { emailFrom } from '../../src/mail/templates.tsx'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { eventIdOf, newId } from '../../src/platform/ids.ts'
import {
  createKey,
  newBrowser,
  newMember,
  newOwner,
  PASSWORD,
  tryOn,
  userIdOf,
  type Browser,
} from '../support/browser.ts'
import { passTime } from '../support/deletion.ts'
import { operator } from '../support/world.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { jobsDb } from '../support/jobs-database.ts'

const ACCOUNT = '/console/account'

afterEach(() => vi.useRealTimers())

const mailsTo = (address: string) => developmentMailbox().filter(({ to }) => to === address)
const subjectsTo = (address: string) => mailsTo(address).map(({ subject }) => subject)

/** Waits for a mail that is sent after the response. */
const mailWith = (address: string, subject: string) =>
  vi.waitUntil(() => mailsTo(address).find((mail) => mail.subject.includes(subject)))

/** The names of the notifications on the account page, and whether they are on. */
async function switches(browser: Browser): Promise<Map<string, boolean>> {
  const { source } = await browser.get(ACCOUNT)
  const boxes = source.matchAll(/<input type="checkbox" name="on" value="([^"]+)"( checked)?/g)
  return new Map([...boxes].map(([, name = '', checked]) => [name, checked !== undefined]))
}

/** Switches off one notification, as the form does without its checkbox. */
const switchOff = (browser: Browser, name: string) =>
  browser.post(`${ACCOUNT}/notifications`, { shown: name })

const setRole = (userId: string, role: string) =>
  env.DB.prepare('UPDATE members SET role = ? WHERE user_id = ?').bind(role, userId).run()

describe('a new API key', () => {
  it('is reported to owners and developers, without the key', async () => {
    const { browser, email, organisationId } = await newOwner('Boutique')
    const developer = await newMember(organisationId)
    const viewer = await newMember(organisationId)
    await setRole(viewer.userId, 'viewer')
    const { html } = await createKey(browser, { name: 'Checkout', mode: 'live' })
    const [key = ''] = /svc_live_sk_\w{64}/.exec(html) ?? []
    const mail = await mailWith(email, 'New live API key in Boutique')
    expect(mail?.text).toContain(`${email} created the live API key “Checkout”`)
    expect(mail?.text).toContain(`ends in ${key.slice(-4)}`)
    expect(mail?.text).not.toContain(key)
    expect(mail?.link).toContain(`/console/${organisationId}/settings/api-keys`)
    await mailWith(developer.email, 'New live API key')
    expect(subjectsTo(viewer.email).join()).not.toContain('API key')
  })

  it('is reported when support staff creates it, but not when it is revoked or exists', async () => {
    const { browser, email, organisationId } = await newOwner()
    await operator.post(`/operator/organisations/${organisationId}/api-keys`, { mode: 'test' })
    const mail = await mailWith(email, 'New test API key')
    expect(mail?.text).toContain('Support staff created')
    const id = newId('key')
    await createKey(browser, { id })
    await createKey(browser, { id })
    await browser.post(`/console/settings/api-keys/${id}/revoke`)
    await vi.waitUntil(() => subjectsTo(email).filter((s) => s.includes('API key')).length >= 2)
    expect(subjectsTo(email).filter((subject) => subject.includes('API key'))).toHaveLength(2)
  })

  it('is created if the email cannot be sent', async () => {
    const { browser, organisationId } = await newOwner()
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const prepare = env.DB.prepare.bind(env.DB)
    vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
      if (sql.includes('"muted_notifications"')) throw new Error('D1 is unavailable')
      return prepare(sql)
    })
    expect((await createKey(browser)).html).toMatch(/svc_test_sk_\w{64}/)
    await vi.waitUntil(() => errors.mock.calls.join().includes('members not notified'))
    expect(errors.mock.calls.join()).toContain(organisationId)
  })
})

describe('a sign-in', () => {
  const signIn = (browser: Browser, email: string) =>
    browser.post('/console/sign-in', { email, password: PASSWORD })

  it('is reported once for each new browser, and not after the sign-up', async () => {
    const { browser, email } = await newOwner()
    const other = newBrowser('203.0.113.7')
    await signIn(other, email)
    const mail = await mailWith(email, 'New sign-in')
    expect(mail?.text).toContain('IP address: 203.0.113.7')
    expect(mail?.text).toContain('Browser: Unknown browser')
    expect(mail?.text).toMatch(/Time: \d+ \w+ \d{4}/)
    expect(mail?.link).toMatch(/\/console\/account$/)
    await browser.post('/console/sign-out')
    await signIn(browser, email)
    await signIn(other, email)
    const third = newBrowser('203.0.113.8')
    await signIn(third, email)
    await vi.waitUntil(() => mailsTo(email).some(({ text }) => text.includes('203.0.113.8')))
    expect(subjectsTo(email).filter((subject) => subject.includes('New sign-in'))).toHaveLength(2)
  })

  it('is reported once an hour for each network', async () => {
    const { email } = await newOwner()
    const reports = () =>
      mailsTo(email).filter(({ subject }) => subject.includes('New sign-in')).length
    for (let n = 0; n < 3; n++) await signIn(newBrowser('2001:db8:77:1::1'), email)
    await signIn(newBrowser('2001:db8:77:1::2'), email)
    await signIn(newBrowser('2001:db8:77:2::1'), email)
    await vi.waitUntil(() => reports() === 2)
    passTime(61 * 60_000)
    await signIn(newBrowser('2001:db8:77:1::3'), email)
    await vi.waitUntil(() => reports() === 3)
  })

  it('is not reported when the user has switched it off, or with a wrong password', async () => {
    const { browser, email } = await newOwner()
    await switchOff(browser, 'new_sign_in')
    await signIn(newBrowser(), email)
    await browser.post(`${ACCOUNT}/notifications`, { shown: 'new_sign_in', on: 'new_sign_in' })
    await newBrowser().post('/console/sign-in', { email, password: 'a wrong password' })
    await signIn(newBrowser('203.0.113.9'), email)
    await mailWith(email, 'New sign-in')
    expect(mailsTo(email).filter(({ subject }) => subject.includes('New sign-in'))).toHaveLength(1)
    expect((await mailWith(email, 'New sign-in'))?.text).toContain('203.0.113.9')
  })
})

describe('failing webhooks', () => {
  const upstream = fakeUpstream()
  const MINUTE_MS = 60_000

  beforeEach(() => {
    vi.spyOn(env.WEBHOOKS, 'send').mockResolvedValue({
      metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
    })
  })

  /** An organisation with an event whose delivery fails. */
  async function failing() {
    const owner = await newOwner()
    const url = `https://${crypto.randomUUID()}.hooks.test/secret-path`
    const status = { current: 500 }
    upstream.on(url, () => new Response('', { status: status.current }))
    await owner.browser.post('/console/settings/webhooks/url', { url })
    const { jobId } = await tryOn(owner.browser)
    const eventId = eventIdOf(jobId)
    await vi.waitUntil(async () => {
      const row = await jobsDb(eventId)
        .prepare('SELECT id FROM webhook_events WHERE id = ?')
        .bind(eventId)
        .first()
      return row !== null
    })
    const attempt = async () => {
      await jobsDb(eventId)
        .prepare(
          "UPDATE webhook_events SET due_at = 0, status = 'retrying', attempts = 0 WHERE id = ?",
        )
        .bind(eventId)
        .run()
      await jobsDb(eventId)
        .prepare('DELETE FROM webhook_attempts WHERE event_id = ?')
        .bind(eventId)
        .run()
      await deliverEvent({ env, eventId })
    }
    const age = (ms: number) =>
      jobsDb(owner.organisationId)
        .prepare(
          'UPDATE failing_receivers SET failing_since = failing_since - ? WHERE organisation_id = ?',
        )
        .bind(ms, owner.organisationId)
        .run()
    const failures = () =>
      jobsDb(owner.organisationId)
        .prepare('SELECT failures FROM failing_receivers WHERE organisation_id = ?')
        .bind(owner.organisationId)
        .first<number>('failures')
    return { ...owner, url, status, attempt, age, failures }
  }

  const reportsTo = (email: string) =>
    mailsTo(email).filter(({ subject }) => subject.includes('failing'))

  it('are reported once after five failures over 30 minutes, and again after a success', async () => {
    const { email, url, organisationId, status, attempt, age, failures } = await failing()
    await attempt()
    await age(29 * MINUTE_MS)
    for (let n = 0; n < 5; n++) await attempt()
    expect(await failures()).toBe(6)
    expect(reportsTo(email)).toEqual([])
    await age(MINUTE_MS)
    await attempt()
    await attempt()
    const [mail, ...others] = reportsTo(email)
    expect(others).toEqual([])
    expect(mail?.text).toContain(new URL(url).origin)
    expect(mail?.text).not.toContain('secret-path')
    expect(mail?.link).toContain(`/console/${organisationId}/settings/webhooks`)
    status.current = 200
    await attempt()
    status.current = 500
    for (let n = 0; n < 4; n++) await attempt()
    await age(31 * MINUTE_MS)
    expect(reportsTo(email)).toHaveLength(1)
    await attempt()
    expect(reportsTo(email)).toHaveLength(2)
  })

  it('are reported to developers, but not to billing members and not when switched off', async () => {
    const { browser, email, organisationId, attempt, age } = await failing()
    const developer = await newMember(organisationId)
    const accountant = await newMember(organisationId)
    await setRole(accountant.userId, 'billing')
    await switchOff(browser, `${organisationId}.webhook_failing`)
    await attempt()
    await age(31 * MINUTE_MS)
    for (let n = 0; n < 4; n++) await attempt()
    expect(reportsTo(email)).toEqual([])
    expect(reportsTo(accountant.email)).toEqual([])
    expect(reportsTo(developer.email)).toHaveLength(1)
  })
})

describe('the switches', () => {
  it('are those of the roles of the user, and all on at first', async () => {
    const { browser, email, organisationId } = await newOwner()
    const of = (kind: string) => `${organisationId}.${kind}`
    const kinds = ['api_key_created', 'webhook_failing', 'low_balance', 'credit_limit']
    const all = ['new_sign_in', ...kinds.map(of)]
    expect(await switches(browser)).toEqual(new Map(all.map((name) => [name, true])))
    await setRole(await userIdOf(email), 'billing')
    expect([...(await switches(browser)).keys()]).toEqual(['new_sign_in', of('low_balance')])
    await setRole(await userIdOf(email), 'viewer')
    expect([...(await switches(browser)).keys()]).toEqual(['new_sign_in'])
  })

  it('change only what the form showed, are recorded and exported', async () => {
    const { browser, organisationId } = await newOwner()
    const other = await newOwner()
    const name = `${organisationId}.low_balance`
    const page = await switchOff(browser, name)
    expect(page.path).toContain('/console/account')
    expect(page.html).toContain('Notifications saved.')
    await switchOff(browser, name)
    await switchOff(browser, `${other.organisationId}.low_balance`)
    const off = [...(await switches(browser))].filter(([, isOn]) => !isOn)
    expect(off).toEqual([[name, false]])
    expect([...(await switches(other.browser)).values()]).not.toContain(false)
    const log = await browser.get('/console/settings/audit-log')
    expect(log.html.match(/<div>Changed their notifications/g)).toHaveLength(1)
    const { source } = await browser.post('/console/account/export')
    expect(JSON.parse(source)).toMatchObject({
      notifications: expect.arrayContaining([
        { kind: 'low_balance', organisation_id: organisationId, is_on: false },
        { kind: 'new_sign_in', organisation_id: null, is_on: true },
      ]),
    })
  })

  it('are deleted with the membership and with the account', async () => {
    const { organisationId, browser } = await newOwner()
    const member = await newMember(organisationId)
    await switchOff(member.browser, `${organisationId}.api_key_created`)
    await switchOff(member.browser, 'new_sign_in')
    const count = () =>
      env.DB.prepare('SELECT count(*) AS n FROM muted_notifications WHERE user_id = ?')
        .bind(member.userId)
        .first<number>('n')
    expect(await count()).toBe(2)
    await browser.post(`/console/settings/team/members/${member.userId}/remove`)
    expect(await count()).toBe(1)
    await env.DB.prepare('DELETE FROM users WHERE id = ?').bind(member.userId).run()
    expect(await count()).toBe(0)
  })
})

it('has an email for each change of the sign-in, which has no switch', () => {
  const content = securityEmail('password_changed', new Date('2026-11-22T12:00:00Z'))
  const email = emailFrom('https://try-on.test/console/account', content)
  expect(email.subject).toBe('Your password was changed')
  expect(email.text).toContain('22 November 2026')
  expect(email.text).toContain('cannot be switched off')
})

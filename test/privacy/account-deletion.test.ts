// Deleting a user's account, and its effect on the user's organisations.
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { anonymiseAuditEntries } from '../../src/organisations/audit-log.ts'
import { newId } from '../../src/platform/ids.ts'
import { clientOf, codeOf } from '../support/client.ts'
import { DAY_MS, GRACE_MS, PAST_GRACE_MS, passTime, runCron } from '../support/deletion.ts'
import { cellsWith } from '../support/traces.ts'
import {
  join,
  latestMail,
  newAddress,
  newOwner,
  newBrowser,
  PASSWORD,
  signUp,
  type Browser,
} from '../support/browser.ts'

const PAGE = '/console/account/delete'
const TEAM = '/console/settings/team'

const deleteAccount = (browser: Browser, password = PASSWORD) => browser.post(PAGE, { password })

const signIn = async (email: string) => {
  const browser = newBrowser()
  return { browser, page: await browser.post('/console/sign-in', { email, password: PASSWORD }) }
}

const userIdOf = async (email: string) =>
  (await env.DB.prepare('SELECT id FROM users WHERE email = ?').bind(email).first<string>('id')) ??
  ''

/** An organisation with its first owner and another member. */
async function newTeam(role: 'developer' | 'owner') {
  const owner = await newOwner()
  const email = newAddress()
  await owner.browser.post(`${TEAM}/invitations`, { email, role })
  const browser = await join(email)
  await browser.get('/console')
  return { owner, other: { browser, email } }
}

afterEach(() => void vi.useRealTimers())

describe('account deletion', () => {
  it('ends all sessions, and a new session can only cancel the deletion', async () => {
    const { browser, email, testKey } = await newOwner()
    const elsewhere = (await signIn(email)).browser
    const page = await browser.get(PAGE)
    expect(page.html).toContain('You are the only member of Acme')
    expect((await deleteAccount(browser, 'wrong')).html).toContain('Incorrect password.')
    expect((await elsewhere.get('/console')).path).toBe('/console')

    expect(await deleteAccount(browser)).toMatchObject({
      path: '/console/sign-in',
      notice: expect.stringContaining('Your account is scheduled for deletion'),
    })
    const mail = latestMail(email)
    expect(mail).toEqual({ subject: 'Your account will be deleted', path: '/console/sign-in' })
    expect((await elsewhere.get('/console')).path).toMatch(/^\/console\/sign-in/)
    expect(await codeOf(await clientOf(testKey).get('/v1/jobs/job_x'))).toBe('account_suspended')

    passTime(6 * DAY_MS)
    const back = await signIn(email)
    expect(back.page.path).toBe('/console/account/keep')
    expect(back.page.html).toContain('and Acme will be deleted on')
    for (const path of ['/console', '/console/account', '/console/onboarding', PAGE]) {
      expect((await back.browser.get(path)).path).toBe('/console/account/keep')
    }
    const home = await back.browser.post('/console/account/keep')
    expect(home.path).toBe('/console')
    expect(home.html).not.toContain('will be deleted')
    expect((await clientOf(testKey).get('/v1/jobs/job_x')).status).toBe(404)
    passTime(2 * DAY_MS)
    await runCron()
    expect((await signIn(email)).page.path).toBe('/console')
  })

  it('deletes the user and the organisation without other members', async () => {
    const { browser, email, organisationId, testKey } = await newOwner()
    const userId = await userIdOf(email)
    await newBrowser().post('/console/forgot', { email })
    await deleteAccount(browser)
    passTime(PAST_GRACE_MS)
    await runCron()
    expect(await cellsWith(userId)).toEqual([])
    // Rate limits by address expire within an hour.
    const cells = (await cellsWith(email)).filter((cell) => cell !== 'attempts.key')
    expect(cells).toEqual([])
    expect(await cellsWith(organisationId)).toEqual([
      'closed_organisations.id',
      'free_credit_claims.organisation_id',
    ])
    expect((await clientOf(testKey).get('/v1/account')).status).toBe(401)
    expect((await signIn(email)).page.status).toBe(401)
  })

  it('cannot be cancelled once the grace period is over', async () => {
    const { browser, email } = await newOwner()
    await deleteAccount(browser)
    passTime(GRACE_MS)
    const late = await signIn(email)
    expect(late.page.html).toContain('can no longer be cancelled')
    expect((await late.browser.post('/console/account/keep')).path).toBe('/console/account/keep')
    passTime(PAST_GRACE_MS)
    await runCron()
    expect((await late.browser.get('/console')).path).toMatch(/^\/console\/sign-in/)
  })

  it('requires the last owner to make another member an owner first', async () => {
    const { owner, other } = await newTeam('developer')
    const rejected = await owner.browser.get(PAGE)
    expect(rejected.html).toContain('You are the last owner of Acme')
    expect((await deleteAccount(owner.browser)).path).toBe(PAGE)
    expect((await signIn(owner.email)).page.path).toBe('/console')

    await owner.browser.get(TEAM)
    const userId = await userIdOf(other.email)
    await owner.browser.post(`${TEAM}/members/${userId}/role`, { role: 'owner' })
    expect((await owner.browser.get(PAGE)).html).toContain('You will also leave Acme')
    expect(await deleteAccount(owner.browser)).toMatchObject({
      path: '/console/sign-in',
      notice: expect.stringContaining('Your account is scheduled for deletion'),
    })
    expect((await other.browser.get('/console')).html).not.toContain('will be deleted')
  })

  it('does not count owners whose account is scheduled for deletion', async () => {
    const { owner, other } = await newTeam('owner')
    await deleteAccount(other.browser)
    const userId = await userIdOf(owner.email)
    await owner.browser.get(TEAM)
    const left = await owner.browser.post(`${TEAM}/members/${userId}/remove`)
    expect(left).toMatchObject({
      path: TEAM,
      notice: 'An organisation must have at least one owner.',
    })
    expect((await owner.browser.get(PAGE)).html).toContain('You are the only member of Acme')
  })

  it('removes the address and IP from audit logs of remaining organisations', async () => {
    const { owner, other } = await newTeam('owner')
    const { organisationId: orgId } = owner
    const settings = '/console/settings/organisation'
    await other.browser.get(settings)
    await other.browser.post(`${settings}/name`, { name: 'Renamed' })
    await owner.browser.get(TEAM)
    const userId = await userIdOf(other.email)
    await env.DB.batch([
      env.DB.prepare('UPDATE audit_log SET details = ? WHERE organisation_id = ?').bind(
        JSON.stringify({ email: other.email, other: `x${other.email}` }),
        orgId,
      ),
      env.DB.prepare('UPDATE api_keys SET created_by = ? WHERE organisation_id = ?').bind(
        userId,
        orgId,
      ),
    ])
    await deleteAccount(other.browser)
    passTime(PAST_GRACE_MS)
    await runCron()

    const { results } = await env.DB.prepare(
      `SELECT action, actor_type, actor_email, ip_address, details FROM audit_log
       WHERE organisation_id = ? AND (action LIKE 'account.%' OR action = 'organisation.updated')
       ORDER BY id`,
    )
      .bind(orgId)
      .all<Record<string, string | null>>()
    expect(results.map(({ action }) => action)).toEqual([
      'organisation.updated',
      'account.deletion_scheduled',
      'account.deleted',
    ])
    expect(results[0]).toMatchObject({ actor_email: 'deleted user', ip_address: null })
    // Only whole values are replaced: another address can contain this one.
    expect(JSON.parse(results[0]?.['details'] ?? '')).toEqual({
      email: 'deleted user',
      other: `x${other.email}`,
    })
    expect(await cellsWith(userId)).toEqual(['audit_log.actor_id', 'audit_log.target'])
    expect((await signIn(owner.email)).page.html).toContain('Renamed')
  })

  it('finds the entries of a user without reading the whole audit log', async () => {
    const user = { id: newId('usr'), emails: [newAddress(), newAddress()] }
    for (const statement of anonymiseAuditEntries(env, user)) {
      const { sql, params } = statement.toSQL()
      const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .bind(...params)
        .all<{ detail: string }>()
      const plan = results.map(({ detail }) => detail).join('\n')
      expect(plan).toContain('USING INDEX audit_log_by_actor')
      expect(plan).not.toContain('SCAN')
    }
  })

  it('removes a former address from entries about the change and about the member', async () => {
    const { owner, other } = await newTeam('owner')
    const former = newAddress()
    const userId = await userIdOf(other.email)
    const details = [
      { email_old: former, email_new: other.email },
      { email: former, role: 'developer' },
    ]
    await env.DB.batch([
      env.DB.prepare('UPDATE users SET former_emails = ? WHERE id = ?').bind(
        JSON.stringify([former]),
        userId,
      ),
      ...details.map((each, at) =>
        env.DB.prepare(
          `INSERT INTO audit_log (id, organisation_id, at, actor_type, actor_id, action, details)
           VALUES (?, ?, 0, 'user', ?, 'user.email_changed', ?)`,
        ).bind(newId('aud'), owner.organisationId, [userId, 'usr_other'][at], JSON.stringify(each)),
      ),
    ])
    await deleteAccount(other.browser)
    passTime(PAST_GRACE_MS)
    await runCron()
    expect(await cellsWith(former)).toEqual([])
    expect(await cellsWith(other.email)).toEqual([])
  })

  it('works without an organisation', async () => {
    const browser = newBrowser()
    const email = await signUp(browser)
    expect(await deleteAccount(browser)).toMatchObject({
      path: '/console/sign-in',
      notice: expect.stringContaining('Your account is scheduled for deletion'),
    })
    passTime(PAST_GRACE_MS)
    await runCron()
    expect((await signIn(email)).page.status).toBe(401)
  })
})

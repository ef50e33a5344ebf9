// The audit log: its entries, its page and its endpoint for operators.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { clientOf, codeOf } from '../support/client.ts'
import {
  createKey,
  newAddress,
  newOwner,
  newMember,
  userIdOf,
  type Browser,
} from '../support/browser.ts'
import { failJobQueues, newOrganisation, operator, submit } from '../support/world.ts'

interface Entry {
  id: string
  at: string
  actor: { type: string; id: string | null; email: string | null }
  action: string
  target: string | null
  details: Record<string, unknown> | null
  ip_address: string | null
}
interface Page {
  entries: Entry[]
  next_cursor: string | null
  has_more: boolean
}

const LOG = '/console/settings/audit-log'
const TEAM = '/console/settings/team'

const pageOf = async (orgId: string, query = '?limit=100'): Promise<Page> =>
  (await operator.get(`/operator/organisations/${orgId}/audit-log${query}`)).json()

/** The entries of an organisation, newest first. */
const entriesOf = async (orgId: string) => (await pageOf(orgId)).entries

/** The actions that match, with their details, oldest first. */
async function recorded(orgId: string, actions: RegExp) {
  const entries = (await entriesOf(orgId)).filter(({ action }) => actions.test(action))
  return entries.map(({ action, details }) => [action, details]).reverse()
}

const keyIdOf = async (browser: Browser) =>
  /keys\/(key_\w{26})\/revoke/.exec((await browser.get('/console/settings/api-keys')).html)?.[1] ??
  ''

describe('the audit log', () => {
  it('records the creation and revocation of a key once each', async () => {
    const { browser, email, organisationId } = await newOwner()
    const id = newId('key')
    const page = await createKey(browser, { id, name: 'Shop', mode: 'live' })
    await createKey(browser, { id, name: 'Shop', mode: 'live' })
    const [key = ''] = /svc_live_sk_\w{64}/.exec(page.html) ?? []
    await browser.post(`/console/settings/api-keys/${id}/revoke`)
    await browser.post(`/console/settings/api-keys/${id}/revoke`)
    const entries = (await entriesOf(organisationId)).filter(({ target }) => target === id)
    const actor = { type: 'user', id: await userIdOf(email), email }
    const details = { name: 'Shop', mode: 'live', last_four: key.slice(-4) }
    const ip_address = expect.stringMatching(/^2001:db8:/)
    expect(entries).toEqual([
      expect.objectContaining({ action: 'api_key.revoked', actor, details, ip_address }),
      expect.objectContaining({ action: 'api_key.created', actor, details, ip_address }),
    ])
    expect(JSON.stringify(entries)).not.toContain(key.slice(0, -4))
  })

  it('records that a secret was revealed or rotated, without the secret', async () => {
    const { browser, organisationId } = await newOwner()
    await browser.post('/console/settings/webhooks/reveal')
    await browser.post('/console/settings/webhooks/rotate')
    expect(await recorded(organisationId, /^webhook_secret/)).toEqual([
      ['webhook_secret.revealed', null],
      ['webhook_secret.rotated', null],
    ])
    expect(JSON.stringify(await entriesOf(organisationId))).not.toContain('whsec_')
  })

  it('does not reveal the secret if the entry cannot be written', async () => {
    const { browser } = await newOwner()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const prepare = env.DB.prepare.bind(env.DB)
    vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
      if (sql.includes('into "audit_log"')) throw new Error('the audit log is unavailable')
      return prepare(sql)
    })
    const page = await browser.post('/console/settings/webhooks/reveal')
    expect(page.status).toBe(500)
    expect(page.html).not.toMatch(/whsec_\w/)
  })

  it('records old and new values of workspaces and settings, without the query of a URL', async () => {
    const { browser, organisationId } = await newOwner()
    await browser.post('/console/settings/workspaces', { name: 'Outlet' })
    const { html } = await browser.get('/console/settings/workspaces')
    const id = html.match(/ws_\w{26}/g)?.at(-1) ?? ''
    await browser.post(`/console/settings/workspaces/${id}/rename`, { name: 'Sale' })
    await browser.post(`/console/settings/workspaces/${id}/rename`, { name: 'Sale' })
    await browser.post(`/console/settings/workspaces/${id}/status`, { status: 'archived' })
    const url = 'https://hooks.test/a?token=hook-token'
    await browser.post('/console/settings/webhooks/url', { url })
    await browser.post('/console/settings/webhooks/url', { url })
    expect(await recorded(organisationId, /^(workspace|organisation.updated)/)).toEqual([
      ['workspace.created', { name: 'Outlet' }],
      ['workspace.updated', { name_old: 'Outlet', name_new: 'Sale' }],
      ['workspace.updated', { status_old: 'active', status_new: 'archived' }],
      [
        'organisation.updated',
        { default_webhook_url_old: null, default_webhook_url_new: 'https://hooks.test/a?…' },
      ],
    ])
  })

  it('records invitations, role changes, removals and departures', async () => {
    const { browser, email: ownerEmail, organisationId } = await newOwner()
    const email = newAddress()
    await browser.post(`${TEAM}/invitations`, { email, role: 'developer' })
    const [invitationId] = /inv_\w{26}/.exec((await browser.get(TEAM)).html) ?? []
    await browser.post(`${TEAM}/invitations/${invitationId}/withdraw`)
    const member = await newMember(organisationId)
    await browser.post(`${TEAM}/members/${member.userId}/role`, { role: 'owner' })
    await browser.post(`${TEAM}/members/${member.userId}/role`, { role: 'owner' })
    await member.browser.post(`${TEAM}/members/${await userIdOf(ownerEmail)}/role`, {
      role: 'developer',
    })
    await member.browser.post(`${TEAM}/members/${await userIdOf(ownerEmail)}/remove`)
    const second = await newMember(organisationId)
    await second.browser.post(`${TEAM}/members/${second.userId}/remove`)
    // Rejected changes of the last owner are not recorded.
    await member.browser.post(`${TEAM}/members/${member.userId}/remove`)
    await member.browser.post(`${TEAM}/members/${member.userId}/role`, { role: 'developer' })
    const removal = (memberEmail: string) => ({
      email: memberEmail,
      role: 'developer',
      keys_revoked: false,
    })
    const roles = { role_old: 'developer', role_new: 'owner' }
    expect(await recorded(organisationId, /^(invitation|member\.(?!joined))/)).toEqual([
      ['invitation.created', { email, role: 'developer' }],
      ['invitation.withdrawn', { email, role: 'developer' }],
      ['member.role_changed', { email: member.email, ...roles }],
      ['member.role_changed', { email: ownerEmail, role_old: 'owner', role_new: 'developer' }],
      ['member.removed', removal(ownerEmail)],
      ['member.left', removal(second.email)],
    ])
  })

  it('records the actions of operators, and each grant of credits once', async () => {
    const shop = await newOrganisation({ name: 'Boutique', credits: 5 })
    const path = `/operator/organisations/${shop.orgId}`
    await operator.patch(path, { plan: 'scale', output_retention_days: 7 })
    await operator.patch(path, { plan: 'scale' })
    const grant = { amount: 10, reason: 'Invoice', reference: 'invoice 9' }
    const grantCredits = () => operator.post(`${path}/credits`, grant)
    await Promise.all([grantCredits(), grantCredits()])
    await grantCredits()
    await operator.post(`${path}/webhook-secret/rotate`)
    const key = await (
      await operator.post(`${path}/api-keys`, { mode: 'test' })
    ).json<{ id: string }>()
    await operator.delete(`${path}/api-keys/${key.id}`)
    failJobQueues()
    vi.spyOn(env.TEST_JOBS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
    const { job_id } = await submit(shop.live)
    await operator.post(`/operator/jobs/${job_id}/withdraw`)
    await operator.post(`/operator/jobs/${job_id}/withdraw`)
    const entries = (await entriesOf(shop.orgId)).toReversed()
    expect(entries.map(({ action }) => action)).toEqual([
      'organisation.created',
      'organisation.updated',
      'credits.granted',
      'webhook_secret.rotated',
      'api_key.created',
      'api_key.revoked',
      'job.withdrawn',
    ])
    expect(entries[1]?.details).toEqual({
      plan_old: 'starter',
      plan_new: 'scale',
      output_retention_days_old: 30,
      output_retention_days_new: 7,
    })
    expect(entries[2]).toMatchObject({ target: 'invoice 9', details: grant })
    expect(entries.at(-1)).toMatchObject({ target: job_id, details: { mode: 'live' } })
    for (const { actor } of entries) {
      expect(actor).toEqual({ type: 'operator', id: null, email: null })
    }
  })

  it('records a grant on retry if the first entry could not be written', async () => {
    const shop = await newOrganisation()
    const path = `/operator/organisations/${shop.orgId}/credits`
    const grant = { amount: 10, reason: 'Invoice', reference: 'invoice 10' }
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const prepare = env.DB.prepare.bind(env.DB)
    const failingInsert = vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
      if (sql.includes('into "audit_log"')) throw new Error('the audit log is unavailable')
      return prepare(sql)
    })
    expect((await operator.post(path, grant)).status).toBe(500)
    failingInsert.mockRestore()
    expect(await (await operator.post(path, grant)).json()).toEqual({ credits: 110 })
    expect(await recorded(shop.orgId, /^credits/)).toEqual([['credits.granted', grant]])
  })

  it('is paginated', async () => {
    const shop = await newOrganisation()
    for (const name of ['a', 'b', 'c', 'd']) {
      await operator.post(`/operator/organisations/${shop.orgId}/workspaces`, { name })
    }
    const names: unknown[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Page = await pageOf(shop.orgId, `?limit=2${cursor && `&cursor=${cursor}`}`)
      expect(page.entries.length).toBeLessThanOrEqual(2)
      expect(page.has_more).toBe(page.next_cursor !== null)
      names.push(...page.entries.map(({ details }) => details?.['name']))
      cursor = page.next_cursor
    }
    expect(names).toEqual(['d', 'c', 'b', 'a', 'Shop'])
    for (const query of ['?cursor=x', '?limit=0', `?cursor=${newId('job')}`]) {
      const response = await operator.get(`/operator/organisations/${shop.orgId}/audit-log${query}`)
      expect([response.status, await codeOf(response)]).toEqual([422, 'validation_error'])
    }
    const unknown = await operator.get(`/operator/organisations/${newId('org')}/audit-log`)
    expect(unknown.status).toBe(404)
  })
})

describe('the audit log page', () => {
  it('shows owners 50 readable entries per page', async () => {
    const { browser, email, organisationId } = await newOwner()
    const path = `/operator/organisations/${organisationId}`
    for (let days = 1; days <= 60; days++) {
      await operator.patch(path, { output_retention_days: days })
    }
    await createKey(browser, { name: '<b>Shop</b>' })
    const first = await browser.get(LOG)
    expect(first.status).toBe(200)
    expect(first.html).toContain('Created an API key')
    expect(first.html).toContain('Name: &lt;b&gt;Shop')
    expect(first.html).toContain(email)
    expect(first.html).toContain('Support staff')
    expect(first.html).toContain('Retention of images, days: 59 → 60')
    expect(first.html.match(/<time/g)).toHaveLength(50)
    const [, older = ''] = /href="(\/console\/settings\/audit-log\?before=[^"]+)"/.exec(first.html)!
    const second = await browser.get(older)
    expect(second.html).toContain('Retention of images, days: 1 → 2')
    expect(second.html).not.toContain('59 → 60')
    expect(second.html).toContain('>Newest</a>')
    expect(second.html).not.toContain('>Older</a>')
    expect((await browser.get(`${LOG}?before=nonsense`)).html).toContain('59 → 60')
  })

  it('returns 404 to members', async () => {
    const { browser, organisationId } = await newOwner()
    const member = await newMember(organisationId)
    expect((await member.browser.get(LOG)).status).toBe(404)
    expect((await member.browser.get('/console')).html).not.toContain(LOG)
    expect((await browser.get('/console')).html).toContain(LOG)
  })
})

describe('removing a member', () => {
  it('lists the keys that they created, and revokes them on request', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const member = await newMember(organisationId)
    const keys: string[] = []
    for (const name of ['First key', 'Second key', 'Revoked key']) {
      const { html } = await createKey(member.browser, { name })
      keys.push(/svc_test_sk_\w{64}/.exec(html)?.[0] ?? '')
    }
    await member.browser.post(`/console/settings/api-keys/${await keyIdOf(member.browser)}/revoke`)
    const path = `${TEAM}/members/${member.userId}/remove`
    const page = await browser.get(path)
    expect(page.html).toContain(`<h1>Remove ${member.email}</h1>`)
    expect(page.html).toContain('First key')
    expect(page.html).toContain('Second key')
    expect(page.html).not.toContain('Revoked key')
    expect(page.html).not.toContain('First test key') // created by the owner
    expect(page.html).toContain('Also revoke these 2 keys')
    const removed = await browser.post(path, { revoke_keys: 'on' })
    expect(removed.html).toContain('Member removed')
    for (const key of keys) {
      const response = await clientOf(key).get('/v1/account')
      expect(await codeOf(response)).toBe('api_key_revoked')
    }
    expect((await clientOf(testKey).get('/v1/account')).status).toBe(200)
    const entries = (await entriesOf(organisationId)).slice(0, 3)
    expect(entries.map(({ action }) => action).sort()).toEqual([
      'api_key.revoked',
      'api_key.revoked',
      'member.removed',
    ])
    expect(new Set(entries.map(({ id }) => id)).size).toBe(3)
    for (const { id } of entries) expect(id).toMatch(/^aud_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  })

  it('does not revoke their keys by default', async () => {
    const { browser, organisationId } = await newOwner()
    const member = await newMember(organisationId)
    const { html } = await createKey(member.browser)
    const key = /svc_test_sk_\w{64}/.exec(html)?.[0] ?? ''
    await browser.post(`${TEAM}/members/${member.userId}/remove`)
    expect((await clientOf(key).get('/v1/account')).status).toBe(200)
  })

  it('is also available to a member who leaves, but not to the last owner', async () => {
    const { browser, email, testKey, organisationId } = await newOwner()
    const own = `${TEAM}/members/${await userIdOf(email)}/remove`
    expect((await browser.get(own)).html).toContain('<h1>Leave Acme</h1>')
    const rejected = await browser.post(own, { revoke_keys: 'on' })
    expect(rejected.html).toContain('must have at least one owner')
    expect((await clientOf(testKey).get('/v1/account')).status).toBe(200)
    await newMember(organisationId, 'owner')
    await browser.post(own, { revoke_keys: 'on' })
    expect(await codeOf(await clientOf(testKey).get('/v1/account'))).toBe('api_key_revoked')
  })

  it('returns 404 to members and for users of other organisations', async () => {
    const { browser, email, organisationId } = await newOwner()
    const member = await newMember(organisationId)
    const ownerId = await userIdOf(email)
    expect((await member.browser.get(`${TEAM}/members/${ownerId}/remove`)).status).toBe(404)
    const other = await newOwner()
    const outsider = await userIdOf(other.email)
    for (const send of [browser.get, browser.post]) {
      expect((await send(`${TEAM}/members/${outsider}/remove`)).status).toBe(404)
    }
  })
})

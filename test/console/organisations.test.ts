// Several organisations of one user: creating them, links between them, leaving them.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import {
  newBrowser,
  newMember,
  newOwner,
  totalsOf,
  userIdOf,
  type Browser,
} from '../support/browser.ts'
import { insertJob, insertObjects } from '../support/objects.ts'

const NEW = '/console/onboarding/new'
const SETTINGS = '/settings/organisation'

/** Goes through the onboarding of a further organisation. @returns its id */
async function create(browser: Browser, name: string): Promise<string> {
  expect((await browser.post(NEW, { name })).path).toBe('/console/onboarding/region')
  await browser.post('/console/onboarding/region', { region: 'IN' })
  const page = await browser.post('/console/onboarding/workspace', { name: 'Default' })
  const [, suffix] = /svc_test_sk_(\w{26})/.exec(page.html) ?? []
  return `org_${suffix}`
}

describe('a further organisation', () => {
  it('has its own region, and no free credits', async () => {
    const { browser, organisationId } = await newOwner('First')
    expect((await browser.get('/console')).html).toContain(`href="${NEW}"`)
    expect((await browser.post(NEW, { name: ' ' })).status).toBe(422)
    const second = await create(browser, 'Second')
    expect(second).not.toBe(organisationId)
    expect((await browser.get('/console')).address).toBe(`/console/${second}`)
    expect((await browser.get(`/console/${second}${SETTINGS}`)).html).toContain('INR')
    expect((await browser.get(`/console/${organisationId}${SETTINGS}`)).html).toContain('EUR')
    expect((await totalsOf(second)).granted).toBe(0)
    expect((await totalsOf(organisationId)).granted).toBeGreaterThan(0)
  })

  it('is continued where its onboarding stopped', async () => {
    const { browser } = await newOwner()
    await browser.post(NEW, { name: 'Second' })
    // The first organisation remains usable, and a second start changes nothing.
    expect((await browser.get('/console')).status).toBe(200)
    expect((await browser.get(NEW)).path).toBe('/console/onboarding/region')
    await browser.post(NEW, { name: 'Third' })
    await browser.post('/console/onboarding/region', { region: 'US' })
    await browser.post('/console/onboarding/workspace', { name: 'Default' })
    const { html } = await browser.get('/console')
    expect(html).toContain('>Second</a>')
    expect(html).not.toContain('Third')
  })

  it('is rejected for the owner of five', async () => {
    const { browser, email } = await newOwner()
    const userId = await userIdOf(email)
    for (let count = 1; count < 5; count++) {
      const { organisationId } = await newOwner()
      await env.DB.prepare(
        "INSERT INTO members (organisation_id, user_id, role, created_at) VALUES (?, ?, 'owner', ?)",
      )
        .bind(organisationId, userId, Date.now())
        .run()
    }
    const page = await browser.post(NEW, { name: 'Sixth' })
    expect(page.status).toBe(422)
    expect(page.html).toContain('You can own 5 organisations.')
  })

  it('requires a session', async () => {
    expect((await newBrowser().get(NEW)).path).toMatch(/^\/console\/sign-in/)
  })
})

describe('a link', () => {
  it('leads to the organisation of its object', async () => {
    const first = await newOwner()
    const { browser, organisationId: own } = await newOwner()
    const other = await newOwner()
    const member = await newMember(other.organisationId, 'owner')
    const { jobId, eventId } = await insertJob(other.organisationId, newId('ws'))
    const { paymentId } = await insertObjects(other.organisationId)
    // The organisation that the member used last is their own one.
    const list = await member.browser.get('/console')
    const [, theirs] =
      [...list.source.matchAll(/<a href="\/console\/(org_\w+)"/g)].find(
        ([, id]) => id !== other.organisationId,
      ) ?? []
    for (const page of [
      `/jobs/${jobId}`,
      `/settings/webhooks/${eventId}`,
      `/billing/payments/${paymentId}`,
    ]) {
      const expected = `/console/${other.organisationId}${page}`
      await member.browser.get(`/console/${theirs}`)
      expect((await member.browser.get(`/console${page}`)).address).toBe(expected)
      // Also with an organisation of which the user is not a member.
      for (const wrong of [theirs, first.organisationId]) {
        const found = await member.browser.get(`/console/${wrong}${page}`)
        expect([found.status, found.address]).toEqual([200, expected])
      }
      // A user who is not a member of its organisation learns nothing.
      for (const path of [`/console${page}`, `/console/${own}${page}`, expected]) {
        const hidden = await browser.get(path)
        expect(hidden.status).toBe(404)
        if (path !== expected) expect(hidden.source).not.toContain(other.organisationId)
      }
    }
    expect((await member.browser.get(`/console/${theirs}/jobs/${newId('job')}`)).status).toBe(404)
    expect((await member.browser.get(`/console/${first.organisationId}/jobs`)).status).toBe(404)
  })
})

describe('the organisation settings', () => {
  it('show the address, the members and how to leave', async () => {
    const { browser, organisationId } = await newOwner()
    const alone = await browser.get(`/console/${organisationId}${SETTINGS}`)
    expect(alone.html).toContain('You are the only owner.')
    expect(alone.source).toContain(`https://try-on.test/console/${organisationId}<`)
    const viewer = await newMember(organisationId, 'viewer')
    const page = await viewer.browser.get(`/console/${organisationId}${SETTINGS}`)
    expect(page.html).toMatch(/<a href="\/console\/settings\/team">2<\/a>/)
    const leave = `/settings/team/members/${viewer.userId}/remove`
    expect(page.html).toContain(`href="/console${leave}"`)
    const left = await viewer.browser.post(`/console/${organisationId}${leave}`)
    expect(left.address).not.toContain(organisationId)
    expect((await viewer.browser.get(`/console/${organisationId}`)).status).toBe(404)
  })
})

describe('workspaces', () => {
  it('have different names while they are active', async () => {
    const { browser } = await newOwner()
    const path = '/console/settings/workspaces'
    const create = (name: string) => browser.post(path, { name })
    const count = async () => [...(await browser.get(path)).html.matchAll(/\/rename"/g)].length
    expect((await create('Outlet')).html).toContain('Workspace created.')
    for (const name of ['Outlet', '  OUTLET ', 'default']) {
      const page = await create(name)
      expect(page.status).toBe(422)
      expect(page.html).toContain('An active workspace already has the name')
    }
    await Promise.all([create('Twice'), create('Twice')])
    expect(await count()).toBe(3)
    const idOf = async (name: string) =>
      (await env.DB.prepare('SELECT id FROM workspaces WHERE name = ? ORDER BY id DESC')
        .bind(name)
        .first<string>('id')) ?? ''
    const outlet = await idOf('Outlet')
    const rename = (name: string) => browser.post(`${path}/${outlet}/rename`, { name })
    const setStatus = (status: string) => browser.post(`${path}/${outlet}/status`, { status })
    expect((await rename('Twice')).status).toBe(422)
    expect((await rename('OUTLET')).html).toContain('Workspace renamed.')
    // The name of an archived workspace is free.
    await setStatus('archived')
    await create('Outlet')
    expect((await setStatus('active')).status).toBe(422)
    await rename('Outlet 2')
    expect((await setStatus('active')).html).toContain('Workspace restored.')
    // Duplicates from before can be renamed.
    await env.DB.prepare("UPDATE workspaces SET name = 'Twice' WHERE id = ?").bind(outlet).run()
    expect((await rename('Once')).html).toContain('Workspace renamed.')
  })
})

import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { hashKey } from '../../src/credits/api-key.ts'
import { BASE, clientOf, codeOf } from '../support/client.ts'
import { fakeUpstream } from '../support/upstream.ts'
import {
  createKey,
  jobIdOf,
  newOwner,
  newMember,
  newBrowser,
  PASSWORD,
  tryOn,
  type Browser,
} from '../support/browser.ts'
import { DELAYED, IMAGES, operator, readJob, submit } from '../support/world.ts'

const upstream = fakeUpstream()
afterEach(() => void vi.useRealTimers())

/** Reveals the signing secret as an owner. */
const secretOf = async (browser: Browser) => {
  const { html } = await browser.post('/console/settings/webhooks/reveal')
  return /whsec_[\w+/=]+/.exec(html)?.[0] ?? ''
}

describe('API keys', () => {
  it('are shown once, listed by their last four characters, and revoked immediately', async () => {
    const { browser } = await newOwner()
    const page = await createKey(browser, { mode: 'live' })
    const [key = ''] = /svc_live_sk_\w{64}/.exec(page.html) ?? []
    const client = clientOf(key)
    expect((await client.get('/v1/account')).status).toBe(200)
    const list = await browser.get('/console/settings/api-keys')
    expect(list.html).not.toContain(key)
    expect(list.html).toContain(`svc_live_sk_…${key.slice(-4)}`)
    const [, keyId] = /keys\/(key_\w{26})\/revoke/.exec(list.html) ?? []
    expect((await browser.post(`/console/settings/api-keys/${keyId}/revoke`)).status).toBe(200)
    expect(await (await client.get('/v1/account')).json()).toMatchObject({
      error: { code: 'api_key_revoked' },
    })
  })

  it('are created once if the form is sent or its response reloaded several times', async () => {
    const { browser } = await newOwner()
    const { html } = await browser.get('/console/settings/api-keys')
    const [, id = ''] = /name="id" value="([^"]+)"/.exec(html) ?? []
    const pages = await Promise.all([createKey(browser, { id }), createKey(browser, { id })])
    pages.push(await createKey(browser, { id }))
    const shown = pages.filter((page) => /svc_test_sk_\w{64}/.test(page.html))
    expect(shown).toHaveLength(1)
    expect(pages.at(-1)?.html).toContain('already created and shown. It cannot be shown again')
    const list = await browser.get('/console/settings/api-keys')
    expect(list.html.match(/svc_test_sk_…/g)).toHaveLength(2) // one is from onboarding
  })

  it('preserve the selected mode if the name is rejected', async () => {
    const { browser } = await newOwner()
    const page = await createKey(browser, { name: ' ', mode: 'live' })
    expect(page.status).toBe(422)
    expect(page.html).toMatch(/value="live" checked=""/)
    expect(page.html).not.toMatch(/value="test" checked=""/)
  })

  it('are not created without a form ID or with the ID of another organisation’s key', async () => {
    const [mine, theirs] = [await newOwner(), await newOwner()]
    expect((await createKey(mine.browser, { id: 'mine' })).status).toBe(422)
    const list = await theirs.browser.get('/console/settings/api-keys')
    const [id = ''] = /key_\w{26}(?=\/revoke)/.exec(list.html) ?? []
    expect((await createKey(mine.browser, { id })).html).not.toMatch(/svc_test_sk_\w{64}/)
    expect((await clientOf(theirs.testKey).get('/v1/account')).status).toBe(200)
  })

  it('show when they were last used, which an alarm writes', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    expect((await browser.get('/console/settings/api-keys')).html).toContain('Never')
    await clientOf(testKey).get('/v1/account')
    await runDurableObjectAlarm(env.ORGANISATION.getByName(organisationId))
    expect((await browser.get('/console/settings/api-keys')).html).not.toContain('Never')
  })
})

describe('the creator of a key', () => {
  it('is shown to every member', async () => {
    const { browser, email, organisationId } = await newOwner()
    const member = await newMember(organisationId)
    await createKey(member.browser, { name: 'By the member' })
    for (const reader of [browser, member.browser]) {
      const { html } = await reader.get('/console/settings/api-keys')
      expect(html).toContain(`by ${member.email}`)
      expect(html).toContain(`by ${email}`) // the first key, from onboarding
    }
  })
})

describe('revoked keys', () => {
  it('are listed and rejected with api_key_revoked for 90 days, then with invalid_api_key', async () => {
    const { browser, organisationId } = await newOwner()
    const page = await createKey(browser, { name: 'Old' })
    const [key = ''] = /svc_test_sk_\w{64}/.exec(page.html) ?? []
    const revokedFor = async (days: number) => {
      await env.DB.prepare('UPDATE api_keys SET revoked_at = ? WHERE hash = ?')
        .bind(Date.now() - days * 24 * 60 * 60_000, hashKey(key))
        .run()
      await env.ORGANISATION.getByName(organisationId).refresh()
      const { html } = await browser.get('/console/settings/api-keys')
      const listed = html.includes(`svc_test_sk_…${key.slice(-4)}`)
      return [await codeOf(await clientOf(key).get('/v1/account')), listed]
    }
    expect(await revokedFor(89)).toEqual(['api_key_revoked', true])
    expect(await revokedFor(91)).toEqual(['invalid_api_key', false])
  })
})

describe('webhooks', () => {
  it.each(['completed', 'failed', 'refunded', 'cancelled'])(
    'sends the test event job.%s, once per form',
    async (outcome) => {
      const { browser } = await newOwner()
      const url = `https://hooks.test/${outcome}`
      upstream.on(url, () => new Response('thanks'))
      await browser.post('/console/settings/webhooks/url', { url })
      const form = { outcome, nonce: crypto.randomUUID() }
      const { html } = await browser.get('/console/settings/webhooks')
      expect(html).toContain(`Send job.${outcome}`)
      const first = await browser.post('/console/settings/webhooks/test', form)
      const repeated = await browser.post('/console/settings/webhooks/test', form)
      expect(repeated.path).toBe(first.path)
      await vi.waitUntil(() => upstream.seen(url).length > 0)
      expect(upstream.seen(url).map(({ body }) => JSON.parse(body).type)).toEqual([
        `job.${outcome}`,
      ])
    },
  )

  it('send a test event and resend it, signed with both secrets after a rotation', async () => {
    const { browser } = await newOwner()
    upstream.on('https://hooks.test/again', () => new Response('<b>thanks</b>'))
    await browser.post('/console/settings/webhooks/url', { url: 'https://hooks.test/again' })
    const before = await secretOf(browser)
    expect((await browser.get('/console/settings/webhooks')).html).not.toContain(before)
    const nonce = crypto.randomUUID()
    const page = await browser.post('/console/settings/webhooks/test', {
      outcome: 'completed',
      nonce,
    })
    const eventPath = `/console/settings/webhooks/${jobIdOf(page.path).replace('job_', 'evt_')}`
    const attempts = async () =>
      (await browser.get(eventPath)).html.match(/<strong>Attempt/g)?.length ?? 0
    await vi.waitUntil(async () => (await attempts()) === 1)

    await browser.post('/console/settings/webhooks/rotate')
    const after = await secretOf(browser)
    expect(after).not.toBe(before)
    await browser.post(`${eventPath}/resend`)
    await vi.waitUntil(async () => (await attempts()) === 2)
    expect((await browser.get(eventPath)).html).toContain('&lt;b&gt;thanks')

    const [first, second] = upstream.seen('https://hooks.test/again')
    expect(second?.headers.get('webhook-id')).toBe(first?.headers.get('webhook-id'))
    for (const secret of [before, after]) {
      const verified = new Webhook(secret).verify(
        second?.body ?? '',
        Object.fromEntries(second?.headers ?? []),
      )
      expect(verified).toMatchObject({ type: 'job.completed' })
    }
    const list = await browser.get('/console/settings/webhooks')
    expect(list.html).toContain(eventPath)
    expect(list.html).toContain('delivered')
  })

  it('do not reveal the secret in a response to GET', async () => {
    const { browser } = await newOwner()
    const paths = ['?reveal=1', '?rotated=1', '/reveal', '/rotate', '/reveal?reveal=1']
    for (const path of paths) {
      const page = await browser.get(`/console/settings/webhooks${path}`)
      expect(page.status, path).toBe(200)
      expect(page.html, path).not.toMatch(/whsec_\w/)
    }
  })

  it('let owners and developers reveal and rotate the secret, but not viewers', async () => {
    const { browser, organisationId } = await newOwner()
    const before = await secretOf(browser)
    const developer = await newMember(organisationId)
    expect(await secretOf(developer.browser)).toBe(before)
    const viewer = await newMember(organisationId)
    await env.DB.prepare("UPDATE members SET role = 'viewer' WHERE user_id = ?")
      .bind(viewer.userId)
      .run()
    const page = await viewer.browser.get('/console/settings/webhooks')
    expect(page.html).not.toMatch(/<form [^>]*webhooks/)
    for (const action of ['reveal', 'rotate']) {
      const rejected = await viewer.browser.post(`/console/settings/webhooks/${action}`)
      expect(rejected.status).toBe(404)
      expect(rejected.html).not.toMatch(/whsec_\w/)
    }
    expect(await secretOf(browser)).toBe(before)
  })

  it('ask for the password 15 minutes after the sign-in', async () => {
    const { browser } = await newOwner()
    const before = await secretOf(browser)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 15 * 60_000 })
    const page = await browser.post('/console/settings/webhooks/reveal')
    expect(page.status).toBe(403)
    expect(page.html).toContain('<h1>Confirm your password</h1>')
    expect(page.html).toContain('action="/console/settings/webhooks/reveal"')
    expect(page.html).not.toMatch(/whsec_\w/)
    for (const confirm_password of ['', 'not the password', 'x'.repeat(10_000)]) {
      const wrong = await browser.post('/console/settings/webhooks/rotate', { confirm_password })
      expect(wrong.status).toBe(422)
      expect(wrong.html).toContain('id="confirm_password-error"')
      expect(wrong.html).toContain('action="/console/settings/webhooks/rotate"')
    }
    const session = browser.cookies.get('__Secure-try-on.session_token')
    const shown = await browser.post('/console/settings/webhooks/reveal', {
      confirm_password: PASSWORD,
    })
    expect(shown.html).toContain(before) // the wrong passwords rotated nothing
    // The new session is recent for 15 minutes; the old session has ended.
    expect(await secretOf(browser)).toBe(before)
    expect(session).toBeDefined()
    const oldSession = newBrowser()
    oldSession.cookies.set('__Secure-try-on.session_token', session ?? '')
    expect((await oldSession.get('/console')).path).toContain('/console/sign-in')
    vi.setSystemTime(Date.now() + 15 * 60_000)
    expect((await browser.post('/console/settings/webhooks/reveal')).status).toBe(403)
  })

  it('limit the number of wrong passwords', async () => {
    const { browser } = await newOwner()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 15 * 60_000 })
    const tryPassword = () =>
      browser.post('/console/settings/webhooks/reveal', { confirm_password: 'not the password' })
    const statuses: number[] = []
    for (let tries = 0; tries < 21; tries++) statuses.push((await tryPassword()).status)
    expect(statuses).toContain(429)
  })

  it('confirm a rotation', async () => {
    const { browser } = await newOwner()
    const page = await browser.post('/console/settings/webhooks/rotate')
    expect(page.html).toContain('Signing secret rotated')
  })

  it('warn before a second rotation that the previous secret stops working', async () => {
    const { browser } = await newOwner()
    const settings = '/console/settings/webhooks'
    const warning = 'The previous secret stops working immediately'
    expect((await browser.get(settings)).html).not.toContain(warning)
    expect((await browser.post(`${settings}/rotate`)).html).toContain(warning)
  })

  it.each(['http://localhost/x', `${BASE}/hook`, `${BASE}:8443/hook`])(
    'reject a private URL or a URL of this service: %s',
    async (url) => {
      const { browser } = await newOwner()
      const page = await browser.post('/console/settings/webhooks/url', { url })
      expect(page.status).toBe(422)
      expect(page.html).toContain('id="url-error"')
    },
  )
})

describe('workspaces', () => {
  it('are created, renamed, archived and restored', async () => {
    const { browser, testKey } = await newOwner()
    const client = clientOf(testKey)
    await browser.post('/console/settings/workspaces', { name: 'Outlet' })
    const list = await browser.get('/console/settings/workspaces')
    const id = list.html.match(/ws_\w{26}/g)?.at(-1) ?? ''
    await browser.post(`/console/settings/workspaces/${id}/rename`, { name: 'Sale' })
    expect(await (await client.get('/v1/workspaces')).text()).toContain('"name":"Sale"')

    const waiting = await submit(client, { ...DELAYED, workspace_id: id })
    await browser.post(`/console/settings/workspaces/${id}/status`, { status: 'archived' })
    const rejected = await client.post('/v1/tryon', { ...IMAGES, workspace_id: id })
    expect(await rejected.json()).toMatchObject({ error: { code: 'workspace_not_found' } })
    expect((await readJob(client, waiting.job_id)).status).toMatch(/pending|processing/)

    await browser.post(`/console/settings/workspaces/${id}/status`, { status: 'active' })
    await submit(client, { workspace_id: id })
  })

  it('show a confirmation after each change', async () => {
    const { browser } = await newOwner()
    const path = '/console/settings/workspaces'
    const { html } = await browser.post(path, { name: 'Outlet' })
    expect(html).toContain('Workspace created.')
    const one = `${path}/${/ws_\w{26}/.exec(html)?.[0]}`
    const renamed = await browser.post(`${one}/rename`, { name: 'Sale' })
    expect(renamed.html).toContain('Workspace renamed.')
    const archived = await browser.post(`${one}/status`, { status: 'archived' })
    expect(archived.html).toContain('Workspace archived')
    const restored = await browser.post(`${one}/status`, { status: 'active' })
    expect(restored.html).toContain('Workspace restored')
  })

  it('show an error at the field if a new name is rejected', async () => {
    const { browser } = await newOwner()
    const path = '/console/settings/workspaces'
    const id = /ws_\w{26}/.exec((await browser.get(path)).html)?.[0]
    const page = await browser.post(`${path}/${id}/rename`, { name: '  ' })
    expect(page.status).toBe(422)
    expect(page.html).toContain(`id="name-${id}-error"`)
    expect(page.html).toContain('<details class="confirm plain" open="">')
    expect((await browser.get(path)).html).toContain('Default')
  })

  it('disable the playground if all are archived', async () => {
    const { browser } = await newOwner()
    const path = '/console/settings/workspaces'
    const id = /ws_\w{26}/.exec((await browser.get(path)).html)?.[0]
    expect((await browser.get('/console/playground')).html).not.toContain('are archived')
    await browser.post(`${path}/${id}/status`, { status: 'archived' })
    const { html } = await browser.get('/console/playground')
    expect(html).toContain('All workspaces are archived')
    expect(html).toMatch(/<button[^>]* disabled=""[^>]*>Submit job/)
  })
})

describe('a suspended organisation', () => {
  it('shows the reason and rejects jobs', async () => {
    const { browser, organisationId } = await newOwner()
    const suspension_reason = 'The last invoice is <unpaid>.'
    const body = { status: 'suspended', suspension_reason }
    await operator.patch(`/operator/organisations/${organisationId}`, body)
    const page = await browser.get('/console')
    expect(page.html).toContain('Acme is suspended')
    expect(page.html).toContain('The last invoice is &lt;unpaid&gt;.')
    expect((await tryOn(browser)).page.html).toContain('suspended or scheduled for deletion')
  })
})

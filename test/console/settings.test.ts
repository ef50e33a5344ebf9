import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { clientOf } from '../support/client.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { createKey, jobIdOf, newFounder, tryOn } from '../support/visitor.ts'
import { DELAYED, IMAGES, operator, readJob, submit } from '../support/world.ts'

const upstream = fakeUpstream()

describe('API keys', () => {
  it('are shown once, listed by their last four, and revoked at once', async () => {
    const { visitor } = await newFounder()
    const page = await createKey(visitor, { mode: 'live' })
    const [key = ''] = /svc_live_sk_\w{64}/.exec(page.html) ?? []
    const client = clientOf(key)
    expect((await client.get('/v1/account')).status).toBe(200)
    const list = await visitor.get('/console/settings/api-keys')
    expect(list.html).not.toContain(key)
    expect(list.html).toContain(`svc_live_sk_…${key.slice(-4)}`)
    const [, keyId] = /keys\/(key_\w{26})\/revoke/.exec(list.html) ?? []
    expect((await visitor.post(`/console/settings/api-keys/${keyId}/revoke`)).status).toBe(200)
    expect(await (await client.get('/v1/account')).json()).toMatchObject({
      error: { code: 'api_key_revoked' },
    })
  })

  it('are created once, however often the form is sent or its answer reloaded', async () => {
    const { visitor } = await newFounder()
    const { html } = await visitor.get('/console/settings/api-keys')
    const [, id = ''] = /name="id" value="([^"]+)"/.exec(html) ?? []
    const pages = await Promise.all([createKey(visitor, { id }), createKey(visitor, { id })])
    pages.push(await createKey(visitor, { id }))
    const shown = pages.filter((page) => /svc_test_sk_\w{64}/.test(page.html))
    expect(shown).toHaveLength(1)
    expect(pages.at(-1)?.html).toContain('shown once; it cannot be shown again')
    const list = await visitor.get('/console/settings/api-keys')
    expect(list.html.match(/svc_test_sk_…/g)).toHaveLength(2) // the first one is of the onboarding
  })

  it('keep the mode that was chosen when the name is refused', async () => {
    const { visitor } = await newFounder()
    const page = await createKey(visitor, { name: ' ', mode: 'live' })
    expect(page.status).toBe(422)
    expect(page.html).toMatch(/value="live" checked=""/)
    expect(page.html).not.toMatch(/value="test" checked=""/)
  })

  it('are not created by a form without an id, nor by one with the id of another’s key', async () => {
    const [mine, theirs] = [await newFounder(), await newFounder()]
    expect((await createKey(mine.visitor, { id: 'mine' })).status).toBe(422)
    const list = await theirs.visitor.get('/console/settings/api-keys')
    const [id = ''] = /key_\w{26}(?=\/revoke)/.exec(list.html) ?? []
    expect((await createKey(mine.visitor, { id })).html).not.toMatch(/svc_test_sk_\w{64}/)
    expect((await clientOf(theirs.testKey).get('/v1/account')).status).toBe(200)
  })

  it('tell when they were last used, at no request’s expense', async () => {
    const { visitor, testKey, organisationId } = await newFounder()
    expect((await visitor.get('/console/settings/api-keys')).html).toContain('never')
    await clientOf(testKey).get('/v1/account')
    await runDurableObjectAlarm(env.ORGANISATION.getByName(organisationId))
    expect((await visitor.get('/console/settings/api-keys')).html).not.toContain('never')
  })
})

describe('webhooks', () => {
  it('send a test event, and an event again, signed with both secrets after a rotation', async () => {
    const { visitor } = await newFounder()
    upstream.on('https://hooks.test/again', () => new Response('<b>thanks</b>'))
    await visitor.post('/console/settings/webhooks/url', { url: 'https://hooks.test/again' })
    const secretOf = async () =>
      /whsec_[\w+/=]+/.exec((await visitor.get('/console/settings/webhooks?reveal=1')).html)?.[0] ??
      ''
    const before = await secretOf()
    expect((await visitor.get('/console/settings/webhooks')).html).not.toContain(before)
    const nonce = crypto.randomUUID()
    const page = await visitor.post('/console/settings/webhooks/test', {
      outcome: 'completed',
      nonce,
    })
    const eventPath = `/console/settings/webhooks/${jobIdOf(page.path).replace('job_', 'evt_')}`
    const attempts = async () =>
      (await visitor.get(eventPath)).html.match(/<strong>Attempt/g)?.length ?? 0
    await vi.waitUntil(async () => (await attempts()) === 1)

    await visitor.post('/console/settings/webhooks/rotate')
    const after = await secretOf()
    expect(after).not.toBe(before)
    await visitor.post(`${eventPath}/resend`)
    await vi.waitUntil(async () => (await attempts()) === 2)
    expect((await visitor.get(eventPath)).html).toContain('&lt;b&gt;thanks')

    const [first, second] = upstream.seen('https://hooks.test/again')
    expect(second?.headers.get('webhook-id')).toBe(first?.headers.get('webhook-id'))
    for (const secret of [before, after]) {
      const verified = new Webhook(secret).verify(
        second?.body ?? '',
        Object.fromEntries(second?.headers ?? []),
      )
      expect(verified).toMatchObject({ type: 'job.completed' })
    }
    const list = await visitor.get('/console/settings/webhooks')
    expect(list.html).toContain(eventPath)
    expect(list.html).toContain('delivered')
  })

  it('say that the secret is a new one after a rotation', async () => {
    const { visitor } = await newFounder()
    const page = await visitor.post('/console/settings/webhooks/rotate')
    expect(page.html).toContain('There is a new signing secret')
  })

  it('warn before a second rotation that the oldest secret stops working at once', async () => {
    const { visitor } = await newFounder()
    const settings = '/console/settings/webhooks'
    const warning = 'The secret before the current one stops working at once'
    expect((await visitor.get(settings)).html).not.toContain(warning)
    expect((await visitor.post(`${settings}/rotate`)).html).toContain(warning)
  })

  it('refuse an address that must not be called', async () => {
    const { visitor } = await newFounder()
    const page = await visitor.post('/console/settings/webhooks/url', { url: 'http://localhost/x' })
    expect(page.status).toBe(422)
    expect(page.html).toContain('id="url-error"')
  })
})

describe('workspaces', () => {
  it('are created, renamed, archived and restored', async () => {
    const { visitor, testKey } = await newFounder()
    const client = clientOf(testKey)
    await visitor.post('/console/settings/workspaces', { name: 'Outlet' })
    const list = await visitor.get('/console/settings/workspaces')
    const id = list.html.match(/ws_\w{26}/g)?.at(-1) ?? ''
    await visitor.post(`/console/settings/workspaces/${id}/rename`, { name: 'Sale' })
    expect(await (await client.get('/v1/workspaces')).text()).toContain('"name":"Sale"')

    const waiting = await submit(client, { ...DELAYED, workspace_id: id })
    await visitor.post(`/console/settings/workspaces/${id}/status`, { status: 'archived' })
    const refused = await client.post('/v1/tryon', { ...IMAGES, workspace_id: id })
    expect(await refused.json()).toMatchObject({ error: { code: 'workspace_not_found' } })
    expect((await readJob(client, waiting.job_id)).status).toMatch(/pending|processing/)

    await visitor.post(`/console/settings/workspaces/${id}/status`, { status: 'active' })
    await submit(client, { workspace_id: id })
  })

  it('tell what was done with them', async () => {
    const { visitor } = await newFounder()
    const path = '/console/settings/workspaces'
    const { html } = await visitor.post(path, { name: 'Outlet' })
    expect(html).toContain('The workspace is created.')
    const one = `${path}/${/ws_\w{26}/.exec(html)?.[0]}`
    const renamed = await visitor.post(`${one}/rename`, { name: 'Sale' })
    expect(renamed.html).toContain('The workspace is renamed.')
    const archived = await visitor.post(`${one}/status`, { status: 'archived' })
    expect(archived.html).toContain('The workspace is archived')
    const restored = await visitor.post(`${one}/status`, { status: 'active' })
    expect(restored.html).toContain('The workspace is restored')
  })

  it('say beside the field why a new name is refused, and keep the old', async () => {
    const { visitor } = await newFounder()
    const path = '/console/settings/workspaces'
    const id = /ws_\w{26}/.exec((await visitor.get(path)).html)?.[0]
    const page = await visitor.post(`${path}/${id}/rename`, { name: '  ' })
    expect(page.status).toBe(422)
    expect(page.html).toContain(`id="name-${id}-error"`)
    expect(page.html).toContain('<details class="confirm plain" open="">')
    expect((await visitor.get(path)).html).toContain('Default')
  })

  it('that are all archived are missed by the playground, which leads to them', async () => {
    const { visitor } = await newFounder()
    const path = '/console/settings/workspaces'
    const id = /ws_\w{26}/.exec((await visitor.get(path)).html)?.[0]
    expect((await visitor.get('/console/playground')).html).not.toContain('are archived')
    await visitor.post(`${path}/${id}/status`, { status: 'archived' })
    const { html } = await visitor.get('/console/playground')
    expect(html).toContain('All workspaces are archived')
    expect(html).toMatch(/<button[^>]* disabled=""[^>]*>Try it on/)
  })
})

describe('a suspended organisation', () => {
  it('sees why, and can submit nothing', async () => {
    const { visitor, organisationId } = await newFounder()
    const suspension_reason = 'The last invoice is <unpaid>.'
    const body = { status: 'suspended', suspension_reason }
    await operator.patch(`/operator/organisations/${organisationId}`, body)
    const page = await visitor.get('/console')
    expect(page.html).toContain('Acme is suspended')
    expect(page.html).toContain('The last invoice is &lt;unpaid&gt;.')
    expect((await tryOn(visitor)).page.html).toContain('suspended or scheduled for deletion')
  })
})

// The webhooks pages: endpoints, deliveries, and what was sent and received.
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { SYSTEM } from '../../src/domain/actor.ts'
import { addedEventIdOf, eventIdOf } from '../../src/platform/ids.ts'
import { DEFAULT_ENDPOINT } from '../../src/domain/webhook.ts'
import { rotateSecret } from '../../src/webhooks/endpoints/endpoints.ts'
import { clientOf } from '../support/client.ts'
import { jobIdOf, newMember, newOwner, type Browser } from '../support/browser.ts'
import { fakeUpstream, type SeenRequest } from '../support/upstream.ts'
import { eventsIn, newEndpoint } from '../support/webhooks.ts'
import { finished, submit } from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

const upstream = fakeUpstream()

const WEBHOOKS = '/console/settings/webhooks'
const DELIVERIES = `${WEBHOOKS}/deliveries`
const HOOK = 'https://hooks.test/own'
const ADDED = 'https://added.test/hook?token=private'

const decoded = (html: string) =>
  html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')

const ENDPOINT_FORM = { name: 'Order system', url: ADDED, mode: 'both', 'job.completed': 'on' }

/** Adds an endpoint through its form. @returns its path */
async function addEndpoint(browser: Browser, fields: Record<string, string> = {}): Promise<string> {
  const form = await browser.get(`${WEBHOOKS}/endpoints/new`)
  const [, id = ''] = /name="id" value="(we_\w{26})"/.exec(form.html) ?? []
  const page = await browser.post(`${WEBHOOKS}/endpoints`, { ...ENDPOINT_FORM, id, ...fields })
  expect(page).toMatchObject({
    path: `${WEBHOOKS}/endpoints/${id}`,
    notice: 'Endpoint added. Reveal its signing secret below, and send a test event.',
  })
  return `${WEBHOOKS}/endpoints/${id}`
}

/** Waits until all events of an organisation have one of these statuses. */
const settled = (organisationId: string, count: number, ...statuses: string[]) =>
  vi.waitUntil(
    async () => {
      const events = await eventsIn(organisationId)
      return events.length === count && events.every(({ status }) => statuses.includes(status))
    },
    { interval: 50 },
  )

/** A job whose event is delivered to `HOOK`. */
async function deliveredJob(testKey: string, organisationId: string): Promise<string> {
  upstream.on(
    HOOK,
    () =>
      new Response('thanks', { headers: { 'X-Receiver': 'shop-1', 'Set-Cookie': 'a=private' } }),
  )
  const { job_id: jobId } = await submit(clientOf(testKey), { webhook_url: HOOK })
  await settled(organisationId, 1, 'delivered')
  return jobId
}

const textOf = (html: string, label: string) =>
  decoded(new RegExp(`aria-label="${label}"><code[^>]*>(.*?)</code>`, 's').exec(html)?.[1] ?? '')

it('shows the deliveries of test events in live mode', async () => {
  const { browser, testKey, organisationId } = await newOwner()
  const jobId = await deliveredJob(testKey, organisationId)
  await browser.post('/console/mode', { mode: 'live' })
  expect((await browser.get(WEBHOOKS)).html).toContain(jobId)
  expect((await browser.get(`${WEBHOOKS}/deliveries`)).html).toContain(
    'Test events are in test mode.',
  )
})

describe('the page of an event', () => {
  it('shows the exact request and response of an attempt', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const jobId = await deliveredJob(testKey, organisationId)
    const { html } = await browser.get(`${WEBHOOKS}/${eventIdOf(jobId)}`)
    const [sent] = upstream.seen(HOOK) as [SeenRequest]
    expect(textOf(html, 'Request body of attempt 1')).toBe(sent.body)
    expect(html).toContain('This is the exact body that was sent.')
    for (const name of [
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'content-type',
      'user-agent',
    ]) {
      expect(decoded(html), name).toContain(`<dd>${sent.headers.get(name)}</dd>`)
    }
    expect(html).toContain('<dt>x-receiver</dt><dd>shop-1</dd>')
    expect(html).not.toContain('private')
    expect(textOf(html, 'Response to attempt 1')).toBe('thanks')
    expect(html).not.toContain('data-live')
  })

  it('says when the body cannot be recreated exactly', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const jobId = await deliveredJob(testKey, organisationId)
    const path = `${WEBHOOKS}/${eventIdOf(jobId)}`
    const rotate = () =>
      rotateSecret({ env, actor: SYSTEM, organisationId, endpointId: DEFAULT_ENDPOINT })
    await rotate()
    expect((await browser.get(path)).html).toContain('This is the exact body')
    await rotate()
    expect((await browser.get(path)).html).toContain('does not match the signature')
    expect((await clientOf(testKey).delete(`/v1/jobs/${jobId}/output`)).status).toBe(204)
    const { html } = await browser.get(path)
    expect(html).toContain('The pictures of the job have been deleted')
    expect(JSON.parse(textOf(html, 'Request body of attempt 1'))).toMatchObject({
      data: { job_id: jobId, output_url: null },
    })
  })

  it('shows an attempt of an earlier version without its request', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const jobId = await deliveredJob(testKey, organisationId)
    await jobsDb(eventIdOf(jobId))
      .prepare(
        'UPDATE webhook_attempts SET signature = NULL, response_headers = NULL WHERE event_id = ?',
      )
      .bind(eventIdOf(jobId))
      .run()
    const { html } = await browser.get(`${WEBHOOKS}/${eventIdOf(jobId)}`)
    expect(html).toContain('<strong>Attempt 1')
    expect(html).not.toContain('Request body')
    expect(textOf(html, 'Response to attempt 1')).toBe('thanks')
  })

  it('follows the event until it is delivered or has failed, also after sending it again', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const jobId = await deliveredJob(testKey, organisationId)
    const path = `${WEBHOOKS}/${eventIdOf(jobId)}`
    vi.spyOn(env.WEBHOOKS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const page = await browser.post(`${path}/resend`)
    expect(page.html).toContain('Sending again')
    const [, live = ''] = /data-live="([^"]+)"/.exec(page.html) ?? []
    expect(live).toBe(`${path}/live?sent=1`)
    await jobsDb(eventIdOf(jobId))
      .prepare("UPDATE webhook_events SET status = 'delivered' WHERE id = ?")
      .bind(eventIdOf(jobId))
      .run()
    const fragment = await browser.get(live)
    expect(fragment.html).toMatch(/^<section[^>]*data-status="Delivery delivered"/)
    expect(fragment.html).not.toContain('data-live')
  })

  it('is not found for other organisations', async () => {
    const { testKey, organisationId } = await newOwner()
    const jobId = await deliveredJob(testKey, organisationId)
    const other = await newOwner()
    await newEndpoint(organisationId)
    for (const path of [eventIdOf(jobId), `${eventIdOf(jobId)}/live`, `${eventIdOf(jobId)}_x`]) {
      expect((await other.browser.get(`${WEBHOOKS}/${path}`)).status, path).toBe(404)
    }
  })
})

describe('added endpoints', () => {
  it('are added, changed, disabled, enabled and deleted, with entries in the audit log', async () => {
    const { browser, organisationId } = await newOwner()
    const path = await addEndpoint(browser)
    const again = await browser.post(`${WEBHOOKS}/endpoints`, {
      ...ENDPOINT_FORM,
      id: path.split('/').at(-1) ?? '',
    })
    expect(again).toMatchObject({
      path,
      notice: 'Endpoint added. Reveal its signing secret below, and send a test event.',
    })
    const list = (await browser.get(WEBHOOKS)).html
    expect(list.match(/Order system/g)).toHaveLength(2) // in the list and as receiver of test events
    expect(list).toContain('job.completed')

    const { 'job.completed': _, ...noTypes } = ENDPOINT_FORM
    const rejected = await browser.post(path, { ...noTypes, url: 'http://10.0.0.1/' })
    expect(rejected.status).toBe(422)
    expect(rejected.html).toContain('Choose at least one event type.')
    expect(rejected.html).toContain('id="url-error"')

    const changed = await browser.post(path, { ...ENDPOINT_FORM, name: 'New', mode: 'live' })
    expect(changed.html).toContain('Endpoint saved.')
    expect((await browser.post(`${path}/enabled`, { enabled: '0' })).html).toContain('>disabled<')
    expect((await browser.post(`${path}/enabled`, { enabled: '1' })).html).toContain('>active<')
    expect((await browser.post(`${path}/delete`)).html).toContain('Endpoint deleted.')
    expect((await browser.get(path)).status).toBe(404)
    const { results } = await env.DB.prepare(
      "SELECT action, details FROM audit_log WHERE organisation_id = ? AND action LIKE 'webhook_endpoint.%' ORDER BY id",
    )
      .bind(organisationId)
      .all<{ action: string; details: string }>()
    expect(results.map(({ action }) => action.split('.')[1])).toEqual([
      'created',
      'updated',
      'updated',
      'updated',
      'deleted',
    ])
    expect(JSON.stringify(results)).not.toContain('private')
  })

  it('reveal and rotate their own secret, after which both secrets sign', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const path = await addEndpoint(browser)
    const reveal = async () =>
      /whsec_[\w+/=]{20,}/.exec((await browser.post(`${path}/reveal`)).html)?.[0]
    const before = await reveal()
    expect((await browser.post(`${path}/rotate`)).html).toContain('Signing secret rotated.')
    const after = await reveal()
    expect(after).not.toBe(before)
    upstream.on(ADDED, () => new Response())
    await finished(clientOf(testKey), (await submit(clientOf(testKey))).job_id)
    await settled(organisationId, 1, 'delivered')
    const [{ headers, body }] = upstream.seen(ADDED) as [SeenRequest]
    for (const secret of [before, after]) {
      expect(() =>
        new Webhook(secret ?? '').verify(body, Object.fromEntries(headers)),
      ).not.toThrow()
    }
    expect((await browser.get(path)).html).not.toContain(after)
  })

  it.each(['completed', 'failed', 'refunded', 'cancelled'])(
    'receive the test event job.%s, which goes to no other receiver',
    async (outcome) => {
      const { browser, organisationId } = await newOwner()
      await browser.post(`${WEBHOOKS}/url`, { url: HOOK })
      await newEndpoint(organisationId)
      const path = await addEndpoint(browser, { mode: 'live', 'job.completed': 'on' })
      upstream.on(ADDED, () => new Response())
      const page = await browser.post(`${WEBHOOKS}/test`, {
        outcome,
        nonce: crypto.randomUUID(),
        endpoint: path.split('/').at(-1) ?? '',
      })
      const jobId = jobIdOf(page.path)
      await settled(organisationId, 1, 'delivered')
      expect(await eventsIn(organisationId)).toMatchObject([
        { id: eventIdOf(jobId), type: `job.${outcome}`, url: ADDED },
      ])
      expect(upstream.seen().map(({ url }) => url)).toEqual([ADDED])
    },
  )

  it('can be read but not changed by viewers, and are not found for other organisations', async () => {
    const { browser, organisationId } = await newOwner()
    const path = await addEndpoint(browser)
    const viewer = await newMember(organisationId)
    await env.DB.prepare("UPDATE members SET role = 'viewer' WHERE user_id = ?")
      .bind(viewer.userId)
      .run()
    const other = await newOwner()
    const shown = await viewer.browser.get(path)
    expect(shown.status).toBe(200)
    expect(shown.html).not.toMatch(/<form [^>]*settings\/webhooks/)
    expect((await other.browser.get(path)).status).toBe(404)
    for (const { browser: stranger } of [viewer, other]) {
      for (const action of ['', '/enabled', '/delete', '/reveal', '/rotate']) {
        expect((await stranger.post(path + action, ENDPOINT_FORM)).status, action).toBe(404)
      }
    }
    expect((await browser.get(path)).status).toBe(200)
  })
})

describe('the list of deliveries', () => {
  it('filters, finds jobs and events, and shows only events of the mode', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const endpoint = await newEndpoint(organisationId, { url: ADDED, types: ['job.failed'] })
    upstream.on(ADDED, () => new Response('gone', { status: 410 }))
    const completed = await deliveredJob(testKey, organisationId)
    const failed = await submit(clientOf(testKey), {
      model_image_url: 'https://test.invalid/fail/person_not_found',
      webhook_url: HOOK,
    })
    await settled(organisationId, 3, 'delivered', 'failed')
    const [own, ofFailed] = [eventIdOf(completed), eventIdOf(failed.job_id)]
    const added = addedEventIdOf(failed.job_id, endpoint.id)
    const shown = async (query: string) =>
      Array.from(
        (await browser.get(`${DELIVERIES}${query}`)).html.matchAll(/webhooks\/(evt_\w+)"/g),
        ([, id]) => id,
      )
    expect(await shown('')).toEqual([added, ofFailed, own])
    expect(await shown('?status=failed')).toEqual([added])
    expect(await shown('?type=job.completed')).toEqual([own])
    expect(await shown('?endpoint=default')).toEqual([ofFailed, own])
    expect(await shown(`?endpoint=${endpoint.id}`)).toEqual([added])
    expect(await shown(`?q=${failed.job_id}`)).toEqual([added, ofFailed])
    expect(await shown(`?before=${ofFailed}`)).toEqual([own])
    expect(await shown(`?after=${ofFailed}`)).toEqual([added])
    expect(await shown('?q=evt_1')).toEqual([])
    expect(await shown('?status=pending')).toEqual([])
    expect((await browser.get(`${DELIVERIES}?q=${own}`)).path).toBe(`${WEBHOOKS}/${own}`)

    const { html } = await browser.get(DELIVERIES)
    expect(html).toContain('added.test/hook')
    expect(html).not.toContain('private')
    expect(html).toContain('410')
    await browser.post('/console/mode', { mode: 'live' })
    expect(await shown('')).toEqual([])
  })

  it('sends all failed events of a filter again, with one entry in the audit log', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const endpoint = await newEndpoint(organisationId, { url: ADDED })
    let works = false
    upstream.on(ADDED, () => new Response(null, { status: works ? 200 : 410 }))
    upstream.on(HOOK, () => new Response(null, { status: 410 }))
    for (let n = 0; n < 2; n++) await submit(clientOf(testKey), { webhook_url: HOOK })
    await settled(organisationId, 4, 'failed')
    works = true
    const query = `?status=failed&endpoint=${endpoint.id}`
    const page = await browser.get(DELIVERIES + query)
    expect(page.html).toContain('Send 2 failed events again')
    expect((await browser.get(DELIVERIES)).html).not.toContain('failed events again')
    const after = await browser.post(`${DELIVERIES}/resend`, { endpoint: endpoint.id })
    expect(after.html).toContain('2 failed events are being sent again.')
    await vi.waitUntil(async () => {
      const events = await eventsIn(organisationId)
      return events.filter(({ status }) => status === 'delivered').length === 2
    })
    expect(upstream.seen(HOOK)).toHaveLength(2)
    expect((await browser.post(`${DELIVERIES}/resend`, { endpoint: endpoint.id })).html).toContain(
      'There are no failed events',
    )
    const { results } = await env.DB.prepare(
      "SELECT details FROM audit_log WHERE organisation_id = ? AND action = 'webhook_events.resent'",
    )
      .bind(organisationId)
      .all<{ details: string }>()
    expect(results.map(({ details }) => JSON.parse(details))).toMatchObject([
      { events: 2, mode: 'test', endpoint: endpoint.id },
    ])
  })
})

describe('code that verifies signatures', () => {
  it('has the secret only after it was revealed', async () => {
    const { browser } = await newOwner()
    const before = await browser.get(WEBHOOKS)
    for (const label of ['Node.js', 'Python', 'PHP', 'Go']) {
      expect(before.html).toContain(`Code for ${label}`)
    }
    expect(before.html).toContain('TRY_ON_WEBHOOK_SECRET=whsec_...')
    const { html } = await browser.post(`${WEBHOOKS}/reveal`)
    expect(html).toMatch(/TRY_ON_WEBHOOK_SECRET=whsec_[\w+/=]{20,}/)
  })
})

it('the download of deliveries contains what the page finds', async () => {
  const { browser, testKey, organisationId } = await newOwner()
  const jobId = await deliveredJob(testKey, organisationId)
  const rows = async (q: string) => {
    const file = await browser.get(`${WEBHOOKS}/deliveries/export.csv?q=${q}`)
    return file.source.trim().split('\r\n').slice(1)
  }
  expect(await rows('')).toHaveLength(1)
  expect(await rows(jobId)).toHaveLength(1)
  expect(await rows('nothing')).toEqual([])
})

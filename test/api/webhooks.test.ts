// /v1/webhook-endpoints and /v1/webhook-deliveries: what a key manages, and what it does not see.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { Webhook } from 'standardwebhooks'
import { MAX_ADDED_ENDPOINTS } from '../../src/domain/webhook.ts'
import { addedEventIdOf, eventIdOf, newId } from '../../src/platform/ids.ts'
import { hashKey } from '../../src/credits/api-key.ts'
import { processJob } from '../../src/jobs/processing/process.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { exhaust } from '../support/browser.ts'
import { codeOf, errorOf, type Client } from '../support/client.ts'
import { jobsDb } from '../support/jobs-database.ts'
import { endedJob, fakeClock } from '../support/retention.ts'
import { fakeUpstream, type SeenRequest } from '../support/upstream.ts'
import { eventsIn, newEndpoint } from '../support/webhooks.ts'
import { newOrganisation, operator, submit, type TestOrganisation } from '../support/world.ts'

const upstream = fakeUpstream()
fakeClock()

const URL_ = 'https://hooks.test/orders'
const ENDPOINTS = '/v1/webhook-endpoints'
const DELIVERIES = '/v1/webhook-deliveries'

interface Endpoint {
  id: string
  name: string
  url: string
  events: string[]
  mode: string | null
  status: string
  failing_since: string | null
  secret?: string
}
interface Delivery {
  event_id: string
  job_id: string
  status: string
  attempt_count: number
  attempts: { number: number; response_status: number | null }[]
}

const createEndpoint = async (client: Client, body: object = { url: URL_ }) => {
  const response = await client.post(ENDPOINTS, body)
  expect(response.status).toBe(201)
  return response.json<Endpoint & { secret: string }>()
}
const listed = async (client: Client) =>
  (await (await client.get(ENDPOINTS)).json<{ webhook_endpoints: Endpoint[] }>()).webhook_endpoints
const deliveriesOf = async (client: Client, query = '') =>
  (await client.get(`${DELIVERIES}?${query}`)).json<{
    webhook_deliveries: Delivery[]
    next_cursor: string | null
    has_more: boolean
  }>()

/** The audit entries of an organisation, with the key that acted. */
const audited = async ({ orgId }: TestOrganisation) =>
  (
    await env.DB.prepare(
      `SELECT action, target, actor_type, actor_id FROM audit_log
       WHERE organisation_id = ? AND action LIKE 'webhook%' ORDER BY id`,
    )
      .bind(orgId)
      .all()
  ).results

const keyIdOf = (key: string) =>
  env.DB.prepare('SELECT id FROM api_keys WHERE hash = ?').bind(hashKey(key)).first<string>('id')

describe('webhook endpoints', () => {
  it('are created with the secret once, listed, read, changed and deleted', async () => {
    const shop = await newOrganisation()
    const { secret, ...created } = await createEndpoint(shop.live)
    expect(created).toMatchObject({
      name: 'hooks.test',
      url: URL_,
      events: ['job.completed', 'job.failed', 'job.refunded', 'job.cancelled'],
      mode: 'live',
      status: 'enabled',
      failing_since: null,
    })
    expect(secret).toMatch(/^whsec_/)
    expect(await listed(shop.live)).toEqual([created])
    const path = `${ENDPOINTS}/${created.id}`
    expect(await (await shop.live.get(path)).json()).toEqual(created)
    const change = { name: ' Orders ', events: ['job.failed', 'job.completed'], mode: null }
    const changed = { ...created, ...change, name: 'Orders', events: change.events.toReversed() }
    expect(await (await shop.live.patch(path, change)).json()).toEqual(changed)
    const disabled = await shop.live.patch(path, { status: 'disabled' })
    expect(await disabled.json()).toEqual({ ...changed, status: 'disabled' })
    expect(await listed(shop.live)).toEqual([{ ...changed, status: 'disabled' }])
    expect((await shop.live.delete(path)).status).toBe(204)
    expect((await shop.live.delete(path)).status).toBe(404)
    expect(await listed(shop.live)).toEqual([])
  })

  it('are recorded in the audit log with the key', async () => {
    const shop = await newOrganisation()
    const { id } = await createEndpoint(shop.live)
    await shop.live.patch(`${ENDPOINTS}/${id}`, { name: 'Orders' })
    await shop.live.post(`${ENDPOINTS}/${id}/rotate-secret`)
    await shop.live.delete(`${ENDPOINTS}/${id}`)
    const by = { target: id, actor_type: 'api_key', actor_id: await keyIdOf(shop.keys.live) }
    expect(await audited(shop)).toEqual(
      [
        'webhook_endpoint.created',
        'webhook_endpoint.updated',
        'webhook_secret.rotated',
        'webhook_endpoint.deleted',
      ].map((action) => ({ ...by, action })),
    )
  })

  it('sign deliveries with the secret, and with both after a rotation', async () => {
    const shop = await newOrganisation()
    const { id, secret } = await createEndpoint(shop.test)
    const rotated = await shop.test.post(`${ENDPOINTS}/${id}/rotate-secret`)
    const { secret: next } = await rotated.json<{ secret: string }>()
    expect(next).not.toBe(secret)
    const jobId = await endedJob(shop, 'test')
    upstream.on(URL_, () => new Response())
    await deliverEvent({ env, eventId: addedEventIdOf(jobId, id) })
    const [{ headers: sent, body }] = upstream.seen(URL_) as [SeenRequest]
    for (const each of [secret, next]) {
      const headers = Object.fromEntries(sent)
      expect(new Webhook(each).verify(body, headers)).toMatchObject({ type: 'job.completed' })
    }
  })

  it('reject wrong fields, and name unknown ones', async () => {
    const { live } = await newOrganisation()
    const messageOf = async (body: unknown) => {
      const response = await live.post(ENDPOINTS, body)
      expect(response.status).toBe(422)
      return (await errorOf(response)).message
    }
    expect(await messageOf({})).toBe('url is required: a string, an http or https URL.')
    expect(await messageOf({ url: 'http://10.0.0.1/' })).toContain('url ')
    expect(await messageOf({ url: URL_, events: [] })).toContain('events must have at least one')
    expect(await messageOf({ url: URL_, events: ['job.done'] })).toContain('must be one of')
    expect(await messageOf({ url: URL_, mode: 'both' })).toContain(
      'mode must be live, test or null',
    )
    expect(await messageOf({ url: URL_, name: ' ' })).toContain('name must not be empty')
    expect(await messageOf('[]')).toContain('JSON object')
    const response = await live.post(ENDPOINTS, { url: URL_, event: 1 })
    expect(response.headers.get('Ignored-Fields')).toBe('event')
  })

  it('are limited in number, as in the console', async () => {
    const shop = await newOrganisation()
    for (let n = 0; n < MAX_ADDED_ENDPOINTS; n++) await newEndpoint(shop.orgId)
    const response = await shop.live.post(ENDPOINTS, { url: URL_ })
    expect([response.status, await codeOf(response)]).toEqual([422, 'validation_error'])
  })

  it('are changed at most 300 times an hour, but can be deleted', async () => {
    const shop = await newOrganisation()
    const { id } = await newEndpoint(shop.orgId)
    await exhaust(`webhookChange:organisation:${shop.orgId}`, 300)
    const changes = [
      shop.live.post(ENDPOINTS, { url: URL_ }),
      shop.live.patch(`${ENDPOINTS}/${id}`, { name: 'Orders' }),
      shop.live.post(`${ENDPOINTS}/${id}/rotate-secret`),
      shop.live.post(`${ENDPOINTS}/${id}/test`, {}),
      shop.live.post(`${DELIVERIES}/${eventIdOf(newId('job'))}/resend`),
    ]
    for (const response of await Promise.all(changes)) {
      expect([response.status, await codeOf(response)]).toEqual([429, 'rate_limit_exceeded'])
      expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0)
    }
    expect((await shop.live.delete(`${ENDPOINTS}/${id}`)).status).toBe(204)
  })

  it('that failures have disabled say so, and are enabled by a change', async () => {
    const shop = await newOrganisation()
    const { id } = await newEndpoint(shop.orgId)
    await jobsDb(shop.orgId)
      .prepare(
        `INSERT INTO failing_receivers
         (organisation_id, receiver, origin, failing_since, failures, timed_out, disabled_at)
         VALUES (?, ?, 'https://added.test', 1000, 9, 0, 2000)`,
      )
      .bind(shop.orgId, id)
      .run()
    const failing = { status: 'disabled', failing_since: '1970-01-01T00:00:01.000Z' }
    expect(await listed(shop.live)).toMatchObject([failing])
    const enabled = await shop.live.patch(`${ENDPOINTS}/${id}`, { status: 'enabled' })
    expect(await enabled.json()).toMatchObject({ status: 'enabled', failing_since: null })
    expect(await listed(shop.live)).toMatchObject([{ status: 'enabled', failing_since: null }])
  })
})

describe('a test key', () => {
  it('manages endpoints of test mode only', async () => {
    const shop = await newOrganisation()
    const own = await createEndpoint(shop.test)
    expect(own.mode).toBe('test')
    const others = [await newEndpoint(shop.orgId), await newEndpoint(shop.orgId, { mode: 'live' })]
    expect((await listed(shop.test)).map(({ id }) => id)).toEqual([own.id])
    expect(await listed(shop.live)).toHaveLength(3)
    for (const { id } of others) {
      const path = `${ENDPOINTS}/${id}`
      const responses = [
        await shop.test.get(path),
        await shop.test.patch(path, { name: 'x' }),
        await shop.test.delete(path),
        await shop.test.post(`${path}/rotate-secret`),
        await shop.test.post(`${path}/test`, {}),
      ]
      expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(404))
    }
    for (const mode of ['live', null]) {
      expect((await shop.test.post(ENDPOINTS, { url: URL_, mode })).status).toBe(422)
      expect((await shop.test.patch(`${ENDPOINTS}/${own.id}`, { mode })).status).toBe(422)
    }
    expect(await listed(shop.live)).toHaveLength(3)
  })

  it('reads and resends deliveries of test jobs only', async () => {
    const shop = await newOrganisation()
    const { job_id: live } = await submit(shop.live, { webhook_url: URL_ })
    expect((await shop.live.delete(`/v1/jobs/${live}`)).status).toBe(200)
    const test = await endedJob(shop, 'test', { webhook_url: URL_ })
    const ids = async (client: Client) =>
      (await deliveriesOf(client)).webhook_deliveries.map(({ job_id }) => job_id)
    expect(await ids(shop.test)).toEqual([test])
    expect(await ids(shop.live)).toEqual([test, live])
    const hidden = `${DELIVERIES}/${eventIdOf(live)}`
    expect((await shop.test.get(hidden)).status).toBe(404)
    upstream.on(URL_, () => new Response())
    for (const jobId of [live, test]) await deliverEvent({ env, eventId: eventIdOf(jobId) })
    expect((await shop.test.post(`${hidden}/resend`)).status).toBe(404)
    expect((await shop.test.post(`${DELIVERIES}/${eventIdOf(test)}/resend`)).status).toBe(202)
    expect((await shop.live.post(`${hidden}/resend`)).status).toBe(202)
  })
})

describe('other organisations', () => {
  it('get 404 for every id', async () => {
    const shop = await newOrganisation()
    const { id } = await newEndpoint(shop.orgId)
    const jobId = await endedJob(shop, 'test')
    const { live } = await newOrganisation()
    for (const unknown of [id, newId('we'), 'default', 'x', newId('job')]) {
      const path = `${ENDPOINTS}/${unknown}`
      for (const response of [
        await live.get(path),
        await live.patch(path, { name: 'x' }),
        await live.delete(path),
        await live.post(`${path}/rotate-secret`),
        await live.post(`${path}/test`, {}),
      ]) {
        expect([response.status, await codeOf(response)]).toEqual([404, 'not_found'])
      }
    }
    for (const unknown of [addedEventIdOf(jobId, id), eventIdOf(newId('job')), 'evt_x']) {
      expect((await live.get(`${DELIVERIES}/${unknown}`)).status).toBe(404)
      expect((await live.post(`${DELIVERIES}/${unknown}/resend`)).status).toBe(404)
    }
    expect((await deliveriesOf(live, `job_id=${jobId}`)).webhook_deliveries).toEqual([])
    expect((await deliveriesOf(live, `endpoint_id=${id}`)).webhook_deliveries).toEqual([])
    expect(await listed(shop.live)).toHaveLength(1)
  })
})

describe('webhook deliveries', () => {
  it('are listed page by page with filters, and a cursor is valid for its list only', async () => {
    const shop = await newOrganisation()
    const { id } = await newEndpoint(shop.orgId)
    const jobIds = [await endedJob(shop, 'test'), await endedJob(shop, 'test')]
    await endedJob(shop, 'test', { webhook_url: URL_ })
    const filter = `endpoint_id=${id}&status=pending`
    const first = await deliveriesOf(shop.live, `${filter}&limit=2`)
    expect(first).toMatchObject({ has_more: true })
    const cursor = first.next_cursor!
    const second = await deliveriesOf(shop.live, `${filter}&limit=2&cursor=${cursor}`)
    expect(second).toMatchObject({ next_cursor: null, has_more: false })
    expect(second.webhook_deliveries.map(({ job_id }) => job_id)).toEqual([jobIds[0]])
    expect((await deliveriesOf(shop.live, 'status=delivered')).webhook_deliveries).toEqual([])
    const own = await deliveriesOf(shop.live, 'endpoint_id=default')
    expect(own.webhook_deliveries).toHaveLength(1)
    expect((await deliveriesOf(shop.live, `job_id=${jobIds[0]}`)).webhook_deliveries).toHaveLength(
      1,
    )
    for (const query of [
      `cursor=${cursor}`,
      `${filter}&cursor=x`,
      'status=done',
      'limit=101',
      'job_id=1',
      'endpoint_id=we_1',
    ]) {
      expect((await shop.live.get(`${DELIVERIES}?${query}`)).status).toBe(422)
    }
    expect((await shop.test.get(`${DELIVERIES}?${filter}&cursor=${cursor}`)).status).toBe(422)
    const unknown = await shop.live.get(`${DELIVERIES}?state=failed`)
    expect(unknown.headers.get('Ignored-Fields')).toBe('state')
  })

  it('are read with their attempts, and resent by one key that the audit log names', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop, 'test', { webhook_url: URL_ })
    const eventId = eventIdOf(jobId)
    const path = `${DELIVERIES}/${eventId}`
    const read = async () => (await shop.live.get(path)).json<Delivery>()
    expect(await read()).toMatchObject({ status: 'pending', attempt_count: 0, attempts: [] })
    upstream.on(URL_, () => new Response('no', { status: 500 }))
    await deliverEvent({ env, eventId })
    expect(await read()).toMatchObject({
      status: 'retrying',
      attempt_count: 1,
      response_status: 500,
      next_attempt_at: expect.any(String),
      attempts: [{ number: 1, response_status: 500, response_body: 'no' }],
    })
    // The first retry is due in seconds.
    const busy = await shop.live.post(`${path}/resend`)
    expect([busy.status, await codeOf(busy)]).toEqual([409, 'delivery_in_progress'])
    await jobsDb(eventId)
      .prepare("UPDATE webhook_events SET status = 'failed' WHERE id = ?")
      .bind(eventId)
      .run()
    vi.mocked(env.WEBHOOKS.send).mockClear()
    const resent = await shop.live.post(`${path}/resend`)
    expect(resent.status).toBe(202)
    expect(await resent.json()).toMatchObject({ status: 'retrying', event_id: eventId })
    expect(env.WEBHOOKS.send).toHaveBeenCalledWith(expect.objectContaining({ eventId }))
    expect(await audited(shop)).toEqual([
      {
        action: 'webhook_event.resent',
        target: eventId,
        actor_type: 'api_key',
        actor_id: await keyIdOf(shop.keys.live),
      },
    ])
  })
})

describe('a test event', () => {
  it.each(['job.completed', 'job.failed', 'job.refunded', 'job.cancelled'])(
    'goes to its endpoint only: %s',
    async (type) => {
      const shop = await newOrganisation({ default_webhook_url: 'https://hooks.test/default' })
      const { id } = await newEndpoint(shop.orgId, { types: ['job.failed'], mode: 'live' })
      await newEndpoint(shop.orgId)
      const response = await shop.live.post(`${ENDPOINTS}/${id}/test`, { type })
      expect(response.status).toBe(202)
      const { job_id: jobId } = await response.json<{ job_id: string }>()
      await processJob({ env, jobId, mode: 'test' })
      expect(await eventsIn(shop.orgId)).toMatchObject([
        { job_id: jobId, type, added_endpoint_id: id },
      ])
      const key = await jobsDb(jobId)
        .prepare('SELECT api_key_id FROM jobs WHERE id = ?')
        .bind(jobId)
        .first('api_key_id')
      expect(key).toBe(await keyIdOf(shop.keys.live))
    },
  )

  it('is not sent to a disabled endpoint, nor for a suspended organisation', async () => {
    const shop = await newOrganisation()
    const { id } = await newEndpoint(shop.orgId)
    const path = `${ENDPOINTS}/${id}`
    await shop.live.patch(path, { status: 'disabled' })
    const disabled = await shop.live.post(`${path}/test`, {})
    expect([disabled.status, await codeOf(disabled)]).toEqual([422, 'validation_error'])
    await operator.patch(`/operator/organisations/${shop.orgId}`, { status: 'suspended' })
    expect((await shop.live.post(`${path}/test`, {})).status).toBe(403)
    expect((await shop.live.get(path)).status).toBe(200)
  })
})

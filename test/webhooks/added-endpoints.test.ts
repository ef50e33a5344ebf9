// Added endpoints: which events they receive, how these are signed and queued, and what ends them.
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { organisationOf } from '../../src/organisations/locate.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { addedEventIdOf, eventIdOf, isEventId } from '../../src/platform/ids.ts'
import { withdrawAllPending } from '../../src/jobs/cancel.ts'
import { endJob } from '../../src/jobs/processing/end.ts'
import { deleteEndpoint, updateEndpoint } from '../../src/webhooks/endpoints/endpoints.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { resendEvent } from '../../src/webhooks/delivery/resend.ts'
import { endedJob, fakeClock, pass, retain } from '../support/retention.ts'
import { cellsWith } from '../support/traces.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { eventsIn, newEndpoint } from '../support/webhooks.ts'
import { newOrganisation, operator, readJob, submit } from '../support/world.ts'
import { jobsDb, onEveryShard } from '../support/jobs-database.ts'

const upstream = fakeUpstream()
fakeClock()

const HOOK = 'https://hooks.test/own'
const ADDED = 'https://added.test/hook'
const HELD = { model_image_url: 'https://test.invalid/pending/60' }
const FAILED = { model_image_url: 'https://test.invalid/fail/person_not_found' }
const DAY_MS = 24 * 60 * 60_000

const statusOf = async (eventId: string) =>
  jobsDb(eventId)
    .prepare('SELECT status FROM webhook_events WHERE id = ?')
    .bind(eventId)
    .first<string>('status')

describe('the end of a job', () => {
  it('inserts an event for its own URL and one for each endpoint, and queues them together', async () => {
    const shop = await newOrganisation()
    const one = await newEndpoint(shop.orgId)
    const two = await newEndpoint(shop.orgId, { url: 'https://other.test/' })
    const jobId = await endedJob(shop, 'test', { webhook_url: HOOK })
    const ids = [eventIdOf(jobId), addedEventIdOf(jobId, one.id), addedEventIdOf(jobId, two.id)]
    const events = await eventsIn(shop.orgId)
    expect(events.map(({ id }) => id)).toEqual([...ids].sort())
    expect(events.every(({ id }) => isEventId(id))).toBe(true)
    expect(events.map(({ type }) => type)).toEqual(Array(3).fill('job.completed'))
    expect(env.WEBHOOKS.send).not.toHaveBeenCalled()
    expect(env.WEBHOOKS.sendBatch).toHaveBeenCalledTimes(1)
    const [messages = []] = vi.mocked(env.WEBHOOKS.sendBatch).mock.calls[0] ?? []
    expect(Array.from(messages, ({ body }) => body)).toEqual(
      expect.arrayContaining(ids.map((eventId) => ({ eventId, organisationId: shop.orgId }))),
    )
  })

  it('inserts no event for an endpoint that was added later when it is repeated', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop, 'test', { webhook_url: HOOK })
    pass(1)
    await newEndpoint(shop.orgId)
    const repeated = await endJob({
      env,
      jobId,
      from: 'processing',
      ending: { status: 'completed', outputFormat: 'jpeg' },
    })
    expect(repeated).toMatchObject({ ended: undefined, addedEventIds: [] })
    expect(await eventsIn(shop.orgId)).toHaveLength(1)
  })

  it('is not sent again to a deleted endpoint', async () => {
    const shop = await newOrganisation()
    const { id: endpointId } = await newEndpoint(shop.orgId)
    const jobId = await endedJob(shop, 'test')
    const eventId = addedEventIdOf(jobId, endpointId)
    expect(await organisationOf(env, eventId)).toBe(shop.orgId)
    await onEveryShard("UPDATE webhook_events SET status = 'failed'")
    const request = { env, actor: SYSTEM, organisationId: shop.orgId }
    await deleteEndpoint({ ...request, endpointId })
    expect(await resendEvent({ ...request, eventId })).toBe(false)
    expect(await statusOf(eventId)).toBe('failed')
  })

  it('reaches only enabled endpoints that receive its type and its mode', async () => {
    const shop = await newOrganisation()
    const failures = await newEndpoint(shop.orgId, { types: ['job.failed', 'job.refunded'] })
    const tests = await newEndpoint(shop.orgId, { mode: 'test' })
    await newEndpoint(shop.orgId, { mode: 'live' })
    const disabled = await newEndpoint(shop.orgId)
    await updateEndpoint({
      env,
      actor: SYSTEM,
      organisationId: shop.orgId,
      endpointId: disabled.id,
      change: { enabled: false },
    })
    await newEndpoint((await newOrganisation()).orgId)
    const completed = await endedJob(shop, 'test')
    const failed = await endedJob(shop, 'test', FAILED)
    expect((await eventsIn(shop.orgId)).map(({ id }) => id)).toEqual(
      [
        addedEventIdOf(completed, tests.id),
        addedEventIdOf(failed, failures.id),
        addedEventIdOf(failed, tests.id),
      ].sort(),
    )
    expect(await readJob(shop.test, completed)).toMatchObject({
      webhook_url: null,
      webhook_status: null,
    })
  })

  it('sends job.refunded and job.cancelled, also when all pending jobs are withdrawn', async () => {
    const shop = await newOrganisation()
    const { id } = await newEndpoint(shop.orgId)
    const { job_id: cancelled } = await submit(shop.live, {})
    const { job_id: withdrawn } = await submit(shop.test, HELD)
    expect((await shop.live.delete(`/v1/jobs/${cancelled}`)).status).toBe(200)
    expect(env.WEBHOOKS.send).toHaveBeenCalledWith({
      organisationId: shop.orgId,
      eventId: addedEventIdOf(cancelled, id),
    })
    await operator.patch(`/operator/organisations/${shop.orgId}`, { status: 'suspended' })
    await withdrawAllPending({ env, organisationId: shop.orgId })
    expect(env.WEBHOOKS.send).toHaveBeenCalledWith({
      organisationId: shop.orgId,
      eventId: addedEventIdOf(withdrawn, id),
    })
    expect((await eventsIn(shop.orgId)).map(({ type }) => type)).toEqual([
      'job.refunded',
      'job.cancelled',
    ])
  })
})

describe('a delivery to an added endpoint', () => {
  it('is signed with the secret of the endpoint, and does not change the webhook_status of the job', async () => {
    const shop = await newOrganisation()
    const { id, secret } = await newEndpoint(shop.orgId)
    upstream
      .on(ADDED, () => new Response('thanks'))
      .on(HOOK, () => new Response('no', { status: 503 }))
    const jobId = await endedJob(shop, 'test', { webhook_url: HOOK })
    const eventId = addedEventIdOf(jobId, id)
    await deliverEvent({ env, eventId })
    await deliverEvent({ env, eventId: eventIdOf(jobId) })
    const [delivery] = upstream.seen(ADDED)
    const headers = Object.fromEntries(delivery!.headers)
    expect(headers['webhook-id']).toBe(eventId)
    expect(new Webhook(secret).verify(delivery!.body, headers)).toMatchObject({
      type: 'job.completed',
      data: { job_id: jobId },
    })
    expect(() => new Webhook(shop.webhookSecret).verify(delivery!.body, headers)).toThrow()
    expect(await statusOf(eventId)).toBe('delivered')
    expect(await readJob(shop.test, jobId)).toMatchObject({ webhook_status: 'retrying' })
  })

  it.each([
    ['deleted', (request: Parameters<typeof deleteEndpoint>[0]) => deleteEndpoint(request)],
    [
      'disabled',
      (request: Parameters<typeof deleteEndpoint>[0]) =>
        updateEndpoint({ ...request, change: { enabled: false } }),
    ],
  ])('fails without an attempt once the endpoint is %s', async (_, end) => {
    const shop = await newOrganisation()
    const { id } = await newEndpoint(shop.orgId)
    const jobId = await endedJob(shop, 'test')
    await end({ env, actor: SYSTEM, organisationId: shop.orgId, endpointId: id })
    const eventId = addedEventIdOf(jobId, id)
    await deliverEvent({ env, eventId })
    expect(await statusOf(eventId)).toBe('failed')
    expect(upstream.seen(ADDED)).toHaveLength(0)
  })
})

describe('added endpoints', () => {
  it('are at most ten, each recorded in the audit log', async () => {
    const shop = await newOrganisation()
    const first = await newEndpoint(shop.orgId)
    for (let n = 1; n < 10; n++) await newEndpoint(shop.orgId)
    await expect(newEndpoint(shop.orgId)).rejects.toMatchObject({ code: 'validation_error' })
    const { results } = await env.DB.prepare(
      "SELECT target FROM audit_log WHERE organisation_id = ? AND action = 'webhook_endpoint.created'",
    )
      .bind(shop.orgId)
      .all()
    expect(results).toHaveLength(10)
    expect(results).toContainEqual({ target: first.id })
  })

  it('store their secret encrypted', async () => {
    const shop = await newOrganisation()
    const { secret } = await newEndpoint(shop.orgId)
    expect(secret).toMatch(/^whsec_/)
    expect(await cellsWith(secret)).toEqual([])
  })

  it('count against the daily storage allowance', async () => {
    const shop = await newOrganisation({ rate_limit_per_minute: 2 })
    const url = `https://added.test/${'a'.repeat(2_000)}`
    for (let n = 0; n < 10; n++) await newEndpoint(shop.orgId, { url, mode: 'test' })
    const send = () => {
      pass(60_000)
      return shop.test.post('/v1/tryon', { model_image_url: HOOK, garment_image_url: HOOK })
    }
    let accepted = 0
    while ((await send()).status === 202) accepted++
    expect(accepted).toBeLessThan(10)
  })
})

describe('retention', () => {
  it('deletes the events of added endpoints with their test job, and after 30 days', async () => {
    const shop = await newOrganisation()
    const { id } = await newEndpoint(shop.orgId)
    upstream.on(ADDED, () => new Response())
    const jobId = await endedJob(shop, 'test')
    const eventId = addedEventIdOf(jobId, id)
    await deliverEvent({ env, eventId })
    pass(7 * DAY_MS + 7 * 60 * 60_000)
    await env.DB.prepare('UPDATE organisations SET retention_due_at = 0 WHERE id = ?')
      .bind(shop.orgId)
      .run()
    await retain()
    expect(await eventsIn(shop.orgId)).toEqual([])
    expect(await cellsWith(eventId)).toEqual([])
  })
})

// Failing endpoints: timeouts, days of failures, and recovery.
import { createExecutionContext, createMessageBatch } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AckTimer } from '../../src/platform/queues/ack-timer.ts'
import worker from '../../src/index.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { EVENT_TYPES } from '../../src/domain/webhook.ts'
import { developmentMailbox } from '../../src/mail/send.ts'
import { newId } from '../../src/platform/ids.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/endpoints.ts'
import { latestMail, newOwner } from '../support/browser.ts'
import { newOrganisation, operator } from '../support/world.ts'
import { jobsDb, newJobId, onEveryShard, spyBatch, spyPrepare } from '../support/jobs-database.ts'

const upstream = fakeUpstream()
const ORIGIN = 'https://hooks.test'
const HOOK = `${ORIGIN}/try-on`
const OTHER = 'https://other.test/try-on'
const DAY_MS = 24 * 60 * 60_000

const timeout = () => {
  throw new DOMException('The operation was aborted due to timeout', 'TimeoutError')
}
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

let sent: { eventId: string; delaySeconds: number | undefined }[] = []
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  sent = []
  vi.spyOn(env.WEBHOOKS, 'send').mockImplementation(async (body, options) => {
    const { eventId } = body as { eventId: string }
    sent.push({ eventId, delaySeconds: options?.delaySeconds })
    return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } }
  })
})
afterEach(() => void vi.useRealTimers())

/** Inserts an event of a completed test job, due now. @param attempts how many have failed */
async function newEvent(organisationId: string, url = HOOK, attempts = 0): Promise<string> {
  const jobId = newJobId(organisationId)
  const eventId = jobId.replace('job_', 'evt_')
  const now = Date.now()
  await jobsDb(organisationId).batch([
    jobsDb(organisationId)
      .prepare(
        `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, webhook_url, base_url,
                         output_format, created_at, completed_at, duration_ms, due_at)
       VALUES (?1, ?2, 'ws_1', 'test', 'completed', ?3, 'https://try-on.test', 'png', ?4, ?4, 1, ?4)`,
      )
      .bind(jobId, organisationId, url, now),
    jobsDb(organisationId)
      .prepare(
        `INSERT INTO webhook_events (id, organisation_id, job_id, type, url, attempts, due_at, sweep_at, created_at)
       VALUES (?1, ?2, ?3, 'job.completed', ?4, ?6, ?5, ?5, ?5)`,
      )
      .bind(eventId, organisationId, jobId, url, now, attempts),
  ])
  return eventId
}

const deliver = (eventId: string, manual = false) => deliverEvent({ env, eventId, manual })

const endpoint = (organisationId: string) =>
  jobsDb(organisationId)
    .prepare('SELECT * FROM failing_receivers WHERE organisation_id = ?')
    .bind(organisationId)
    .first<Record<string, unknown>>()

const event = (eventId: string) =>
  jobsDb(eventId)
    .prepare('SELECT * FROM webhook_events WHERE id = ?')
    .bind(eventId)
    .first<Record<string, unknown>>()

async function actions(organisationId: string): Promise<string[]> {
  const { results } = await env.DB.prepare(
    'SELECT action FROM audit_log WHERE organisation_id = ? ORDER BY id',
  )
    .bind(organisationId)
    .all<{ action: string }>()
  return results.map(({ action }) => action).filter((action) => action.startsWith('webhook_endp'))
}

/** Makes an endpoint fail for five days, which disables it. @returns the id of the last event */
async function disabledEndpoint(organisationId: string): Promise<string> {
  upstream.on(HOOK, () => new Response('broken', { status: 500 }))
  await deliver(await newEvent(organisationId))
  pass(5 * DAY_MS)
  const eventId = await newEvent(organisationId, HOOK, 3)
  await deliver(eventId)
  return eventId
}

describe('an endpoint without failures', () => {
  it('has no row, and a delivery does not write one', async () => {
    const { orgId } = await newOrganisation()
    upstream.on(HOOK, () => new Response())
    const eventId = await newEvent(orgId)
    const batch = spyBatch()
    const prepare = spyPrepare()
    await deliver(eventId)
    expect(batch).toHaveBeenCalledTimes(2) // the claim and the record
    const written = prepare.mock.calls.filter(([sql]) => /^(insert|update|delete)/i.test(sql))
    expect(written.map(([sql]) => sql)).not.toContainEqual(
      expect.stringMatching(/^\w+ (into|from)? ?"failing_receivers"/),
    )
    expect(await endpoint(orgId)).toBeNull()
  })
})

describe('a failing endpoint', () => {
  it('has a row until the next success', async () => {
    const { orgId } = await newOrganisation()
    upstream.on(HOOK, () => new Response('broken', { status: 500 }))
    const eventId = await newEvent(orgId)
    await deliver(eventId)
    const failingSince = Date.now()
    expect(await endpoint(orgId)).toMatchObject({ origin: ORIGIN, failures: 1, timed_out: 0 })
    upstream.on(HOOK, timeout)
    pass(60_000)
    await deliver(eventId)
    const row = await endpoint(orgId)
    expect(row).toMatchObject({ failures: 2, timed_out: 1, busy_until: 0 })
    expect(row?.['failing_since']).toBeLessThanOrEqual(failingSince)
    upstream.on(HOOK, () => new Response())
    pass(60_000)
    await deliver(eventId)
    expect(await endpoint(orgId)).toBeNull()
    expect(await actions(orgId)).toEqual([])
  })

  it('has no row when its organisation already has a hundred', async () => {
    const { orgId } = await newOrganisation()
    await jobsDb(orgId)
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
       INSERT INTO failing_receivers (organisation_id, receiver, origin, failing_since, failures, timed_out)
       SELECT ?, 'https://h' || i || '.test', 'https://h' || i || '.test', 0, 1, 0 FROM n`,
      )
      .bind(orgId)
      .run()
    const known = 'https://h7.test/x'
    for (const url of [HOOK, known]) {
      upstream.on(url, () => new Response('broken', { status: 500 }))
      await deliver(await newEvent(orgId, url))
    }
    const { results } = await jobsDb(orgId)
      .prepare('SELECT origin, failures FROM failing_receivers WHERE organisation_id = ?')
      .bind(orgId)
      .all<{ origin: string; failures: number }>()
    expect(results).toHaveLength(100)
    expect(results).toContainEqual({ origin: 'https://h7.test', failures: 2 })
  })
})

describe('an endpoint whose latest attempt timed out', () => {
  async function timedOut() {
    const { orgId } = await newOrganisation()
    upstream.on(HOOK, timeout)
    await deliver(await newEvent(orgId))
    sent = []
    return orgId
  }

  it('receives one delivery at a time; others are postponed without an attempt', async () => {
    const orgId = await timedOut()
    const { promise, resolve } = Promise.withResolvers<Response>()
    upstream.on(HOOK, () => promise)
    const ids = [await newEvent(orgId), await newEvent(orgId), await newEvent(orgId)]
    const first = deliver(ids[0]!)
    await vi.waitUntil(() => upstream.seen(HOOK).length === 2)
    await Promise.all([deliver(ids[1]!), deliver(ids[2]!)])
    expect(upstream.seen(HOOK)).toHaveLength(2)
    expect(sent.map(({ eventId }) => eventId).sort()).toEqual(ids.slice(1).sort())
    for (const { delaySeconds } of sent) expect(delaySeconds).toBeGreaterThanOrEqual(5)
    for (const id of ids.slice(1)) {
      const row = await event(id)
      expect(row).toMatchObject({ status: 'pending', attempts: 0 })
      expect(Number(row?.['sweep_at']) - Number(row?.['due_at'])).toBe(30_000)
    }
    resolve(new Response())
    await first
    pass(10_000)
    upstream.on(HOOK, () => new Response())
    await Promise.all([deliver(ids[1]!), deliver(ids[2]!)])
    expect((await event(ids[2]!))?.['status']).toBe('delivered')
  })

  it('postpones old events for longer', async () => {
    const orgId = await timedOut()
    const old = await newEvent(orgId)
    pass(20 * 60_000)
    await onEveryShard('UPDATE failing_receivers SET busy_until = ?', Date.now() + 60_000)
    await deliver(old)
    expect(sent[0]?.delaySeconds).toBeGreaterThanOrEqual(300)
  })

  it('accepts deliveries again after the lease of a killed invocation', async () => {
    const orgId = await timedOut()
    const [killed, next] = [await newEvent(orgId), await newEvent(orgId)]
    upstream.on(HOOK, () => new Promise<never>(() => {}))
    void deliver(killed)
    await vi.waitUntil(() => upstream.seen(HOOK).length === 2)
    upstream.on(HOOK, () => new Response())
    await deliver(next)
    expect((await event(next))?.['status']).toBe('pending')
    pass(61_000)
    await deliver(next)
    expect((await event(next))?.['status']).toBe('delivered')
    await deliver(killed) // by the sweep
    expect((await event(killed))?.['status']).toBe('delivered')
  })

  it('leaves a postponed event to the sweep when its message cannot be sent', async () => {
    const orgId = await timedOut()
    const eventId = await newEvent(orgId)
    await onEveryShard('UPDATE failing_receivers SET busy_until = ?', Date.now() + 60_000)
    vi.spyOn(env.WEBHOOKS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
    await deliver(eventId)
    pass(60_000)
    const swept = vi.spyOn(env.WEBHOOKS, 'sendBatch').mockResolvedValue({
      metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
    })
    await worker.scheduled({} as ScheduledController, env)
    const ids = swept.mock.calls.flatMap(([messages]) => Array.from(messages, ({ body }) => body))
    expect(ids).toContainEqual(expect.objectContaining({ eventId }))
  })
})

describe('a slow delivery', () => {
  it('is acknowledged after two seconds and postpones others to the endpoint until it ends', async () => {
    const { orgId } = await newOrganisation()
    const { promise, resolve } = Promise.withResolvers<Response>()
    upstream.on(HOOK, () => promise).on(OTHER, () => new Response())
    const ids = [await newEvent(orgId), await newEvent(orgId), await newEvent(orgId, OTHER)]
    const batch = createMessageBatch<unknown>(
      'tryon-webhooks',
      ids.slice(0, 1).map((eventId) => ({
        id: eventId,
        timestamp: new Date(),
        attempts: 1,
        body: { eventId },
      })),
    )
    const ack = vi.spyOn(batch.messages[0]!, 'ack')
    await worker.queue(batch, env, createExecutionContext())
    expect(ack).toHaveBeenCalledOnce()
    expect((await event(ids[0]!))?.['attempts']).toBe(0)
    await deliver(ids[1]!)
    expect(sent).toEqual([{ eventId: ids[1], delaySeconds: expect.any(Number) }])
    await deliver(ids[2]!)
    expect((await event(ids[2]!))?.['status']).toBe('delivered')
    resolve(new Response())
    await vi.waitUntil(async () => (await event(ids[0]!))?.['status'] === 'delivered')
    pass(10_000)
    upstream.on(HOOK, () => new Response())
    await deliver(ids[1]!)
    expect((await event(ids[1]!))?.['status']).toBe('delivered')
  })

  it('postpones deliveries to all endpoints of an organisation with four slow ones', async () => {
    const { orgId } = await newOrganisation()
    const other = await newOrganisation()
    const { promise, resolve } = Promise.withResolvers<Response>()
    upstream.on(OTHER, () => new Response())
    const slow = await Promise.all(
      [1, 2, 3, 4].map(async (n) => {
        const url = `https://slow${n}.test/`
        upstream.on(url, () => promise.then(() => new Response()))
        const ackTimer = new AckTimer()
        const done = deliverEvent({ env, eventId: await newEvent(orgId, url), ackTimer })
        return { done, ackTimer }
      }),
    )
    await Promise.all(slow.map(({ ackTimer }) => ackTimer.expired))
    const [own, others] = [await newEvent(orgId, OTHER), await newEvent(other.orgId, OTHER)]
    await Promise.all([deliver(own), deliver(others)])
    expect((await event(own))?.['attempts']).toBe(0)
    expect((await event(others))?.['status']).toBe('delivered')
    resolve(new Response())
    await Promise.all(slow.map(({ done }) => done))
  })
})

describe('endpoints of one host', () => {
  const ORDERS = `${ORIGIN}/orders`
  const STOCK = `${ORIGIN}/stock`

  async function siblings() {
    const owner = await newOwner()
    const { organisationId } = owner
    const added = async (name: string, url: string) => {
      const id = newId('we')
      const settings = { name, url, types: [...EVENT_TYPES], mode: null }
      await addEndpoint({ env, actor: SYSTEM, organisationId, endpointId: id, settings })
      const eventOf = async () => {
        const eventId = await newEvent(organisationId, url)
        await jobsDb(eventId)
          .prepare('UPDATE webhook_events SET added_endpoint_id = ? WHERE id = ?')
          .bind(id, eventId)
          .run()
        return eventId
      }
      return { id, newEvent: eventOf, deliver: async () => deliver(await eventOf()) }
    }
    return { ...owner, orders: await added('Orders', ORDERS), stock: await added('Stock', STOCK) }
  }

  it('fail and succeed on their own', async () => {
    const { browser, organisationId, orders, stock } = await siblings()
    upstream.on(ORDERS, () => new Response('broken', { status: 500 }))
    upstream.on(STOCK, () => new Response())
    await orders.deliver()
    await stock.deliver()
    await orders.deliver()
    expect(await endpoint(organisationId)).toMatchObject({ receiver: orders.id, failures: 2 })
    const { html } = await browser.get('/console/settings/webhooks')
    const rowOf = (name: string) => html.slice(html.indexOf(name)).split('</tr>')[0]
    expect(rowOf('Orders</a>')).toContain('2 failures')
    expect(rowOf('Stock</a>')).toContain('badge good')
  })

  it('share one delivery at a time while the host times out', async () => {
    const { organisationId, orders, stock } = await siblings()
    upstream.on(ORDERS, timeout)
    await orders.deliver()
    await onEveryShard('UPDATE failing_receivers SET busy_until = ?', Date.now() + 60_000)
    upstream.on(STOCK, () => new Response())
    const postponed = await stock.newEvent()
    await deliver(postponed)
    expect(upstream.seen(STOCK)).toHaveLength(0)
    pass(120_000)
    await deliver(postponed)
    expect(await event(postponed)).toMatchObject({ status: 'delivered' })
    expect(await endpoint(organisationId)).toMatchObject({
      receiver: orders.id,
      failures: 1,
      timed_out: 0,
      busy_until: 0,
    })
  })

  it('are disabled on their own', async () => {
    const { organisationId, orders, stock, email } = await siblings()
    upstream.on(ORDERS, () => new Response('broken', { status: 500 }))
    upstream.on(STOCK, () => new Response())
    await orders.deliver()
    pass(5 * DAY_MS)
    const late = await orders.newEvent()
    await jobsDb(late)
      .prepare('UPDATE webhook_events SET attempts = 3 WHERE id = ?')
      .bind(late)
      .run()
    await deliver(late)
    await stock.deliver()
    expect((await endpoint(organisationId))?.['disabled_at']).not.toBeNull()
    expect(upstream.seen(STOCK)).toHaveLength(1)
    const mails = developmentMailbox().filter(({ to }) => to === email)
    expect(mails.map(({ text }) => text).join()).toContain('“Orders” at https://hooks.test')
  })
})

describe('an endpoint that has failed for five days', () => {
  it('is disabled: its events fail without an attempt, and the owners receive one email', async () => {
    const { organisationId, email } = await newOwner()
    const last = await disabledEndpoint(organisationId)
    expect(await event(last)).toMatchObject({ status: 'failed', attempts: 4 })
    expect((await endpoint(organisationId))?.['disabled_at']).toBe(Date.now())
    expect(await actions(organisationId)).toEqual(['webhook_endpoint.disabled'])
    const mail = latestMail(email)
    expect(mail).toEqual({
      subject: 'Webhook endpoint disabled',
      path: '/console/settings/webhooks',
    })
    const attempts = upstream.seen(HOOK).length
    const next = await newEvent(organisationId)
    await deliver(next)
    expect(await event(next)).toMatchObject({ status: 'failed', attempts: 0 })
    expect(upstream.seen(HOOK)).toHaveLength(attempts)
    expect(await actions(organisationId)).toHaveLength(1)
  })

  it('is disabled once by concurrent failures', async () => {
    const { orgId } = await newOrganisation()
    upstream.on(HOOK, () => new Response('broken', { status: 500 }))
    await deliver(await newEvent(orgId))
    pass(5 * DAY_MS)
    const late = () => newEvent(orgId, HOOK, 3)
    const ids = [await late(), await late(), await late()]
    await Promise.all(ids.map((id) => deliver(id)))
    expect(await actions(orgId)).toEqual(['webhook_endpoint.disabled'])
  })

  it('is not disabled by the first failure after days without a delivery', async () => {
    const { orgId } = await newOrganisation()
    upstream.on(HOOK, () => new Response('broken', { status: 500 }))
    await deliver(await newEvent(orgId))
    pass(6 * DAY_MS)
    const next = await newEvent(orgId)
    await deliver(next)
    expect(await event(next)).toMatchObject({ status: 'retrying', attempts: 1 })
    expect(await actions(orgId)).toEqual([])
  })

  it('is enabled when a resent event is delivered, and not when it fails', async () => {
    const { browser, organisationId } = await newOwner()
    const eventId = await disabledEndpoint(organisationId)
    const resend = async () => {
      sent = []
      await browser.post(`/console/settings/webhooks/${eventId}/resend`)
      expect(env.WEBHOOKS.send).toHaveBeenLastCalledWith(
        expect.objectContaining({ eventId, manual: true }),
      )
      await deliver(eventId, true)
    }
    await browser.get('/console/settings/webhooks')
    await resend()
    expect((await event(eventId))?.['status']).toBe('failed')
    expect((await endpoint(organisationId))?.['disabled_at']).not.toBeNull()
    upstream.on(HOOK, () => new Response())
    pass(120_000)
    await resend()
    expect((await event(eventId))?.['status']).toBe('delivered')
    expect(await endpoint(organisationId)).toBeNull()
    expect(await actions(organisationId)).toEqual([
      'webhook_endpoint.disabled',
      'webhook_endpoint.enabled',
    ])
  })

  it('is listed in the console and can be enabled there', async () => {
    const { browser, organisationId } = await newOwner()
    await disabledEndpoint(organisationId)
    const page = await browser.get('/console/settings/webhooks')
    expect(page.html).toContain('A webhook endpoint is disabled')
    const fields = { receiver: ORIGIN }
    const after = await browser.post('/console/settings/webhooks/endpoints/enable', fields)
    expect(after.html).toContain('Endpoint enabled.')
    expect(after.html).not.toContain('A webhook endpoint is disabled')
    expect(await endpoint(organisationId)).toBeNull()
    expect(await actions(organisationId)).toContain('webhook_endpoint.enabled')
  })

  it('is not enabled by another organisation or by a form without a receiver', async () => {
    const [mine, theirs] = [await newOwner(), await newOwner()]
    await disabledEndpoint(theirs.organisationId)
    await mine.browser.get('/console/settings/webhooks')
    for (const fields of [{ receiver: ORIGIN }, { receiver: 'unknown' }, {}]) {
      await mine.browser.post('/console/settings/webhooks/endpoints/enable', fields)
    }
    expect((await endpoint(theirs.organisationId))?.['disabled_at']).not.toBeNull()
  })

  it.each(['console', 'operator'])('is enabled by saving the default URL: %s', async (origin) => {
    const { browser, organisationId } = await newOwner()
    await operator.patch(`/operator/organisations/${organisationId}`, {
      default_webhook_url: HOOK,
    })
    await disabledEndpoint(organisationId)
    expect(await endpoint(organisationId)).toMatchObject({ receiver: 'default' })
    const url = `${ORIGIN}/elsewhere`
    if (origin === 'console') {
      await browser.get('/console/settings/webhooks')
      await browser.post('/console/settings/webhooks/url', { url })
    } else {
      const path = `/operator/organisations/${organisationId}`
      expect((await operator.patch(path, { default_webhook_url: url })).status).toBe(200)
    }
    expect(await endpoint(organisationId)).toBeNull()
    expect(await actions(organisationId)).toContain('webhook_endpoint.enabled')
  })
})

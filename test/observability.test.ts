// What operators see: one log line per request, message, task and alarm, metrics, and /health.
import {
  createExecutionContext,
  createScheduledController,
  runDurableObjectAlarm,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { jobsBindings } from '../src/platform/db/database.ts'
import { newId } from '../src/platform/ids.ts'
import { log, redact } from '../src/platform/log.ts'
import { labelsOf, record, type Metric } from '../src/platform/metrics.ts'
import { createKey } from '../src/credits/api-key.ts'
import worker from '../src/index.ts'
import { handleMessage } from '../src/platform/queues/handle-message.ts'
import { newBrowser, newOwner, tryOn } from './support/browser.ts'
import { clientOf, request } from './support/client.ts'
import { picture, refused, rejected, scripted, useEngines } from './support/fake-engines.ts'
import { jobsDb, spyPrepare } from './support/jobs-database.ts'
import { fakePictures, MODEL, newJob } from './support/live-job.ts'
import { packRequest, pathOf, startCheckout } from './support/sandbox.ts'
import { finished, IMAGES, newOrganisation, operator, submit } from './support/world.ts'

type Line = Record<string, unknown> & { event: string }

const upstream = fakePictures()
const HOOK = 'https://hooks.test:8443/secret-path?token=x'

const lines: Line[] = []
const points: { metric: string; labels: Record<string, string>; value: number; index: string }[] =
  []

beforeEach(() => {
  lines.length = 0
  points.length = 0
  for (const level of ['log', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((text: unknown) => {
      if (String(text).startsWith('{')) lines.push(JSON.parse(String(text)) as Line)
    })
  }
  vi.spyOn(env.METRICS, 'writeDataPoint').mockImplementation((point) => {
    const [metric = '', ...values] = (point?.blobs ?? []).map(String)
    const names = labelsOf(metric as Metric)
    points.push({
      metric,
      labels: Object.fromEntries(names.map((name, at) => [name, values[at] ?? ''])),
      value: point?.doubles?.[0] ?? NaN,
      index: String(point?.indexes?.[0]),
    })
  })
})
afterEach(() => void vi.useRealTimers())

const linesOf = (event: string) => lines.filter((line) => line.event === event)
const pointsOf = (metric: Metric) => points.filter((point) => point.metric === metric)

/** The only line of the requests that `send` makes. */
async function lineOf(send: () => Promise<unknown>): Promise<Line> {
  const before = linesOf('request').length
  await send()
  const added = linesOf('request').slice(before)
  expect(added).toHaveLength(1)
  return added[0]!
}

const ids = { requestId: expect.any(String), ms: expect.any(Number) }

describe('the line of a request', () => {
  it('names the organisation, the key and the job of a submission', async () => {
    const shop = await newOrganisation()
    const requestId = crypto.randomUUID()
    const line = await lineOf(() =>
      shop.test.post('/v1/tryon', IMAGES, { 'X-Request-Id': requestId }),
    )
    expect(line).toEqual({
      ...ids,
      level: 'info',
      event: 'request',
      requestId,
      organisationId: shop.orgId,
      keyId: expect.stringMatching(/^key_/),
      mode: 'test',
      method: 'POST',
      route: '/v1/tryon',
      status: 202,
      code: null,
      jobId: expect.stringMatching(/^job_/),
    })
    expect(pointsOf('request')).toContainEqual({
      metric: 'request',
      labels: { route: 'POST /v1/tryon', statusClass: '2xx', mode: 'test' },
      value: expect.any(Number),
      index: shop.orgId,
    })
    // The job would end in the next test.
    await vi.waitUntil(() => linesOf('message').length > 0)
  })

  it('is written for rejected requests and for errors', async () => {
    const shop = await newOrganisation()
    const jobId = newId('job')
    expect(await lineOf(() => shop.test.post('/v1/tryon', {}))).toMatchObject({
      organisationId: shop.orgId,
      keyId: expect.any(String),
      status: 422,
      code: 'validation_error',
    })
    expect(await lineOf(() => shop.live.get(`/v1/jobs/${jobId}`))).toMatchObject({
      route: '/v1/jobs/{jobId}',
      jobId,
      status: 404,
      code: 'job_not_found',
    })
    expect(await lineOf(() => request('/v1/account'))).toMatchObject({
      route: '/v1/account',
      status: 401,
      code: 'invalid_api_key',
    })
    expect(await lineOf(() => request('/v1/account', { method: 'PUT' }))).toMatchObject({
      method: 'PUT',
      route: '/v1/account',
      status: 405,
      code: 'method_not_allowed',
    })
    spyPrepare(() => {
      throw new Error('D1 is down')
    })
    expect(await lineOf(() => shop.test.get(`/v1/jobs/${jobId}`))).toMatchObject({
      status: 500,
      code: 'internal_error',
    })
    expect(linesOf('request failed')).toHaveLength(1)
  })

  it('has no index for an organisation that an unknown key claims', async () => {
    const organisationId = newId('org')
    const key = createKey(organisationId, 'live')
    const line = await lineOf(() => clientOf(key).get('/v1/account'))
    expect(line).toMatchObject({ organisationId, status: 401 })
    expect(line['keyId']).toBeUndefined()
    expect(pointsOf('request').map(({ index }) => index)).toEqual([''])
  })

  it('has the pattern of the route on every surface, never a secret of the path', async () => {
    const shop = await newOrganisation()
    const { actionUrl } = await startCheckout(packRequest())
    const secret = /[\w-]{20,}$/.exec(pathOf(actionUrl))?.[0] ?? 'none'
    const { browser, organisationId } = await newOwner()
    lines.length = 0
    const jobId = newId('job')
    const routes: [path: string, line: object][] = [
      [`/operator/organisations/${shop.orgId}`, { status: 401, code: 'unauthorized' }],
      ['/outputs/a.png?expires=1&signature=x', { status: 403, code: 'invalid_signature' }],
      ['/payments/stripe/events', { status: 405, code: 'method_not_allowed' }],
      ['/console/invitations/secret-token', {}],
      [pathOf(actionUrl), { status: 200, code: null }],
      ['/pricing', { status: 200, route: '/pricing' }],
      ['/openapi.json', { status: 200, route: '/openapi.json' }],
      ['/secret-path', { status: 404, code: 'not_found', route: '' }],
      [`/console/${organisationId}/jobs/${jobId}`, { status: 303, jobId }],
    ]
    const seen: unknown[] = []
    for (const [path, expected] of routes) {
      const line = await lineOf(() => request(path, { redirect: 'manual' }))
      expect(line).toMatchObject({ ...ids, ...expected })
      seen.push(line['route'])
    }
    expect(seen).toEqual([
      '/operator/organisations/{orgId}',
      '/outputs/{file}',
      '',
      '/console/invitations/{token}',
      expect.stringMatching(/^\/sandbox\/.*\{\w+\}/),
      '/pricing',
      '/openapi.json',
      '',
      '/console/{organisationId}/jobs/{jobId}',
    ])
    expect(JSON.stringify(lines)).not.toMatch(/secret-(token|path)/)
    expect(JSON.stringify(lines)).not.toContain(secret)

    expect(await lineOf(() => operator.get(`/operator/organisations/${shop.orgId}`))).toMatchObject(
      { organisationId: shop.orgId, status: 200 },
    )
    lines.length = 0
    const page = await browser.get(`/console/${organisationId}/jobs/${jobId}`)
    expect(page.status).toBe(404)
    expect(linesOf('request')).toEqual([
      expect.objectContaining({
        organisationId,
        jobId,
        route: '/console/{organisationId}/jobs/{jobId}',
        status: 404,
        code: 'not_found',
      }),
    ])
    expect(pointsOf('request').at(-1)?.index).toBe(organisationId)
  })
})

describe('the id of a request', () => {
  it('joins the request, its job and its delivery', async () => {
    const shop = await newOrganisation({ default_webhook_url: HOOK })
    upstream.on(HOOK, () => new Response('thanks'))
    const requestId = 'of-the-client'
    const response = await shop.test.post('/v1/tryon', IMAGES, { 'X-Request-Id': requestId })
    const { job_id: jobId } = await response.json<{ job_id: string }>()
    await vi.waitUntil(() => linesOf('message').some(({ queue }) => queue === 'tryon-webhooks'))
    const joined = lines.filter((line) => line['requestId'] === requestId)
    expect(joined.map(({ event }) => event)).toEqual([
      'request',
      'job ended',
      'message',
      'webhook attempt',
      'message',
    ])
    for (const line of joined) {
      expect(line).toMatchObject({ jobId, organisationId: shop.orgId })
    }
    expect(joined[3]).toMatchObject({ host: 'hooks.test', status: 'delivered' })
    expect(JSON.stringify(lines)).not.toContain('secret-path')
    expect(joined[2]).toMatchObject({ queue: 'tryon-test-jobs', outcome: 'acked', attempts: 1 })

    const { request_id } = await (
      await operator.get(`/operator/jobs/${jobId}`)
    ).json<{ request_id: string }>()
    expect(request_id).toBe(requestId)
    const index = shop.orgId
    // Jobs of other tests may still be processed.
    const own = (metric: Metric) => pointsOf(metric).filter((point) => point.index === index)
    expect(own('job')).toEqual([
      {
        metric: 'job',
        labels: { mode: 'test', status: 'completed', errorCode: '', engine: '' },
        value: expect.any(Number),
        index,
      },
    ])
    expect(own('webhook')).toMatchObject([{ labels: { outcome: 'delivered' } }])
    await vi.waitFor(() => {
      const handled = linesOf('message').map(({ queue }) => queue)
      const aged = pointsOf('queue_age').map(({ labels }) => labels['queue'])
      expect(aged.toSorted()).toEqual(handled.toSorted())
      expect([...new Set(aged)]).toEqual(['tryon-test-jobs', 'tryon-webhooks'])
    })
  })

  it('is on the page of the job, with a link to the request log for a request to the API', async () => {
    const { browser } = await newOwner()
    const { jobId } = await tryOn(browser)
    const page = async () => (await browser.get(`/console/jobs/${jobId}`)).html
    expect(await page()).toMatch(/<dt>Request ID<\/dt><dd>[\w-]{36}<\/dd>/)
    await jobsDb(jobId)
      .prepare('UPDATE jobs SET api_key_id = ?, request_id = ? WHERE id = ?')
      .bind(newId('key'), 'a=b', jobId)
      .run()
    expect(await page()).toContain('href="/console/requests?q=a%3Db">a=b</a>')
  })
})

describe('a failed attempt', () => {
  it('names the organisation, the engine and the host of the picture', async () => {
    useEngines({ ...scripted('strict', { start: [rejected] }), paid: false })
    const { job, shop, row } = await newJob()
    await job.run()
    const { requestId } = await row()
    const common = { jobId: job.id, organisationId: shop.orgId, requestId }
    expect(linesOf('attempt failed')).toMatchObject([{ ...common, engine: 'strict' }])
    expect(pointsOf('engine')).toMatchObject([
      {
        labels: { engine: 'strict', outcome: 'generation_rejected', call: 'start' },
        index: shop.orgId,
      },
    ])

    const other = await newJob()
    upstream.on(MODEL, () => new Response('gone', { status: 404 }))
    await other.job.run()
    expect(linesOf('attempt failed').at(-1)).toMatchObject({
      host: 'cdn.test',
      code: 'model_image_unreachable',
    })
  })

  it('logs and counts once that the circuit breaker opens', async () => {
    const down = scripted('down', { start: [refused()] })
    useEngines(down, scripted('up', { start: [picture] }))
    for (let n = 0; n < 7; n++) {
      const { job } = await newJob()
      await job.run()
    }
    expect(pointsOf('breaker_opened')).toMatchObject([{ labels: { engine: 'down' } }])
    expect(linesOf('circuit breaker opened')).toMatchObject([{ engine: 'down' }])
    const outcomes = pointsOf('engine').map(
      ({ labels }) => `${labels['engine']} ${labels['outcome']}`,
    )
    expect(outcomes.filter((one) => one === 'down engine_unavailable')).toHaveLength(5)
    expect(outcomes.filter((one) => one === 'up done')).toHaveLength(7)
  })
})

describe('the line of a message', () => {
  const handle = async (
    attempts: number,
    consume: () => Promise<number | void>,
    body: object = { jobId: 'job_1' },
  ) => {
    const message = {
      id: 'm',
      timestamp: new Date(Date.now() - 1_000),
      body,
      attempts,
      ack: vi.fn(),
      retry: vi.fn(),
      metadata: {},
    } as unknown as Message
    const pending: Promise<unknown>[] = []
    const ctx = { waitUntil: (promise: Promise<unknown>) => void pending.push(promise) }
    await handleMessage({ consume, queue: 'tryon-jobs', message, env, ctx })
    await Promise.all(pending)
    return linesOf('message').at(-1)
  }
  const failing = async () => {
    throw new Error('broken')
  }

  it('says whether the message was acknowledged, retried or dead-lettered', async () => {
    const line = { queue: 'tryon-jobs', jobId: 'job_1', ms: expect.any(Number) }
    expect(await handle(1, async () => {})).toMatchObject({ ...line, outcome: 'acked' })
    expect(await handle(2, async () => 5)).toMatchObject({ outcome: 'retried', attempts: 2 })
    expect(await handle(5, failing)).toMatchObject({ outcome: 'retried' })
    expect(await handle(6, failing)).toMatchObject({ outcome: 'dead', attempts: 6 })
    expect(pointsOf('message').map(({ labels }) => labels['outcome'])).toEqual([
      'acked',
      'retried',
      'retried',
      'dead',
    ])
    // Only the first delivery says how long the queue is.
    expect(pointsOf('queue_age').map(({ value }) => value >= 1_000)).toEqual([true])
  })

  it('does not count the delay of a message as its age', async () => {
    await handle(1, async () => {}, { eventId: 'evt_1', dueAt: Date.now() })
    expect(pointsOf('queue_age').map(({ value }) => value < 1_000)).toEqual([true])
    expect(linesOf('message')).toMatchObject([{ eventId: 'evt_1' }])
  })
})

describe('cron and alarms', () => {
  it('write one line per task, also for one that fails', async () => {
    vi.spyOn(env.IMAGES, 'list').mockRejectedValue(new Error('R2 is down'))
    vi.spyOn(env.WEBHOOKS, 'sendBatch').mockRejectedValue(new Error('full'))
    await env.JOBS_DB_0.prepare(
      `INSERT INTO webhook_events (id, organisation_id, job_id, type, url, created_at, due_at, sweep_at)
       VALUES ('evt_1', 'org_1', 'job_1', 'job.completed', 'https://hooks.test/', 0, 0, 1)`,
    ).run()
    await expect(worker.scheduled(createScheduledController(), env)).rejects.toThrow('full')
    const tasks = linesOf('task')
    expect(tasks).toHaveLength(8)
    expect(tasks[1]).toMatchObject({ task: 'sweep', outcome: 'failed', ms: expect.any(Number) })
    expect(tasks[2]).toMatchObject({ task: 'countFinishedDay', outcome: 'done' })
    expect(linesOf('sweep failed')).toMatchObject([{ task: 'sweep' }])
    // One per shard, except that the events of the first shard were not sent.
    const kinds = pointsOf('sweep').map(({ labels }) => labels['kind'])
    expect(kinds.sort()).toEqual(['events', 'events', 'events', 'jobs', 'jobs', 'jobs', 'jobs'])
    expect(pointsOf('task')).toHaveLength(8)
  })

  it('write one line per alarm', async () => {
    const shop = await newOrganisation()
    await submit(shop.test, IMAGES)
    await finished(shop.test, (await submit(shop.test)).job_id)
    const stub = env.ORGANISATION.getByName(shop.orgId)
    await stub.scheduleBilling({ organisationId: shop.orgId, at: Date.now() + 60_000 })
    expect(await runDurableObjectAlarm(stub)).toBe(true)
    const own = linesOf('alarm').filter(({ organisationId }) => organisationId === shop.orgId)
    expect(own).toMatchObject([{ outcome: 'done', ms: expect.any(Number) }])
  })
})

describe('metrics', () => {
  it('need no binding, and their failure has no effect', async () => {
    record({}, 'mail', { outcome: 'sent' })
    vi.spyOn(env.METRICS, 'writeDataPoint').mockImplementation(() => {
      throw new Error('too many data points')
    })
    record(env, 'mail', { outcome: 'sent' })
    const shop = await newOrganisation()
    expect((await shop.live.get('/v1/account')).status).toBe(200)
  })

  it('count the jobs that end without processing', async () => {
    const { job, shop } = await newJob()
    await shop.live.delete(`/v1/jobs/${job.id}`)
    expect(pointsOf('job')).toMatchObject([{ labels: { mode: 'live', status: 'refunded' } }])
  })
})

describe('redaction', () => {
  it('leaves lines of ids unchanged', () => {
    const line = JSON.stringify({ requestId: crypto.randomUUID(), jobId: newId('job') })
    expect(redact(line)).toBe(line)
  })

  it('covers fields that are added later', async () => {
    log.info('test', { key: createKey(newId('org'), 'live') })
    expect(linesOf('test')[0]?.['key']).toBe('svc_live_sk_[REDACTED]')
  })
})

describe('/health', () => {
  const start = Date.now()
  let minutes = 0
  /** Passes the time for which a result is reused. The state of the isolate outlives each test. */
  const later = () => vi.setSystemTime(start + ++minutes * 60_000)
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
    later()
  })
  const read = async () => {
    const response = await request('/health')
    return { status: response.status, body: await response.json(), headers: response.headers }
  }

  it('returns 200 when everything works', async () => {
    const { status, body, headers } = await read()
    expect([status, body]).toEqual([
      200,
      { status: 'ok', version: expect.any(String), jurisdiction: null },
    ])
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect(linesOf('request')).toMatchObject([{ route: '/health', status: 200 }])
  })

  it('returns 503 with the names of the failing checks and no details', async () => {
    const down = new Error('secret host is down')
    const shards = jobsBindings(env)
    const prepare = vi.spyOn(shards[2]!, 'prepare').mockImplementation(() => {
      throw down
    })
    const head = vi.spyOn(env.IMAGES, 'head').mockRejectedValue(down)
    const { status, body } = await read()
    expect(status).toBe(503)
    expect(body).toMatchObject({ status: 'failing', failing: ['JOBS_DB_2', 'IMAGES'] })
    expect(JSON.stringify(body)).not.toContain('secret')
    expect(linesOf('health check failed')).toHaveLength(2)
    prepare.mockRestore()
    head.mockRestore()
    later()
    expect((await read()).status).toBe(200)
  })

  it('names the Organisation namespace', async () => {
    vi.spyOn(env.ORGANISATION, 'getByName').mockImplementation(() => {
      throw new Error('no such namespace')
    })
    expect((await read()).body).toMatchObject({ failing: ['ORGANISATION'] })
  })

  it('says the jurisdiction, in which alone the Organisations are addressed', async () => {
    const totals = vi.fn(async () => ({}))
    const restricted = { getByName: () => ({ id: { jurisdiction: 'eu' }, totals }) }
    const jurisdiction = vi.fn((_name: string) => restricted)
    const inEurope = { ...env, JURISDICTION: 'eu', ORGANISATION: { jurisdiction } }
    const response = await worker.fetch(
      new Request('https://try-on.test/health'),
      inEurope as unknown as Env,
      createExecutionContext(),
    )
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { status: 'ok', jurisdiction: 'eu' },
    ])
    expect([jurisdiction.mock.calls, totals.mock.calls.length]).toEqual([[['eu']], 1])
  })

  it('checks once for many requests within five seconds', async () => {
    const prepare = spyPrepare()
    const checks = () => prepare.mock.calls.filter(([sql]) => sql === 'SELECT 1').length
    const databases = 1 + jobsBindings(env).length
    await Promise.all(Array.from({ length: 20 }, read))
    await read()
    expect(checks()).toBe(databases)
    later()
    await read()
    expect(checks()).toBe(2 * databases)
  })

  it('needs no session and no key', async () => {
    expect((await newBrowser().get('/health')).status).toBe(200)
  })
})

// Alone: it counts the calls.
// The I/O budget of each request to /v1, measured by counting calls of the bindings.
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { clientOf } from '../support/client.ts'
import { createKey } from '../../src/credits/api-key.ts'
import { newApiKey } from '../../src/organisations/create-api-key.ts'
import { database } from '../../src/platform/db/database.ts'
import { apiKeys } from '../../src/platform/db/schema.ts'
import { eventIdOf, newId } from '../../src/platform/ids.ts'
import { processJob } from '../../src/jobs/processing/process.ts'
import { Organisation } from '../../src/organisation-object.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { postUpload, upload } from '../support/upload.ts'
import { eventsIn, newEndpoint } from '../support/webhooks.ts'
import {
  finished,
  IMAGES,
  newOrganisation,
  submit,
  type TestOrganisation,
} from '../support/world.ts'
import { onTrip, spyBatch, spyPrepare, type Batch } from '../support/jobs-database.ts'

let shop: TestOrganisation

/** Counts the Worker's calls of the bindings, by name; a batch is one call. */
function countCalls() {
  const calls = { organisation: 0, d1: 0, jobs: 0, webhooks: 0 }
  const count = (name: keyof typeof calls) => () => void calls[name]++
  onTrip((make) => {
    calls.d1++
    return make()
  })
  replaceQueues(count)
  const getByName = env.ORGANISATION.getByName.bind(env.ORGANISATION)
  vi.spyOn(env.ORGANISATION, 'getByName').mockImplementation((name) =>
    onAnyCall(getByName(name), count('organisation')),
  )
  return calls
}

/** Counts the rows that lists read. */
function countListedRows() {
  const rows = { read: 0 }
  spyPrepare((prepare, sql) => {
    const statement = prepare(sql)
    return new Proxy(statement, {
      get: (target, name) =>
        name === 'bind'
          ? (...values: unknown[]) => {
              const bound = target.bind(...values)
              return {
                raw: async () => {
                  const { results, meta } = await bound.all<Record<string, unknown>>()
                  rows.read += meta.rows_read
                  return results.map((row) => Object.values(row))
                },
              }
            }
          : Reflect.get(target, name),
    })
  })
  return rows
}

/** Counts the rows that batches and single inserts write, index entries included. */
function countWrittenRows() {
  let written = 0
  const add = <T>(result: D1Result<T>) => {
    written += result.meta.rows_written
    return result
  }
  spyBatch(async <T>(batch: Batch, statements: D1PreparedStatement[]) =>
    (await batch<T>(statements)).map(add),
  )
  const addRun = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get(target, name) {
        if (name === 'bind') return (...values: unknown[]) => addRun(target.bind(...values))
        if (name === 'run') return async () => add(await target.run())
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  spyPrepare((prepare, sql) => addRun(prepare(sql)))
  return {
    /** The rows since the last call. */
    take() {
      const taken = written
      written = 0
      return taken
    },
  }
}

/** Replaces the queues, so that no consumer runs. */
function replaceQueues(report: (queue: 'jobs' | 'webhooks') => () => void = () => () => undefined) {
  const replace = (queue: Queue, method: 'send' | 'sendBatch', name: 'jobs' | 'webhooks') =>
    vi.spyOn(queue, method).mockImplementation(async () => {
      report(name)()
      return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } }
    })
  for (const queue of [env.JOBS, env.TEST_JOBS]) replace(queue, 'send', 'jobs')
  for (const method of ['send', 'sendBatch'] as const) replace(env.WEBHOOKS, method, 'webhooks')
}

/** Submits a job and processes it. No other work follows, which would be counted. */
async function endedJob(): Promise<string> {
  replaceQueues()
  const { job_id: jobId } = await submit(shop.test)
  await processJob({ env, jobId, mode: 'test' })
  return jobId
}

function onAnyCall<T extends object>(stub: T, report: () => void): T {
  return new Proxy(stub, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        // Made once for many requests, after their responses. See "the request log" below.
        if (name !== 'logRequests') report()
        return Reflect.apply(member, target, args) as unknown
      }
    },
  })
}

const NOTHING = { organisation: 0, d1: 0, jobs: 0, webhooks: 0 }

beforeAll(async () => {
  shop = await newOrganisation()
})
beforeEach(async () => {
  // Alarms of earlier tests would be counted.
  vi.spyOn(Organisation.prototype, 'alarm').mockResolvedValue()
  // Fills the Organisation's snapshot cache, so that requests do not read it from D1.
  await shop.test.get('/v1/account')
})

describe('a request', () => {
  it('does no I/O for a malformed key', async () => {
    const calls = countCalls()
    const key = `${shop.keys.live.slice(0, -1)}${shop.keys.live.endsWith('x') ? 'y' : 'x'}`
    expect((await clientOf(key).get('/v1/account')).status).toBe(401)
    expect((await clientOf('svc_live_sk_nonsense').post('/v1/tryon', IMAGES)).status).toBe(401)
    expect(calls).toEqual(NOTHING)
  })

  it('makes one Organisation call for a well-formed key of an unknown organisation', async () => {
    const unknown = clientOf(createKey(newId('org'), 'live'))
    await unknown.get('/v1/account')
    const calls = countCalls()
    expect((await unknown.get('/v1/account')).status).toBe(401)
    expect(calls).toEqual({ ...NOTHING, organisation: 1 })
  })

  it.each(['test', 'live'] as const)(
    'makes one Organisation call, one insert and one queue send for POST /v1/tryon (%s)',
    async (mode) => {
      const calls = countCalls()
      expect((await shop[mode].post('/v1/tryon', IMAGES)).status).toBe(202)
      expect(calls).toEqual({ ...NOTHING, organisation: 1, d1: 1, jobs: 1 })
    },
  )

  it('makes no further call for a key with limits', async () => {
    const { row, key } = newApiKey({
      organisationId: shop.orgId,
      mode: 'live',
      name: 'Limited',
      limits: { access: 'full', workspaceId: shop.workspaceId, monthlyCredits: 1 },
    })
    await database(env).insert(apiKeys).values(row)
    await env.ORGANISATION.getByName(shop.orgId).refresh()
    // Informs the members that the limit is reached.
    vi.spyOn(Organisation.prototype, 'alarm').mockResolvedValue()
    const limited = clientOf(key)
    await limited.get('/v1/account')
    const calls = countCalls()
    const { job_id } = await submit(limited)
    expect(calls).toEqual({ ...NOTHING, organisation: 1, d1: 1, jobs: 1 })
    Object.assign(calls, NOTHING)
    expect((await limited.post('/v1/tryon', IMAGES)).status).toBe(402)
    expect(calls).toEqual({ ...NOTHING, organisation: 1 })
    Object.assign(calls, NOTHING)
    expect((await limited.get(`/v1/jobs/${job_id}`)).status).toBe(200)
    expect(calls).toEqual({ ...NOTHING, organisation: 1, d1: 1 })
    Object.assign(calls, NOTHING)
    expect((await limited.delete(`/v1/jobs/${job_id}`)).status).toBe(200)
    expect(calls).toEqual({ ...NOTHING, organisation: 2, d1: 1 })
  })

  it('makes one Organisation call and one write to R2 for POST /v1/uploads', async () => {
    const calls = countCalls()
    const put = vi.spyOn(env.IMAGES, 'put')
    expect((await postUpload(shop.keys.test)).status).toBe(201)
    expect((await postUpload(shop.keys.test, 'text')).status).toBe(422)
    expect(calls).toEqual({ ...NOTHING, organisation: 2 })
    expect(put).toHaveBeenCalledOnce()
  })

  it('makes no further call for a submission with an upload', async () => {
    const model_image_url = await upload(shop.keys.test)
    const calls = countCalls()
    const body = { ...IMAGES, model_image_url }
    expect((await shop.test.post('/v1/tryon', body)).status).toBe(202)
    expect(calls).toEqual({ ...NOTHING, organisation: 1, d1: 1, jobs: 1 })
  })

  it('makes one Organisation call for a rejected submission', async () => {
    const calls = countCalls()
    expect((await shop.live.post('/v1/tryon', {})).status).toBe(422)
    expect(calls).toEqual({ ...NOTHING, organisation: 1 })
  })

  it('makes one Organisation call and one read for GET /v1/jobs/{id}', async () => {
    const jobId = await endedJob()
    const calls = countCalls()
    expect((await shop.test.get(`/v1/jobs/${jobId}`)).status).toBe(200)
    expect(calls).toEqual({ ...NOTHING, organisation: 1, d1: 1 })
  })

  it('makes one Organisation call and one read for GET /v1/jobs', async () => {
    const calls = countCalls()
    expect((await shop.test.get('/v1/jobs?status=pending')).status).toBe(200)
    expect(calls).toEqual({ ...NOTHING, organisation: 1, d1: 1 })
  })

  it('makes two Organisation calls, one batch and one message for DELETE /v1/jobs/{id}', async () => {
    const calls = countCalls() // also replaces the queues, so the job stays pending
    const { job_id } = await submit(shop.live, { webhook_url: 'https://hooks.test/budget' })
    Object.assign(calls, NOTHING)
    expect((await shop.live.delete(`/v1/jobs/${job_id}`)).status).toBe(200)
    expect(calls).toEqual({ ...NOTHING, organisation: 2, d1: 1, webhooks: 1 })
  })

  it('makes no further call for DELETE /v1/jobs/{id} with added endpoints', async () => {
    const other = await newOrganisation()
    for (let n = 0; n < 3; n++) await newEndpoint(other.orgId)
    await other.test.get('/v1/account')
    const calls = countCalls()
    const { job_id } = await submit(other.live, { webhook_url: 'https://hooks.test/budget' })
    expect(calls).toEqual({ ...NOTHING, organisation: 1, d1: 1, jobs: 1 })
    Object.assign(calls, NOTHING)
    expect((await other.live.delete(`/v1/jobs/${job_id}`)).status).toBe(200)
    expect(calls).toEqual({ ...NOTHING, organisation: 2, d1: 1, webhooks: 1 })
    expect(await eventsIn(other.orgId)).toHaveLength(4)
  })

  it('makes one Organisation call, a read and a batch for DELETE /v1/jobs/{id}/output', async () => {
    const jobId = await endedJob()
    const calls = countCalls()
    const deleted = vi.spyOn(env.IMAGES, 'delete')
    expect((await shop.test.delete(`/v1/jobs/${jobId}/output`)).status).toBe(204)
    // The read, the entry in the audit log, which is in another database, and the update.
    expect(calls).toEqual({ ...NOTHING, organisation: 1, d1: 3 })
    // First the output and the inputs, then the thumbnail.
    expect(deleted).toHaveBeenCalledTimes(2)
  })

  it.each([
    ['/v1/webhook-endpoints', 2],
    ['/v1/webhook-deliveries', 1],
    // The counted days, their counts, and the jobs of today.
    ['/v1/usage', 3],
    // The names of the keys. The counts are those of the request before.
    ['/v1/usage?group_by=api_key', 1],
  ])('makes one Organisation call and few reads for GET %s', async (path, d1) => {
    const calls = countCalls()
    expect((await shop.test.get(path)).status).toBe(200)
    expect(calls).toEqual({ ...NOTHING, organisation: 1, d1 })
  })

  it.each(['/v1/workspaces', '/v1/account'])(
    'makes one Organisation call for GET %s',
    async (path) => {
      const calls = countCalls()
      expect((await shop.test.get(path)).status).toBe(200)
      expect(calls).toEqual({ ...NOTHING, organisation: 1 })
    },
  )

  it('reads the snapshot of the Organisation once per 30 seconds, from both of its databases', async () => {
    // The request log uses the snapshot too, after the response.
    vi.spyOn(Organisation.prototype, 'logRequests').mockResolvedValue()
    const other = await newOrganisation()
    const calls = countCalls()
    await other.test.get('/v1/account')
    expect(calls.d1).toBe(2)
    await other.test.get('/v1/account')
    expect(calls.d1).toBe(2)
    vi.setSystemTime(Date.now() + 30_000)
    await other.test.get('/v1/account')
    vi.useRealTimers()
    expect(calls.d1).toBe(4)
  })
})

describe('a job with a webhook', () => {
  it('writes 14 rows of D1', async () => {
    const upstream = vi
      .spyOn(globalThis, 'fetch')
      .mockImplementation(async () => new Response('ok'))
    replaceQueues()
    const rows = countWrittenRows()
    const { job_id: jobId } = await submit(shop.test, { webhook_url: 'https://hooks.test/rows' })
    // The job, and its entries by organisation, by workspace and among the unfinished jobs.
    expect(rows.take()).toBe(4)
    await processJob({ env, jobId, mode: 'test' })
    // The claim. The end: the job, two entries by status, the event and its two entries.
    expect(rows.take()).toBe(1 + 6)
    await deliverEvent({ env, eventId: eventIdOf(jobId) })
    // The claim. The event, which leaves the index of undelivered events, and the attempt.
    expect(rows.take()).toBe(1 + 2)
    expect(upstream).toHaveBeenCalledOnce()
  })
})

describe('the request log', () => {
  it('makes few Organisation calls for many requests, and no call of D1', async () => {
    const other = await newOrganisation()
    await other.test.get('/v1/account')
    const calls = countCalls()
    const batches = vi.spyOn(Organisation.prototype, 'logRequests')
    await Promise.all(Array.from({ length: 20 }, () => other.test.get('/v1/account')))
    const logged = () => batches.mock.calls.flatMap(([, requests]) => requests).length
    await vi.waitUntil(() => logged() >= 20)
    // One for each second that the requests took.
    expect(batches.mock.calls.length).toBeLessThan(10)
    expect(calls).toEqual({ ...NOTHING, organisation: 20 })
  })
})

describe('GET /v1/jobs', () => {
  it.each(
    ['', '&workspace_id=WS', '&status=completed', '&workspace_id=WS&status=completed'].flatMap(
      (filter) =>
        [
          '',
          '&created_after=AFTER',
          '&created_before=BEFORE',
          '&created_after=AFTER&created_before=BEFORE',
        ].map((range) => filter + range),
    ),
  )('reads at most limit + 1 rows, with the filters "%s"', async (filters) => {
    const busyShop = await newOrganisation()
    const jobs = await Promise.all(Array.from({ length: 12 }, () => submit(busyShop.test)))
    await Promise.all(jobs.map(({ job_id }) => finished(busyShop.test, job_id)))
    await busyShop.test.get('/v1/account')
    const newest = Date.parse(String(jobs.at(-1)!['created_at']))

    const rows = countListedRows()
    const path = `/v1/jobs?limit=5${filters}`
      .replace('WS', busyShop.workspaceId)
      .replace('AFTER', new Date(newest - 60_000).toISOString())
      .replace('BEFORE', new Date(newest + 60_000).toISOString())
    const page = await (await busyShop.test.get(path)).json<{ jobs: unknown[] }>()
    expect(page.jobs).toHaveLength(5)
    expect(rows.read).toBeGreaterThan(0)
    expect(rows.read).toBeLessThanOrEqual(6)
  })

  it('reads at most limit + 1 rows of the pending jobs, and no finished job', async () => {
    const busyShop = await newOrganisation()
    const { job_id } = await submit(busyShop.test)
    await finished(busyShop.test, job_id)
    replaceQueues()
    for (let n = 0; n < 8; n++) await submit(busyShop.test)
    vi.restoreAllMocks()
    for (const [filters, read] of [
      ['status=pending', 6],
      [`status=pending&workspace_id=${busyShop.workspaceId}`, 6],
      ['status=processing', 9],
    ] as const) {
      const rows = countListedRows()
      expect((await busyShop.test.get(`/v1/jobs?limit=5&${filters}`)).status).toBe(200)
      expect(rows.read).toBeLessThanOrEqual(read)
      vi.restoreAllMocks()
    }
  })
})

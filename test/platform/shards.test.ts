// The shards: organisations of four shards side by side, each with its data in its own database only.
import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newApiKey } from '../../src/organisations/create-api-key.ts'
import {
  organisationInserts,
  organisationRow,
} from '../../src/organisations/create-organisation.ts'
import { exportOrganisation } from '../../src/privacy/export-organisation.ts'
import { createKey as newKeyText } from '../../src/credits/api-key.ts'
import { runRetention } from '../../src/privacy/run-retention.ts'
import { runDeletions } from '../../src/privacy/run-deletions.ts'
import { workspaceRow } from '../../src/organisations/workspaces.ts'
import { organisationOf } from '../../src/organisations/locate.ts'
import { database, jobsBindings, newOrganisationId } from '../../src/platform/db/database.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { eventIdOf, newId, newShardedId, shardOf } from '../../src/platform/ids.ts'
import worker from '../../src/index.ts'
import { countFinishedDay } from '../../src/jobs/reports/daily-statistics.ts'
import { processJob } from '../../src/jobs/processing/process.ts'
import { jobStatuses } from '../../src/credits/reconciliation.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { BASE, clientOf, codeOf } from '../support/client.ts'
import { PAST_GRACE_MS } from '../support/deletion.ts'
import { jobsDb, onEveryShard } from '../support/jobs-database.ts'
import { DAY_MS, endedJob, fakeClock, objects, pass, retain } from '../support/retention.ts'
import { sweep } from '../support/sweep.ts'
import { cellsIn } from '../support/traces.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { newEndpoint } from '../support/webhooks.ts'
import {
  IMAGES,
  newOrganisation,
  operator,
  readJob,
  submit,
  type TestOrganisation,
} from '../support/world.ts'

const HOOK = 'https://hooks.test/shards'
const HELD = { model_image_url: 'https://test.invalid/pending/60' }

const upstream = fakeUpstream()
fakeClock()

/** One organisation of each shard, by the shard's number. */
const shops: TestOrganisation[] = []
const each = (visit: (shop: TestOrganisation) => Promise<void>) => Promise.all(shops.map(visit))

beforeAll(async () => {
  while (Object.keys(shops).length < jobsBindings(env).length) {
    const shop = await newOrganisation()
    shops[shardOf(shop.orgId)] ??= shop
  }
})

/** The databases that contain a text, by the names of their bindings. */
async function databasesWith(text: string): Promise<string[]> {
  const names = ['DB', ...jobsBindings(env).map((_, shard) => `JOBS_DB_${shard}`)]
  const cells = await Promise.all(names.map((name) => cellsIn(Reflect.get(env, name), text)))
  return names.filter((_, at) => cells[at]?.length)
}

/** Without the accounts: the row of an organisation has the last id that retention has purged. */
const shardsWith = async (text: string): Promise<string[]> =>
  (await databasesWith(text)).filter((name) => name !== 'DB')

/** The environment with a shard whose statements fail. */
const withoutShard = (shard: number): Env =>
  Object.assign(
    { ...env },
    {
      [`JOBS_DB_${shard}`]: new Proxy(env.DB, {
        get() {
          throw new Error(`shard ${shard} is down`)
        },
      }),
    },
  )

const silenceErrors = () => vi.spyOn(console, 'error').mockImplementation(() => {})

describe('organisations of four shards', () => {
  it('store jobs, events and attempts in their own database only', () =>
    each(async (shop) => {
      upstream.on(HOOK, () => new Response())
      const own = `JOBS_DB_${shops.indexOf(shop)}`
      const endpoint = await newEndpoint(shop.orgId)
      upstream.on('https://added.test/hook', () => new Response('no', { status: 500 }))
      const jobId = await endedJob(shop, 'test', { webhook_url: HOOK })
      expect(shardOf(jobId)).toBe(shops.indexOf(shop))
      const eventId = eventIdOf(jobId)
      await deliverEvent({ env, eventId })
      const added = `${eventId}_${endpoint.id.slice(-8)}`
      await deliverEvent({ env, eventId: added })
      expect(await readJob(shop.test, jobId)).toMatchObject({ webhook_status: 'delivered' })
      const { jobs } = await (await shop.test.get('/v1/jobs')).json<{ jobs: object[] }>()
      expect(jobs).toMatchObject([{ job_id: jobId }])
      const { job_id: held } = await submit(shop.test, HELD)
      expect((await shop.test.delete(`/v1/jobs/${held}`)).status).toBe(200)
      for (const id of [jobId, eventId, added, held]) expect(await databasesWith(id)).toEqual([own])
      expect(await organisationOf(env, jobId)).toBe(shop.orgId)
      expect(await organisationOf(env, added)).toBe(shop.orgId)
      // The endpoint is in the audit log, too.
      expect(await databasesWith(endpoint.id)).toEqual(['DB', own])
      const failing =
        'SELECT organisation_id AS id FROM failing_receivers WHERE organisation_id = ?'
      const rows = await onEveryShard(failing, shop.orgId)
      expect(rows.findIndex((found) => found.length > 0)).toBe(shops.indexOf(shop))
    }))

  it('get 403 for jobs of each other and 404 for jobs that no shard has', () =>
    each(async (shop) => {
      const other = shops.find((each) => each !== shop)!
      const { job_id: foreign } = await submit(other.test, HELD)
      const { job_id: own } = await submit(shop.test, HELD)
      const invented = [0, 1, 2, 3, 200].map((shard) => newShardedId('job', shard))
      for (const path of [foreign, own]) {
        const status = path === own ? 200 : 403
        expect((await shop.test.get(`/v1/jobs/${path}`)).status).toBe(status)
        expect((await shop.test.delete(`/v1/jobs/${path}`)).status).toBe(status)
      }
      expect((await shop.test.delete(`/v1/jobs/${foreign}/output`)).status).toBe(403)
      for (const id of [...invented, newId('job')]) {
        const found = await shop.test.get(`/v1/jobs/${id}`)
        expect([found.status, await codeOf(found)]).toEqual([404, 'job_not_found'])
        expect((await shop.test.delete(`/v1/jobs/${id}`)).status).toBe(404)
      }
    }))

  it('are swept, counted and purged each in its own database', async () => {
    const jobs = await Promise.all(shops.map((shop) => endedJob(shop, 'test')))
    const pending = await Promise.all(shops.map(async ({ test }) => (await submit(test)).job_id))
    const swept = vi.spyOn(env.TEST_JOBS, 'sendBatch').mockResolvedValue({
      metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
    })
    pass(60_000)
    await sweep(env)
    const sent = swept.mock.calls.flatMap(([messages]) => Array.from(messages, ({ body }) => body))
    for (const [at, jobId] of pending.entries()) {
      expect(sent).toContainEqual(
        expect.objectContaining({ jobId, organisationId: shops[at]?.orgId }),
      )
      await processJob({ env, jobId, mode: 'test' })
    }
    pass(DAY_MS)
    await onEveryShard("UPDATE jobs SET status = 'refunded' WHERE status = 'pending'")
    await countFinishedDay(env)
    const counted = await onEveryShard<{ id: string }>(
      'SELECT DISTINCT organisation_id AS id FROM job_statistics',
    )
    expect(counted.map((rows, shard) => rows.every(({ id }) => shardOf(id) === shard))).toEqual(
      shops.map(() => true),
    )
    for (const [shard, { orgId }] of shops.entries())
      expect(counted[shard]).toContainEqual({ id: orgId })
    pass(8 * DAY_MS)
    await env.DB.prepare('UPDATE organisations SET retention_due_at = 0').run()
    await retain()
    for (const jobId of [...jobs, ...pending]) {
      expect(await shardsWith(jobId)).toEqual([])
      expect(await objects(`outputs/${jobId}`)).toEqual([])
    }
  })

  it('are exported and deleted without the others', async () => {
    const jobs = await Promise.all(shops.map((shop) => endedJob(shop, 'test')))
    for (const { orgId: organisationId } of shops) {
      const exported = await exportOrganisation({
        env,
        actor: SYSTEM,
        organisationId,
        baseUrl: BASE,
      })
      const text = await new Response(exported).text()
      expect(jobs.filter((id) => text.includes(id)).map(shardOf)).toEqual([shardOf(organisationId)])
    }
    const [deleted] = shops.slice(2)
    const extra = await newOrganisation()
    shops.push(extra)
    await operator.delete(`/operator/organisations/${deleted!.orgId}`)
    pass(PAST_GRACE_MS)
    await runDeletions(env)
    shops.pop()
    for (const [shard, jobId] of jobs.entries()) {
      expect(await databasesWith(jobId)).toEqual(shard === 2 ? [] : [`JOBS_DB_${shard}`])
    }
    expect(await databasesWith(deleted!.orgId)).toEqual(['DB']) // the closing record
    delete shops[2]
    while (!shops[2]) {
      const shop = await newOrganisation()
      if (shardOf(shop.orgId) === 2) shops[2] = shop
    }
  })
})

const rolledBack: Env = Object.assign({ ...env }, { JOBS_DB_3: undefined })

describe('a shard that is not bound', () => {
  it('rejects submissions and checks of credits', async () => {
    const shop = shops[3]!
    const job = newShardedId('job', 3)
    await expect(jobStatuses(rolledBack, [job])).rejects.toThrow('JOBS_DB_3 is not bound')
    silenceErrors()
    const response = await worker.fetch(
      new Request('https://try-on.test/v1/tryon', {
        method: 'POST',
        headers: { Authorization: `Bearer ${shop.keys.test}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(IMAGES),
      }),
      rolledBack,
      createExecutionContext(),
    )
    expect(response.status).toBe(500)
  })
})

describe('work on a shard that is not bound', () => {
  const rowOf = (orgId: string) =>
    env.DB.prepare('SELECT id FROM organisations WHERE id = ?').bind(orgId).first()

  /** An organisation of shard 3 besides that of the other tests. */
  async function newShop(): Promise<TestOrganisation> {
    for (;;) {
      const shop = await newOrganisation()
      if (shardOf(shop.orgId) === 3) return shop
    }
  }

  it('stops the deletion of an organisation, which continues once it is bound', async () => {
    const shop = await newShop()
    const jobId = await endedJob(shop, 'test', { webhook_url: HOOK })
    const pictures = await objects(`outputs/${jobId}`)
    expect(pictures).toHaveLength(1)
    await operator.delete(`/operator/organisations/${shop.orgId}`)
    pass(PAST_GRACE_MS)
    const log = silenceErrors()
    await expect(runDeletions(rolledBack)).rejects.toThrow('JOBS_DB_3 is not bound')
    log.mockRestore()
    expect(await databasesWith(jobId)).toEqual(['JOBS_DB_3'])
    expect(await objects(`outputs/${jobId}`)).toEqual(pictures)
    expect(await rowOf(shop.orgId)).not.toBeNull()
    await runDeletions(env)
    expect(await databasesWith(jobId)).toEqual([])
    expect(await objects(`outputs/${jobId}`)).toEqual([])
    expect(await rowOf(shop.orgId)).toBeNull()
  })

  it('stops retention, which is due again after ten minutes', async () => {
    const shop = await newShop()
    const jobId = await endedJob(shop, 'test')
    pass(9 * DAY_MS)
    await env.DB.prepare('UPDATE organisations SET retention_due_at = 0').run()
    const log = silenceErrors()
    await runRetention(rolledBack)
    expect(String(log.mock.calls)).toContain('JOBS_DB_3 is not bound')
    log.mockRestore()
    expect(await databasesWith(jobId)).toContain('JOBS_DB_3')
    pass(11 * 60_000)
    await retain()
    expect(await shardsWith(jobId)).toEqual([])
  })

  it('stops jobs, deliveries and reads of an existing organisation', async () => {
    const shop = await newShop()
    const jobId = await endedJob(shop, 'test', { webhook_url: HOOK })
    const message = { env: rolledBack, jobId, mode: 'test' } as const
    await expect(processJob(message)).rejects.toThrow('JOBS_DB_3 is not bound')
    const event = { env: rolledBack, eventId: eventIdOf(jobId) }
    await expect(deliverEvent(event)).rejects.toThrow('JOBS_DB_3 is not bound')
    const exported = await exportOrganisation({
      env: rolledBack,
      actor: SYSTEM,
      organisationId: shop.orgId,
      baseUrl: BASE,
    })
    await expect(new Response(exported).text()).rejects.toThrow('JOBS_DB_3 is not bound')
  })

  it('rejects the key of an invented organisation as invalid', async () => {
    const client = clientOf(newKeyText(newShardedId('org', 200), 'test'))
    const response = await client.get('/v1/account')
    expect([response.status, await codeOf(response)]).toEqual([401, 'invalid_api_key'])
  })
})

describe('a shard that fails', () => {
  it('does not stop the sweep of the others', async () => {
    const jobs = await Promise.all(shops.map(async ({ test }) => (await submit(test)).job_id))
    pass(60_000)
    const swept = vi.spyOn(env.TEST_JOBS, 'sendBatch').mockResolvedValue({
      metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
    })
    const log = silenceErrors()
    await expect(sweep(withoutShard(1))).rejects.toThrow('shard 1 is down')
    expect(String(log.mock.calls)).toContain('shard failed')
    log.mockRestore()
    const sent = JSON.stringify(
      swept.mock.calls.flatMap(([messages]) => Array.from(messages, ({ body }) => body)),
    )
    expect(jobs.map((id) => sent.includes(id))).toEqual([true, false, true, true])
  })

  it('does not stop the statistics and the retention of the others', async () => {
    const jobs = await Promise.all(shops.map((shop) => endedJob(shop, 'test')))
    pass(9 * DAY_MS)
    await onEveryShard("UPDATE jobs SET status = 'refunded' WHERE status = 'pending'")
    await env.DB.prepare('UPDATE organisations SET retention_due_at = 0').run()
    const log = silenceErrors()
    await expect(countFinishedDay(withoutShard(3))).rejects.toThrow('shard 3 is down')
    const controller = { scheduledTime: Date.now(), cron: '', noRetry() {} }
    await expect(worker.scheduled(controller, withoutShard(3))).rejects.toThrow('shard 3 is down')
    log.mockRestore()
    const stored = await Promise.all(jobs.map(shardsWith))
    expect(stored.map((names) => names.length)).toEqual([0, 0, 0, 1])
    const days = await onEveryShard('SELECT day FROM job_statistics_days')
    expect(days[0]!.length).toBeGreaterThan(days[3]!.length)
    // Its organisations are due again after ten minutes.
    pass(11 * 60_000)
    await retain()
    expect(await shardsWith(jobs[3]!)).toEqual([])
  })
})

describe('an organisation that is older than the shards', () => {
  it('has its jobs on shard 0, with and without a mark', async () => {
    const id = newId('org')
    const { key, row } = newApiKey({ organisationId: id, mode: 'test', name: 'Old' })
    const organisation = organisationRow({
      id,
      name: 'Old',
      regionCode: 'EU',
      rateLimitPerMinute: 60,
    })
    const workspace = workspaceRow({ organisationId: id, name: 'Default' })
    const details = { name: 'Old' }
    await database(env).batch(
      organisationInserts({ env, actor: SYSTEM, organisation, workspace, keys: [row], details }),
    )
    const client = clientOf(key)
    const { job_id: jobId } = await submit(client, HELD)
    const unmarked = newId('job')
    await jobsDb(id).prepare('UPDATE jobs SET id = ? WHERE id = ?').bind(unmarked, jobId).run()
    const { job_id: marked } = await submit(client, HELD)
    expect((await readJob(client, unmarked)).status).toBe('pending')
    const { jobs } = await (await client.get('/v1/jobs')).json<{ jobs: object[] }>()
    expect(jobs).toMatchObject([{ job_id: marked }, { job_id: unmarked }])
    expect((await client.delete(`/v1/jobs/${unmarked}`)).status).toBe(200)
    expect(await databasesWith(unmarked)).toEqual(['JOBS_DB_0'])
    expect(await databasesWith(marked)).toEqual(['JOBS_DB_0'])
  })
})

describe('one database for accounts and jobs', () => {
  it('serves the requests and tasks of the first release', async () => {
    const names = jobsBindings(env).map((_, shard) => [`JOBS_DB_${shard}`, undefined])
    const single: Env = Object.assign(
      { ...env },
      { ...Object.fromEntries(names), JOBS_DB_0: env.DB },
    )
    const shop = shops[0]!
    const send = async (method: string, path: string, body?: object) =>
      worker.fetch(
        new Request(`${BASE}${path}`, {
          method,
          headers: { Authorization: `Bearer ${shop.keys.test}` },
          ...(body && { body: JSON.stringify(body) }),
        }),
        single,
        createExecutionContext(),
      )
    const submitted = await send('POST', '/v1/tryon', IMAGES)
    const { job_id: jobId } = await submitted.json<{ job_id: string }>()
    await processJob({ env: single, jobId, mode: 'test' })
    expect(await (await send('GET', `/v1/jobs/${jobId}`)).json()).toMatchObject({
      status: 'completed',
    })
    expect(await databasesWith(jobId)).toEqual(['DB'])
    pass(8 * DAY_MS)
    await env.DB.prepare('UPDATE organisations SET retention_due_at = 0').run()
    await worker.scheduled({ scheduledTime: Date.now(), cron: '', noRetry() {} }, single)
    expect((await send('GET', `/v1/jobs/${jobId}`)).status).toBe(404)
  })
})

describe('OPEN_SHARDS', () => {
  it('limits the shards of new organisations', () => {
    const shardsOf = (vars: object) =>
      new Set(
        Array.from({ length: 200 }, () =>
          shardOf(newOrganisationId(Object.assign({ ...env }, vars))),
        ),
      )
    expect(shardsOf({}).size).toBe(4)
    expect(shardsOf({ OPEN_SHARDS: '1, 3' })).toEqual(new Set([1, 3]))
  })
})

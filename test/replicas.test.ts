// Reads from replicas over HTTP, with a replica that never catches up by itself (docs/adr/0031-read-replicas.md).
import { createExecutionContext, evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Hono } from 'hono'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ConsoleApp } from '../src/console/context.ts'
import { useReplicas } from '../src/console/middleware/use-replicas.ts'
import { connection } from '../src/db/sessions.ts'
import { jobsBindings } from '../src/db/shards.ts'
import worker from '../src/index.ts'
import { Organisation } from '../src/organisation/organisation.ts'
import { RecentWrites } from '../src/organisation/recent-writes.ts'
import { newBrowser, newOwner, PASSWORD } from './support/browser.ts'
import { BASE } from './support/client.ts'
import { withReplica } from './support/replica.ts'
import { failJobQueues, finished, IMAGES, newOrganisation, submit } from './support/world.ts'
import type { JobJson, TestOrganisation } from './support/world.ts'

/** The other shards of the pool are the replicas: databases that nothing else uses here. */
const [shard = env.DB, , copyOfShard = env.DB, copyOfAccounts = env.DB] = jobsBindings(env)
const accounts = withReplica(env.DB, copyOfAccounts)
const jobs = withReplica(shard, copyOfShard)
/** The first shard is the only one, so that all organisations of this file use it. */
const oneShard = { JOBS_DB_1: undefined, JOBS_DB_2: undefined, JOBS_DB_3: undefined }
const replicated: Env = Object.assign({ ...env }, oneShard, {
  DB: accounts.binding,
  JOBS_DB_0: jobs.binding,
  D1_READ_REPLICATION: 'true',
})

// `newOrganisation` creates organisations in the Worker of the pool, which selects a shard at random.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))

const send = (bindings: Env, path: string, init?: RequestInit): Promise<Response> =>
  Promise.resolve(worker.fetch(new Request(BASE + path, init), bindings, createExecutionContext()))

/** A client whose requests read from the replica. */
function nearbyClient({ keys }: TestOrganisation, bindings = replicated) {
  const call = (method: string, path: string, body?: object) =>
    send(bindings, path, {
      method,
      headers: { Authorization: `Bearer ${keys.test}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  return {
    submit: async (body: object = {}): Promise<JobJson> => {
      const response = await call('POST', '/v1/tryon', { ...IMAGES, ...body })
      expect(response.status).toBe(202)
      return response.json()
    },
    get: (path: string) => call('GET', path),
    job: async (id: string): Promise<JobJson> => (await call('GET', `/v1/jobs/${id}`)).json(),
    list: async (query = '') => {
      const page = await (await call('GET', `/v1/jobs${query}`)).json<{ jobs: JobJson[] }>()
      return page.jobs
    },
    delete: (path: string) => call('DELETE', path),
  }
}

/** Waits until the Organisation has the bookmarks of all requests so far, then runs `work`. */
async function reported<T>(work: () => Promise<T>): Promise<T> {
  const report = vi.spyOn(RecentWrites.prototype, 'report')
  const log = vi.spyOn(Organisation.prototype, 'logRequests')
  const result = await work()
  const isOwn = ([organisationId, , writes = []]: (typeof log.mock.calls)[number]) =>
    organisationId === shop.orgId && writes.length > 0
  await vi.waitUntil(
    () => {
      const [, , writes] = log.mock.calls.find(isOwn) ?? []
      return writes && report.mock.calls.some(([reports]) => reports === writes)
    },
    { timeout: 10_000 },
  )
  log.mockRestore()
  report.mockRestore()
  return result
}

/** Counts the statements that `work` runs on a database, by where they run. */
async function counted<T>(work: () => Promise<T>, { ran } = jobs) {
  Object.assign(ran, { primary: 0, replica: 0 })
  const result = await work()
  return { result, ...ran }
}

/** A younger job is read from the primary. */
function passMinutes(): void {
  // Ids never go back, so the clock of the next test must pass that of the last one.
  elapsedMs += 120_000
  vi.setSystemTime(Date.now() + elapsedMs)
}
let elapsedMs = 0
afterEach(() => void vi.useRealTimers())

let shop: TestOrganisation
let client: ReturnType<typeof nearbyClient>

describe('GET /v1/jobs/{id}', () => {
  beforeEach(async () => {
    shop = await newOrganisation()
    client = nearbyClient(shop)
  })

  it('reads a job that has ended from the replica, except in its first minute', async () => {
    const { job_id } = await submit(shop.test)
    const ended = await finished(shop.test, job_id)
    await jobs.replicate()
    expect(await counted(() => client.job(job_id))).toMatchObject({ primary: 1, replica: 0 })
    passMinutes()
    const read = await counted(() => client.job(job_id))
    expect(read).toMatchObject({ primary: 0, replica: 1 })
    expect(read.result).toMatchObject({ job_id, status: 'completed' })
    expect(read.result['completed_at']).toBe(ended['completed_at'])
  })

  it('finds a job that the replica does not have', async () => {
    const { job_id } = await client.submit()
    expect(await client.job(job_id)).toMatchObject({ job_id })
    passMinutes()
    expect(await client.job(job_id)).toMatchObject({ job_id })
    expect((await client.get('/v1/jobs/job_01jd3z7v9hf0pb0d2q4k3m5n6p')).status).toBe(404)
    expect((await nearbyClient(await newOrganisation()).get(`/v1/jobs/${job_id}`)).status).toBe(403)
  })

  it('reads a job from the primary that has not ended in the replica', async () => {
    failJobQueues()
    const { job_id } = await client.submit()
    await jobs.replicate()
    passMinutes()
    const read = await counted(() => client.job(job_id))
    expect(read).toMatchObject({ primary: 1, replica: 1 })
    await shard.prepare(`UPDATE jobs SET status = 'processing' WHERE id = ?`).bind(job_id).run()
    expect(await client.job(job_id)).toMatchObject({ status: 'processing' })
  })

  it('returns a cancellation at once', async () => {
    failJobQueues()
    const { job_id } = await client.submit()
    await jobs.replicate()
    passMinutes()
    expect((await client.delete(`/v1/jobs/${job_id}`)).status).toBe(200)
    expect(await client.job(job_id)).toMatchObject({ status: 'refunded' })
    expect(await client.list()).toMatchObject([{ job_id, status: 'refunded' }])
  })

  it('returns no output that the client has deleted, before and after the report', async () => {
    const { job_id } = await submit(shop.test)
    await finished(shop.test, job_id)
    await jobs.replicate()
    passMinutes()
    expect((await client.job(job_id))['output_url']).not.toBeNull()
    await reported(async () => {
      expect((await client.delete(`/v1/jobs/${job_id}/output`)).status).toBe(204)
      expect((await client.job(job_id))['output_url']).toBeNull()
    })
    expect((await client.job(job_id))['output_url']).toBeNull()
    await jobs.replicate()
    const read = await counted(() => client.job(job_id))
    expect(read).toMatchObject({ primary: 0, replica: 1 })
    expect(read.result['output_url']).toBeNull()
  })
})

describe('GET /v1/jobs', () => {
  beforeEach(async () => {
    shop = await newOrganisation()
    client = nearbyClient(shop)
    failJobQueues()
  })

  it('reads from the replica when the organisation has written nothing recently', async () => {
    await submit(shop.test)
    await jobs.replicate()
    const read = await counted(() => client.list())
    expect(read).toMatchObject({ primary: 0, replica: 1 })
    expect(read.result).toHaveLength(1)
  })

  it('contains a submitted job, before and after the report, and then reads nearby', async () => {
    const { job_id } = await reported(async () => {
      const job = await client.submit()
      expect(await client.list()).toMatchObject([{ job_id: job.job_id }])
      return job
    })
    expect(await client.list()).toMatchObject([{ job_id }])
    expect(jobs.sessions.at(-1)).toMatch(/^bookmark-/)
    await jobs.replicate()
    const read = await counted(() => client.list())
    expect(read).toMatchObject({ primary: 0, replica: 1 })
    expect(read.result).toMatchObject([{ job_id }])
  })

  it('contains a submitted job after the Organisation was evicted', async () => {
    const object = env.ORGANISATION.getByName(shop.orgId)
    const { job_id } = await reported(async () => {
      const job = await client.submit()
      await evictDurableObject(object)
      expect(await client.list()).toMatchObject([{ job_id: job.job_id }])
      return job
    })
    await evictDurableObject(object)
    expect(await client.list()).toMatchObject([{ job_id }])
  })

  it('reads from the primary for 45 seconds when the report is lost', async () => {
    vi.spyOn(Organisation.prototype, 'logRequests').mockRejectedValue(new Error('lost'))
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const submittedAt = Date.now()
    vi.setSystemTime(submittedAt)
    await client.submit()
    expect(await client.list()).toHaveLength(1)
    await jobs.replicate()
    vi.setSystemTime(submittedAt + 44_000)
    expect(await counted(() => client.list())).toMatchObject({ primary: 1, replica: 0 })
    vi.setSystemTime(submittedAt + 45_000)
    expect(await counted(() => client.list())).toMatchObject({ primary: 0, replica: 1 })
  })
})

describe('the budget', () => {
  it('has no further calls with replicas', async () => {
    shop = await newOrganisation()
    client = nearbyClient(shop)
    await client.get('/v1/account')
    let calls = 0
    const getByName = env.ORGANISATION.getByName.bind(env.ORGANISATION)
    vi.spyOn(env.ORGANISATION, 'getByName').mockImplementation((name) => {
      const stub = getByName(name)
      return new Proxy(stub, {
        get(target, method) {
          const member: unknown = Reflect.get(target, method)
          if (typeof member !== 'function') return member
          return (...args: unknown[]): unknown => {
            if (method !== 'logRequests') calls++
            return Reflect.apply(member, target, args)
          }
        },
      })
    })
    failJobQueues()
    const submitted = await counted(() => client.submit())
    expect({ ...submitted, calls }).toMatchObject({ primary: 1, replica: 0, calls: 1 })
    await jobs.replicate()
    expect(await counted(() => client.list())).toMatchObject({ primary: 1, replica: 0 })
    const { job_id } = submitted.result
    const cancelled = await counted(() => client.delete(`/v1/jobs/${job_id}`))
    expect(cancelled).toMatchObject({ primary: 1, replica: 0 })
    expect(calls).toBe(3)
  })

  it('works with the sessions of the local D1', async () => {
    shop = await newOrganisation()
    client = nearbyClient(
      shop,
      Object.assign({ ...env }, oneShard, { D1_READ_REPLICATION: 'true' }),
    )
    const withSession = vi.spyOn(shard, 'withSession')
    const { job_id } = await reported(async () => {
      const job = await client.submit()
      expect(await client.list()).toMatchObject([{ job_id: job.job_id }])
      return job
    })
    expect(await client.list()).toMatchObject([{ job_id }])
    expect(withSession.mock.calls.map(([from]) => from)).toEqual([
      'first-primary',
      'first-primary',
      expect.stringMatching(/^[0-9a-f-]+$/),
    ])
  })

  it('creates no session without the setting', async () => {
    shop = await newOrganisation()
    const sessions = jobs.sessions.length
    const local = nearbyClient(
      shop,
      Object.assign({ ...env }, oneShard, { JOBS_DB_0: jobs.binding }),
    )
    const { job_id } = await local.submit()
    expect(await local.job(job_id)).toMatchObject({ job_id })
    expect(await local.list()).toHaveLength(1)
    await local.delete(`/v1/jobs/${job_id}`)
    expect(jobs.sessions).toHaveLength(sessions)
  })
})

describe('the console', () => {
  const fetchNearby: NonNullable<Parameters<typeof newBrowser>[1]> = (path, init) =>
    send(replicated, path, init)
  let email: string

  beforeAll(async () => {
    ;({ email } = await newOwner())
  })

  async function signedIn() {
    const browser = newBrowser(undefined, fetchNearby)
    const page = await browser.post('/console/sign-in', { email, password: PASSWORD })
    expect(page.path).toBe('/console')
    return browser
  }

  it('shows what a form has changed', async () => {
    await accounts.replicate()
    const browser = await signedIn()
    const page = await browser.post('/console/settings/workspaces', { name: 'Nearby' })
    expect(page.html).toContain('Nearby')
    expect((await browser.get('/console/settings/workspaces')).html).toContain('Nearby')
  })

  it('reads the session from the primary, and the rest of a page from the replica', async () => {
    const browser = await signedIn()
    const { address } = await browser.get('/console/settings/workspaces')
    await accounts.replicate()
    const read = await counted(() => browser.get(address), accounts)
    expect(read.result.html).toContain('Nearby')
    expect(read.primary).toBe(1)
    expect(read.replica).toBeGreaterThan(1)
  })

  it('rejects a session that was ended, although the replica still has it', async () => {
    const browser = await signedIn()
    const copied = new Map(browser.cookies)
    await accounts.replicate()
    await browser.post('/console/sign-out')
    for (const [name, value] of copied) browser.cookies.set(name, value)
    expect((await browser.get('/console/jobs')).path).toMatch(/^\/console\/sign-in/)
  })
})

describe('the cookie of bookmarks', () => {
  /** A form that writes to a jobs database, and a page that reads from it. */
  const pages = new Hono<ConsoleApp>()
    .use(useReplicas)
    .post('/', async (c) => {
      await connection(jobs.binding)
        .prepare('INSERT INTO free_credit_claims VALUES (?, ?, ?)')
        .bind(crypto.randomUUID(), 'org_1', 0)
        .run()
      return c.text('written')
    })
    .get('/', async (c) => {
      const count = connection(jobs.binding).prepare('SELECT count(*) n FROM free_credit_claims')
      return c.json(await count.first('n'))
    })
  const visit = (method: string, cookie: string) =>
    pages.fetch(new Request(BASE, { method, headers: { Cookie: cookie } }), replicated)
  const SESSION = 'try-on.session_token=one'

  it('makes a page show what a form has written, in the same session only', async () => {
    await jobs.replicate()
    const form = await visit('POST', SESSION)
    const line = form.headers.getSetCookie().join()
    expect(line).toMatch(/HttpOnly/)
    expect(line).toMatch(/SameSite=Lax/)
    const cookie = line.split(';')[0] ?? ''
    expect(cookie.length).toBeLessThan(200)
    expect(await (await visit('GET', `${SESSION}; ${cookie}`)).json()).toBe(1)
    expect(jobs.sessions.at(-1)).toMatch(/^bookmark-/)

    // Without the cookie, the page may be older.
    expect(await (await visit('GET', SESSION)).json()).toBe(0)
    expect(jobs.sessions.at(-1)).toBe('first-unconstrained')

    const others = [
      `try-on.session_token=two; ${cookie}`,
      cookie,
      `${SESSION}; ${cookie.replace(/bookmark-0/, 'bookmark-9')}`,
      `${SESSION}; try-on.bookmarks=nonsense`,
      `${SESSION}; try-on.bookmarks=`,
    ]
    for (const other of others) {
      expect(await (await visit('GET', other)).json()).toBe(1)
      expect(jobs.sessions.at(-1)).toBe('first-primary')
    }
  })
})

describe('the location of a new organisation', () => {
  it.each([
    ['IN', [{ locationHint: 'apac' }]],
    ['US', [{ locationHint: 'enam' }]],
    ['EU', [{ locationHint: 'weur' }]],
    ['GLOBAL', [undefined]],
  ])('is near its region: %s', async (region_code, hint) => {
    const getByName = vi.spyOn(env.ORGANISATION, 'getByName')
    const { orgId } = await newOrganisation({ region_code })
    expect(getByName.mock.calls[0]).toEqual([orgId, ...hint])
  })

  it('is near the region that its owner chose', async () => {
    const getByName = vi.spyOn(env.ORGANISATION, 'getByName')
    const { organisationId } = await newOwner()
    const first = getByName.mock.calls.find(([name]) => name === organisationId)
    expect(first).toEqual([organisationId, { locationHint: 'weur' }])
  })
})

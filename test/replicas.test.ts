// Reads from replicas over HTTP, with a replica that never catches up by itself (docs/adr/0038-replicas-for-the-console.md).
import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Hono } from 'hono'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ConsoleApp } from '../src/console/console-context.ts'
import { useReplicas } from '../src/console/middleware/use-replicas.ts'
import { connection } from '../src/platform/db/read-sessions.ts'
import { jobsBindings } from '../src/platform/db/database.ts'
import worker from '../src/index.ts'
import { newBrowser, newOwner, PASSWORD } from './support/browser.ts'
import { BASE } from './support/client.ts'
import { withReplica } from './support/replica.ts'
import { insertJob } from './support/ended-job.ts'
import { failJobQueues, IMAGES, newOrganisation, type JobJson } from './support/world.ts'

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

/** Counts the statements that `work` runs on a database, by where they run. */
async function counted<T>(work: () => Promise<T>, { ran } = jobs) {
  Object.assign(ran, { primary: 0, replica: 0 })
  const result = await work()
  return { result, ...ran }
}

describe('/v1', () => {
  it('uses the primary', async () => {
    const { keys } = await newOrganisation()
    const sessions = jobs.sessions.length
    failJobQueues()
    const call = (method: string, path: string, body?: object) =>
      send(replicated, path, {
        method,
        headers: { Authorization: `Bearer ${keys.test}`, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    const { job_id } = await (await call('POST', '/v1/tryon', IMAGES)).json<JobJson>()
    expect(await (await call('GET', `/v1/jobs/${job_id}`)).json()).toMatchObject({ job_id })
    expect((await call('DELETE', `/v1/jobs/${job_id}`)).status).toBe(200)
    const list = await counted(() => call('GET', '/v1/jobs'))
    expect(list).toMatchObject({ primary: 1, replica: 0 })
    expect(await list.result.json()).toMatchObject({ jobs: [{ job_id, status: 'refunded' }] })
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

describe('the page of a job', () => {
  it('takes a job from the replica only if it has ended there', async () => {
    const owner = await newOwner()
    const browser = newBrowser(undefined, (path, init) => send(replicated, path, init))
    await browser.post('/console/sign-in', { email: owner.email, password: PASSWORD })
    await accounts.replicate()
    const id = await insertJob(owner.organisationId, { status: 'pending', mode: 'test' })
    const statusOf = async () => {
      const { html } = await browser.get(`/console/jobs/${id}`)
      return /class="badge \w+">(pending|completed)</.exec(html)?.[1]
    }
    const missing = await counted(() => browser.get(`/console/jobs/${id}`))
    expect(missing.result.html).toContain(id)
    expect(missing.primary).toBeGreaterThan(0)
    await jobs.replicate()
    await shard.prepare(`UPDATE jobs SET status = 'completed' WHERE id = ?`).bind(id).run()
    const unfinished = await counted(statusOf)
    expect(unfinished).toMatchObject({ result: 'completed' })
    await jobs.replicate()
    expect(await counted(statusOf)).toMatchObject({ result: 'completed', primary: 0 })
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
    // Background work of the tests before may call others.
    const first = getByName.mock.calls.find(([name]) => name === orgId)
    expect(first).toEqual([orgId, ...hint])
  })

  it('is near the region that its owner chose', async () => {
    const getByName = vi.spyOn(env.ORGANISATION, 'getByName')
    const { organisationId } = await newOwner()
    const first = getByName.mock.calls.find(([name]) => name === organisationId)
    expect(first).toEqual([organisationId, { locationHint: 'weur' }])
  })
})

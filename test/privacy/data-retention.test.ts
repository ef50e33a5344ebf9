// Alone: it lists the stored pictures of all organisations.
// Retention of all data other than jobs: rows of other tables, input copies and uploads in R2.
import { env } from 'cloudflare:workers'
import { createScheduledController } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import worker from '../../src/index.ts'
import { newId } from '../../src/platform/ids.ts'
import { count, DAY_MS, fakeClock, HOUR_MS, objects, pass, retain } from '../support/retention.ts'
import { newOrganisation, submit } from '../support/world.ts'
import { onEveryShard, spyPrepare } from '../support/jobs-database.ts'

fakeClock()

const MINUTE_MS = 60_000
/** Runs after which every slice of a table has been checked once. */
const ROUND = 16

async function insert(table: string, row: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(row)
  // Their ids have no mark: they are on shard 0.
  const db = /^(webhook|failing)_/.test(table) ? env.JOBS_DB_0 : env.DB
  await db
    .prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`)
    .bind(...Object.values(row))
    .run()
}

/** Runs retention until every row has been checked once, or until `isDone`. */
async function retainRound(isDone = async () => false): Promise<void> {
  for (let run = 0; run < ROUND && !(await isDone()); run++) {
    pass(MINUTE_MS)
    await retain()
  }
}

const newUser = async (fields: object = {}) => {
  const id = newId('usr')
  const now = Date.now()
  await insert('users', {
    id,
    name: 'Ada',
    email: `${id}@shop.example`,
    email_verified: 0,
    created_at: now,
    updated_at: now,
    ...fields,
  })
  return id
}

interface Kind {
  table: string
  /** Days after which the row is deleted. */
  days: number
  /** Stores a new row. @returns the condition that selects it */
  store(orgId: string): Promise<string>
  /** Whether one run checks all rows. */
  inOneRun?: boolean
}

const KINDS: Record<string, Kind> = {
  'webhook attempts': {
    table: 'webhook_attempts',
    days: 30,
    inOneRun: true,
    async store() {
      const event_id = newId('evt')
      await insert('webhook_attempts', { event_id, number: 1, at: Date.now(), duration_ms: 1 })
      return `event_id = '${event_id}'`
    },
  },
  'delivered webhook events': {
    table: 'webhook_events',
    days: 30,
    inOneRun: true,
    store: (orgId) => storeEvent(orgId, 'delivered'),
  },
  'undelivered webhook events': {
    table: 'webhook_events',
    days: 37,
    inOneRun: true,
    store: (orgId) => storeEvent(orgId, 'retrying'),
  },
  'audit entries': {
    table: 'audit_log',
    days: 400,
    inOneRun: true,
    async store(organisation_id) {
      const id = newId('aud')
      const action = 'organisation.updated'
      await insert('audit_log', {
        id,
        organisation_id,
        at: Date.now(),
        actor_type: 'system',
        action,
      })
      return `id = '${id}'`
    },
  },
  'applied messages of the payment provider': {
    table: 'payment_events',
    days: 30,
    inOneRun: true,
    async store() {
      const id = `ev_${crypto.randomUUID()}`
      await insert('payment_events', { id, provider: 'sandbox', created_at: Date.now() })
      return `id = '${id}'`
    },
  },
  'expired invitations': {
    table: 'invitations',
    days: 14, // it expires after seven
    inOneRun: true,
    async store(organisation_id) {
      const id = newId('inv')
      await insert('invitations', {
        id,
        organisation_id,
        email: `${id}@shop.example`,
        role: 'developer',
        token_hash: id,
        created_at: Date.now(),
        expires_at: Date.now() + 7 * DAY_MS,
      })
      return `id = '${id}'`
    },
  },
  'expired sessions': {
    table: 'sessions',
    days: 14,
    async store() {
      const id = crypto.randomUUID()
      const user_id = await newUser({ email_verified: 1 })
      const [created_at, updated_at, expires_at] = [0, 0, Date.now() + 7 * DAY_MS]
      await insert('sessions', { id, token: id, user_id, created_at, updated_at, expires_at })
      return `id = '${id}'`
    },
  },
  'expired verifications': {
    table: 'verifications',
    days: 8,
    async store() {
      const id = crypto.randomUUID()
      const [created_at, updated_at, expires_at] = [0, 0, Date.now() + DAY_MS]
      const text = { identifier: id, value: id }
      await insert('verifications', { id, ...text, created_at, updated_at, expires_at })
      return `id = '${id}'`
    },
  },
  'unverified sign-ups': {
    table: 'users',
    days: 7,
    async store() {
      const user_id = await newUser()
      const row = { id: user_id, account_id: user_id, provider_id: 'credential', user_id }
      await insert('logins', { ...row, created_at: 0, updated_at: 0 })
      return `id = '${user_id}'`
    },
  },
  'revoked API keys': {
    table: 'api_keys',
    days: 400,
    async store(organisation_id) {
      const id = newId('key')
      const key = { mode: 'test', name: 'Old', hash: id, last_four: 'abcd' }
      const at = { created_at: Date.now(), revoked_at: Date.now() }
      await insert('api_keys', { id, organisation_id, ...key, ...at })
      return `id = '${id}'`
    },
  },
  'failing webhook endpoints': {
    table: 'failing_receivers',
    days: 60,
    async store(organisation_id) {
      const origin = 'https://hooks.test'
      const failing = { failing_since: 0, failures: 3, timed_out: 0, disabled_at: Date.now() }
      await insert('failing_receivers', { organisation_id, receiver: origin, origin, ...failing })
      return `organisation_id = '${organisation_id}'`
    },
  },
}

async function storeEvent(organisation_id: string, status: string): Promise<string> {
  const id = newId('evt')
  const due = { due_at: 0, created_at: Date.now() }
  const event = { job_id: newId('job'), type: 'job.completed', url: 'https://hooks.test', status }
  await insert('webhook_events', { id, organisation_id, ...event, ...due })
  return `id = '${id}'`
}

describe('retention of other data', () => {
  it.each(Object.entries(KINDS))(
    'deletes %s after their retention period, and not before',
    async (_, { table, days, store, inOneRun }) => {
      const { orgId } = await newOrganisation()
      const old = await store(orgId)
      pass(days * DAY_MS - HOUR_MS)
      const stored = await count(table, old)
      const isDeleted = async () => (await count(table, old)) === 0
      await (inOneRun ? retain() : retainRound(isDeleted))
      expect([stored, await count(table, old)]).toEqual([1, 1])
      pass(HOUR_MS + 1_000)
      await (inOneRun ? retain() : retainRound(isDeleted))
      expect(await count(table, old)).toBe(0)
    },
  )

  it('deletes unverified sign-ups with their logins, and no verified users or members', async () => {
    const { orgId } = await newOrganisation()
    const condition = await KINDS['unverified sign-ups']!.store(orgId)
    const verified = await newUser({ email_verified: 1 })
    const member = await newUser()
    await insert('members', {
      organisation_id: orgId,
      user_id: member,
      role: 'developer',
      created_at: 0,
    })
    pass(8 * DAY_MS)
    await retainRound()
    expect(await count('logins', condition)).toBe(0)
    expect(await count('users', 'id IN (?, ?)', verified, member)).toBe(2)
  })

  it('does not delete active keys and sessions that have not expired', async () => {
    const { orgId, test } = await newOrganisation()
    const user_id = await newUser({ email_verified: 1 })
    const id = crypto.randomUUID()
    const expires_at = Date.now() + 1_000 * DAY_MS
    const at = { created_at: 0, updated_at: 0, expires_at }
    await insert('sessions', { id, token: id, user_id, ...at })
    pass(500 * DAY_MS)
    await retainRound()
    expect(await count('sessions', 'id = ?', id)).toBe(1)
    expect(await count('api_keys', 'organisation_id = ?', orgId)).toBe(2)
    expect((await test.get('/v1/account')).status).toBe(200)
  })

  it('deletes input copies after a day and uploads after 25 hours, and not before', async () => {
    const store = (folder: string, prefix: 'job' | 'upl') =>
      env.IMAGES.put(`${folder}/${newId(prefix)}/model.jpg`, 'bytes')
    await store('inputs', 'job')
    await store('uploads', 'upl')
    await env.IMAGES.put(`outputs/${newId('job')}.jpg`, 'bytes')
    pass(DAY_MS - 1_000)
    await retain()
    expect(await objects('inputs/')).toHaveLength(1)
    expect(await objects('uploads/')).toHaveLength(1)
    pass(2_000)
    await store('inputs', 'job')
    await store('uploads', 'upl')
    await retain()
    expect(await objects('inputs/')).toHaveLength(1)
    expect(await objects('uploads/')).toHaveLength(2)
    pass(HOUR_MS)
    await retain()
    expect(await objects('uploads/')).toHaveLength(1)
    expect(await objects('outputs/')).toHaveLength(1)
  })
})

describe('runRetention', () => {
  it('logs the numbers of deleted rows and objects in one line', async () => {
    await newOrganisation()
    await env.IMAGES.put(`inputs/${newId('job')}/model.jpg`, 'bytes')
    pass(2 * DAY_MS)
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    await retain()
    const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)))
    log.mockRestore()
    expect(lines.filter(({ event }) => event === 'retention')).toEqual([
      expect.objectContaining({ inputs: expect.any(Number) }),
    ])
  })

  it('continues after a failed step, and throws its error', async () => {
    const { orgId } = await newOrganisation()
    const event = await storeEvent(orgId, 'delivered')
    pass(31 * DAY_MS)
    vi.spyOn(env.IMAGES, 'list').mockRejectedValue(new Error('R2 is down'))
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await expect(retain()).rejects.toThrow('R2 is down')
    expect(String(log.mock.calls)).toContain('retention step failed')
    log.mockRestore()
    expect(await count('webhook_events', event)).toBe(0)
  })

  it('continues with the next organisation after a failure, and retries the failed one', async () => {
    const jobs = []
    for (let n = 0; n < 3; n++) {
      const { test } = await newOrganisation()
      jobs.push((await submit(test)).job_id)
    }
    const ids = jobs.map((id) => `'${id}'`).join()
    await onEveryShard(`UPDATE jobs SET status = 'failed' WHERE id IN (${ids})`)
    pass(8 * DAY_MS)
    vi.spyOn(env.IMAGES, 'delete').mockRejectedValueOnce(new Error('R2 is down'))
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await retain()
    log.mockRestore()
    expect(await count('jobs', `id IN (${ids})`)).toBe(1)
    pass(11 * MINUTE_MS)
    await retain()
    expect(await count('jobs', `id IN (${ids})`)).toBe(0)
  })

  it.each([
    ['sweep', 'jobs'],
    ['retention', 'webhook_attempts'],
  ])('does not stop the other tasks of cron when the %s fails', async (failing, table) => {
    const { orgId, test } = await newOrganisation()
    const { job_id: jobId } = await submit(test)
    const event = await storeEvent(orgId, 'delivered')
    pass(31 * DAY_MS)
    spyPrepare((prepare, sql) => {
      const first = failing === 'sweep' ? /from "jobs" indexed by/ : /delete from/
      if (first.test(sql)) throw new Error(`D1 rejects ${table}`)
      return prepare(sql)
    })
    const sent: unknown[] = []
    vi.spyOn(env.TEST_JOBS, 'sendBatch').mockImplementation(async (messages) => {
      sent.push(...[...messages].map(({ body }) => body))
      return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } }
    })
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const controller = createScheduledController({ scheduledTime: new Date(Date.now()) })
    await expect(worker.scheduled(controller, env)).rejects.toThrow('D1 rejects')
    log.mockRestore()
    vi.restoreAllMocks()
    expect(await count('webhook_events', event)).toBe(failing === 'sweep' ? 0 : 1)
    expect(sent.map((body) => (body as { jobId: string }).jobId).includes(jobId)).toBe(
      failing === 'retention',
    )
  })
})

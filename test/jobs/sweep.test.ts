// The sweep: which rows it selects, what it sends, and how it handles failing and long queues.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { takeSweptJobs } from '../../src/jobs/sweep.ts'
import { jobsDatabase } from '../../src/platform/db/database.ts'
import { onEveryShard } from '../support/jobs-database.ts'
import { sweep } from '../support/sweep.ts'

const MINUTE_MS = 60_000
const QUEUES = ['JOBS', 'TEST_JOBS', 'WEBHOOKS'] as const
type QueueName = (typeof QUEUES)[number]

/** The environment with queues that record their messages. */
function recordingEnv({ failing, backlog = 0 }: { failing?: QueueName; backlog?: number } = {}) {
  const sent: Record<QueueName, string[]> = { JOBS: [], TEST_JOBS: [], WEBHOOKS: [] }
  const queue = (name: QueueName) => ({
    metrics: async () => ({ backlogCount: backlog, backlogBytes: 0 }),
    sendBatch: async (messages: { body: { jobId?: string; eventId?: string } }[]) => {
      if (name === failing) throw new Error('the queue is full')
      sent[name].push(...messages.map(({ body }) => body.jobId ?? body.eventId ?? ''))
    },
  })
  const bindings = Object.fromEntries(QUEUES.map((name) => [name, queue(name)]))
  return { sent, env: Object.assign({ ...env }, bindings) as unknown as Env }
}

interface Rows {
  count: number
  mode?: 'live' | 'test'
  status?: 'pending' | 'processing'
  ageMs?: number
}

/** Inserts unfinished jobs that are due for the sweep. The lease of processing jobs has ended. */
async function insertJobs({ count, mode = 'live', status = 'pending', ageMs = 0 }: Rows) {
  const createdAt = Date.now() - ageMs
  const dueAt = status === 'pending' ? createdAt : createdAt - MINUTE_MS
  await env.JOBS_DB_0.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
     INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, model_image_url,
                       garment_image_url, base_url, created_at, due_at, sweep_at)
     SELECT printf('job_%s%s%09d', ?2, ?3, i), 'org_1', 'ws_1', ?2, ?3, '', '', '', ?4, ?5, 1 FROM n`,
  )
    .bind(count, mode, status, createdAt, dueAt)
    .run()
}

async function insertEvents(count: number) {
  await env.JOBS_DB_0.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
     INSERT INTO webhook_events (id, organisation_id, job_id, type, url, created_at, due_at, sweep_at)
     SELECT printf('evt_%09d', i), 'org_1', 'job_1', 'job.completed', 'https://hooks.test/', 0, 0, 1
     FROM n`,
  )
    .bind(count)
    .run()
}

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  await onEveryShard('DELETE FROM jobs')
  await onEveryShard('DELETE FROM webhook_events')
})
afterEach(() => void vi.useRealTimers())

describe('the sweep', () => {
  it.each([
    ['webhooks when the job queue fails', 'JOBS', 'WEBHOOKS'],
    ['jobs when the webhook queue fails', 'WEBHOOKS', 'JOBS'],
  ] as const)('queues %s and logs the failure', async (_, failing, other) => {
    await insertJobs({ count: 1 })
    await insertEvents(1)
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const recording = recordingEnv({ failing })
    await expect(sweep(recording.env)).rejects.toThrow('the queue is full')
    expect(recording.sent[other]).toHaveLength(1)
    expect(String(log.mock.calls)).toContain('sweep failed')
    log.mockRestore()
  })

  it('sends jobs to the queue of their mode', async () => {
    await insertJobs({ count: 2, mode: 'live' })
    await insertJobs({ count: 3, mode: 'test' })
    const { sent, env: bindings } = recordingEnv()
    await sweep(bindings)
    expect([sent.JOBS.length, sent.TEST_JOBS.length]).toEqual([2, 3])
  })

  it.each(['pending', 'processing'] as const)(
    'selects %s jobs again after 15 minutes, not before',
    async (status) => {
      await insertJobs({ count: 1, status })
      const { sent, env: bindings } = recordingEnv()
      await sweep(bindings)
      pass(14 * MINUTE_MS)
      await sweep(bindings)
      expect(sent.JOBS).toHaveLength(1)
      pass(2 * MINUTE_MS)
      await sweep(bindings)
      expect(sent.JOBS).toHaveLength(2)
    },
  )

  it('selects a processing job 30 seconds after each lease', async () => {
    await insertJobs({ count: 1, status: 'processing' })
    const { sent, env: bindings } = recordingEnv()
    const claim = () =>
      env.JOBS_DB_0.prepare('UPDATE jobs SET due_at = ?').bind(Date.now() + 2 * MINUTE_MS)
    for (const sweeps of [1, 2]) {
      await claim().run()
      pass(2 * MINUTE_MS + 29_000)
      await sweep(bindings)
      expect(sent.JOBS).toHaveLength(sweeps - 1)
      pass(1_000)
      await sweep(bindings)
      expect(sent.JOBS).toHaveLength(sweeps)
    }
  })

  it('selects events again after 15 minutes, not before', async () => {
    await insertEvents(1)
    const { sent, env: bindings } = recordingEnv()
    await sweep(bindings)
    pass(14 * MINUTE_MS)
    await sweep(bindings)
    expect(sent.WEBHOOKS).toHaveLength(1)
    pass(2 * MINUTE_MS)
    await sweep(bindings)
    expect(sent.WEBHOOKS).toHaveLength(2)
  })

  it('sends a job later after a failed send', async () => {
    await insertJobs({ count: 1 })
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await expect(sweep(recordingEnv({ failing: 'JOBS' }).env)).rejects.toThrow('full')
    const { sent, env: bindings } = recordingEnv()
    await sweep(bindings)
    expect(sent.JOBS).toEqual([])
    pass(16 * MINUTE_MS)
    await sweep(bindings)
    expect(sent.JOBS).toHaveLength(1)
  })

  it('postpones the jobs that a page returns, and no others', async () => {
    await insertJobs({ count: 20 })
    await insertJobs({ count: 20, status: 'processing' })
    const page = await takeSweptJobs({ db: jobsDatabase(env, ''), queued: [], limit: 15 })
    const { results } = await env.JOBS_DB_0.prepare(
      'SELECT id FROM jobs WHERE sweep_at > 1 ORDER BY id',
    ).all<{ id: string }>()
    expect(page.taken).toBe(15)
    expect(page.toSend.map(({ id }) => id).sort()).toEqual(results.map(({ id }) => id))
  })

  const runs = inject('matrix') === 'all' ? 5 : 2
  it(`sends 20,000 jobs and 20,000 events per run, each once, in ${runs} runs`, async () => {
    const total = runs * 20_000
    await insertJobs({ count: total / 2, status: 'processing' })
    await insertJobs({ count: total / 2, status: 'pending' })
    await insertEvents(total)
    const { sent, env: bindings } = recordingEnv()
    for (let run = 1; run <= runs; run++) {
      await sweep(bindings)
      expect(sent.JOBS).toHaveLength(run * 20_000)
      pass(MINUTE_MS)
    }
    expect(new Set(sent.JOBS).size).toBe(total)
    expect([sent.WEBHOOKS.length, new Set(sent.WEBHOOKS).size]).toEqual([total, total])
    await sweep(bindings)
    expect([sent.JOBS.length, sent.WEBHOOKS.length]).toEqual([total, total])
  }, 120_000)
})

describe('the sweep while the queues are long', () => {
  it('does not send jobs that are probably queued', async () => {
    await insertJobs({ count: 150 })
    const { sent, env: bindings } = recordingEnv({ backlog: 5_000 })
    for (let minute = 0; minute < 30; minute++) {
      await sweep(bindings)
      pass(MINUTE_MS)
    }
    expect(sent.JOBS).toEqual([])
  })

  it('sends these jobs when the queue is short', async () => {
    await insertJobs({ count: 150 })
    await sweep(recordingEnv({ backlog: 5_000 }).env)
    const { sent, env: bindings } = recordingEnv({ backlog: 10 })
    await sweep(bindings)
    expect(sent.JOBS).toEqual([])
    pass(MINUTE_MS)
    await sweep(bindings)
    expect(new Set(sent.JOBS).size).toBe(150)
  })

  it('sends a job that has waited for an hour and one whose consumer crashed', async () => {
    await insertJobs({ count: 1, ageMs: 61 * MINUTE_MS })
    await insertJobs({ count: 1, status: 'processing' })
    const { sent, env: bindings } = recordingEnv({ backlog: 5_000 })
    await sweep(bindings)
    expect(sent.JOBS).toHaveLength(2)
  })

  it('sends jobs when the length of the queue is unknown', async () => {
    await insertJobs({ count: 1 })
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { sent, env: bindings } = recordingEnv()
    vi.spyOn(bindings.JOBS, 'metrics').mockRejectedValue(new Error('not available'))
    await sweep(bindings)
    expect(sent.JOBS).toHaveLength(1)
  })

  it('reads the length from the real queue', async () => {
    expect(await env.JOBS.metrics()).toMatchObject({ backlogCount: expect.any(Number) })
  })
})

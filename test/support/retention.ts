// Helpers for retention: ended jobs, a fake clock, and what is stored.
import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm } from 'cloudflare:test'
import { afterEach, beforeEach, vi } from 'vitest'
import { jobsBindings } from '../../src/platform/db/database.ts'
import { compositor } from '../../src/engines/compositor.ts'
import { processJob } from '../../src/jobs/processing/process.ts'
import { runRetention } from '../../src/privacy/run-retention.ts'
import { dropMessages, PICTURES } from './live-job.ts'
import { png } from './picture.ts'
import { submit, type TestOrganisation } from './world.ts'

export const HOUR_MS = 60 * 60_000
export const DAY_MS = 24 * HOUR_MS

/**
 * For every test of the calling file: fakes the clock and drops all messages. The clock does not go
 * back between tests, because ids must stay in the order of their creation.
 */
export function fakeClock(): void {
  let latest = 0
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Math.max(latest, Date.now()))
    dropMessages()
    const sent = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } }
    vi.spyOn(env.WEBHOOKS, 'send').mockResolvedValue(sent)
    vi.spyOn(env.WEBHOOKS, 'sendBatch').mockResolvedValue(sent)
    vi.spyOn(compositor, 'start').mockImplementation(async () => ({
      done: true,
      image: { bytes: png(), format: 'png' },
    }))
  })
  afterEach(() => {
    latest = Date.now()
    vi.useRealTimers()
  })
}

export const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

/** Submits a job and processes it to its end. Live mode requires `fakePictures`. */
export async function endedJob(
  { live, test }: TestOrganisation,
  mode: 'live' | 'test' = 'live',
  body: object = {},
): Promise<string> {
  const { job_id: jobId } = await submit(mode === 'live' ? live : test, { ...PICTURES, ...body })
  await processJob({ env, jobId, mode })
  return jobId
}

/** The objects that are stored under a prefix. */
export async function objects(prefix: string): Promise<string[]> {
  const { objects: found } = await env.IMAGES.list({ prefix })
  return found.map(({ key }) => key)
}

/** The keys of a job's output and copies of inputs. */
export const picturesOf = async (jobId: string) => [
  ...(await objects(`outputs/${jobId}.`)),
  ...(await objects(`inputs/${jobId}/`)),
]

/** Stores a copy of an input, like a failed attempt or a hosted engine. */
export const storeCopy = (jobId: string) => env.IMAGES.put(`inputs/${jobId}/model.jpg`, 'bytes')

/** Counts rows of a table in all databases. */
export async function count(table: string, where: string, ...values: unknown[]): Promise<number> {
  const counts = await Promise.all(
    [env.DB, ...jobsBindings(env)].map((db) =>
      db
        .prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where}`)
        .bind(...values)
        .first<number>('n'),
    ),
  )
  return counts.reduce<number>((sum, n) => sum + (n ?? 0), 0)
}

/** Runs retention now. */
export const retain = () => runRetention(env)

/** Runs the Organisation's alarm now. */
export const runAlarm = ({ orgId }: TestOrganisation) =>
  runDurableObjectAlarm(env.ORGANISATION.getByName(orgId))

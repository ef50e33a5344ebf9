// 4. Time from submission to completion, by the timestamps of the job, from completion to a client that
// waits with `Prefer: wait` and to a webhook receiver, and jobs per second of one consumer. The queue's
// batch timeout is 0, as in wrangler.toml.
import {
  control,
  createOrganisation,
  post,
  shardFor,
  submitMany,
  TRY_ON,
  type BenchOrganisation,
  type Harness,
} from './harness.ts'
import type { Delivery } from './worker.ts'
import { percentile } from './percentile.ts'

/** From completion to a waiting client, and to a webhook receiver, in the local service. */
const GOAL_MS = 50
/** The images of a test job that is in processing for a second, so that its client certainly waits. */
const DELAYED = {
  model_image_url: 'https://test.invalid/delay/1',
  garment_image_url: TRY_ON.garment_image_url,
}
const AT_ONCE = 5

interface Latency {
  jobs: number
  p50Ms: number
  p99Ms: number
}

/** Latency by mode and engine, and the throughput of the consumer. */
export async function measureLatency(harness: Harness, jobs: number) {
  const test = await oneByOne(harness, 'test', jobs)
  await control(harness, 'instant?on=true')
  const live = await oneByOne(harness, 'live', jobs)
  await control(harness, 'instant?on=false')
  const composed = await oneByOne(harness, 'live', Math.min(jobs, 10))
  await control(harness, 'instant?on=true')
  const fromCompletion = await afterCompletion(harness, Math.min(jobs, 50))
  return {
    'test mode': test,
    'live mode, an instant engine': live,
    'live mode, the compositor': composed,
    fromCompletion,
    missed: Object.entries(fromCompletion)
      .filter(([, { p50Ms }]) => p50Ms > GOAL_MS)
      .map(([receiver]) => `from completion to ${receiver}`),
    completedPerSecond: {
      test: await completionRate(harness, 'test', jobs * 5),
      live: await completionRate(harness, 'live', jobs * 5),
    },
  }
}

async function oneByOne(harness: Harness, mode: 'live' | 'test', jobs: number): Promise<Latency> {
  const organisation = await createOrganisation(harness.instrumented)
  for (let n = 0; n < jobs; n++) {
    await post(`${harness.instrumented}/v1/tryon`, organisation.keys[mode], TRY_ON)
    await waitForCompletion(harness, organisation, n + 1)
  }
  const rows = await shardFor(harness, organisation)
    .prepare(
      `SELECT completed_at - created_at AS ms FROM jobs
       WHERE organisation_id = ? AND status = 'completed'`,
    )
    .bind(organisation.orgId)
    .all<{ ms: number }>()
  return latencyOf(rows.results.map(({ ms }) => ms))
}

const latencyOf = (times: number[]): Latency => ({
  jobs: times.length,
  p50Ms: percentile(times, 0.5),
  p99Ms: percentile(times, 0.99),
})

/** Time from `completed_at`, a few jobs at a time. */
async function afterCompletion(harness: Harness, jobs: number) {
  const organisation = await createOrganisation(harness.instrumented)
  const completedAt = new Map<string, number>()
  const answers: number[] = []
  const client = async () => {
    while (answers.length < jobs) {
      const response = await fetch(`${harness.instrumented}/v1/tryon`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${organisation.keys.test}`, Prefer: 'wait=30' },
        body: JSON.stringify({ ...DELAYED, webhook_url: 'https://hooks.bench.test/try-on' }),
      })
      const job = (await response.json()) as { job_id: string; completed_at?: string }
      if (!job.completed_at) throw new Error(`Prefer: wait returned ${response.status}`)
      const at = Date.parse(job.completed_at)
      answers.push(Date.now() - at)
      completedAt.set(`evt_${job.job_id.slice('job_'.length)}`, at)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  const deliveries = await receivedOf(harness, new Set(completedAt.keys()))
  return {
    'the client that waits': latencyOf(answers),
    'the webhook receiver': latencyOf(
      deliveries.map(({ eventId, at }) => at - (completedAt.get(eventId) ?? NaN)),
    ),
  }
}

/** The deliveries of these events, once there is one of each. */
async function receivedOf(harness: Harness, eventIds: Set<string>): Promise<Delivery[]> {
  for (let tries = 0; tries < 1_000; tries++) {
    const received = await control<Delivery[]>(harness, 'received')
    const found = received.filter(({ eventId }) => eventIds.has(eventId))
    if (new Set(found.map(({ eventId }) => eventId)).size === eventIds.size) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('Not every webhook was delivered')
}

/** Jobs per second from the first claim to the last completion, under a backlog. */
async function completionRate(
  harness: Harness,
  mode: 'live' | 'test',
  jobs: number,
): Promise<number> {
  const organisation = await createOrganisation(harness.instrumented)
  await submitMany(`${harness.instrumented}/v1/tryon`, organisation.keys[mode], jobs)
  await waitForCompletion(harness, organisation, jobs)
  const span = await shardFor(harness, organisation)
    .prepare('SELECT max(completed_at) - min(started_at) AS ms FROM jobs WHERE organisation_id = ?')
    .bind(organisation.orgId)
    .first<number>('ms')
  return Math.round((jobs * 1_000) / (span ?? 1))
}

async function waitForCompletion(
  harness: Harness,
  organisation: BenchOrganisation,
  jobs: number,
): Promise<void> {
  for (let tries = 0; tries < 60_000; tries++) {
    const done = await shardFor(harness, organisation)
      .prepare("SELECT count(*) AS n FROM jobs WHERE organisation_id = ? AND status = 'completed'")
      .bind(organisation.orgId)
      .first<number>('n')
      .catch(() => 0) // on a busy machine, the emulator has closed the idle connection
    if ((done ?? 0) >= jobs) return
    await new Promise((resolve) => setTimeout(resolve, jobs > 100 ? 100 : 2))
  }
  throw new Error('The jobs did not complete in time')
}

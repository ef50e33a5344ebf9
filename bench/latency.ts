// 4. Time from submission to completion, by the timestamps of the job, and jobs per second of one
// consumer. The queue's batch timeout is 0, as in wrangler.toml.
import { control, createOrganisation, post, shardFor, submitMany, TRY_ON } from './harness.ts'
import type { BenchOrganisation, Harness } from './harness.ts'

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
  const composed = await oneByOne(harness, 'live', 10)
  await control(harness, 'instant?on=true')
  return {
    'test mode': test,
    'live mode, an instant engine': live,
    'live mode, the compositor': composed,
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
       WHERE organisation_id = ? AND status = 'completed' ORDER BY ms`,
    )
    .bind(organisation.orgId)
    .all<{ ms: number }>()
  const at = (share: number) => rows.results[Math.floor((rows.results.length - 1) * share)]?.ms ?? 0
  return { jobs: rows.results.length, p50Ms: at(0.5), p99Ms: at(0.99) }
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
    if ((done ?? 0) >= jobs) return
    await new Promise((resolve) => setTimeout(resolve, jobs > 100 ? 100 : 2))
  }
  throw new Error('The jobs did not complete in time')
}

// 4. From submission to completion, by the job's own instants, and how many jobs a second one
// consumer settles. The queue's batching wait is 0 here as in wrangler.toml.
import { door, newShop, post, submitMany, TRY_ON } from './harness.ts'
import type { Shop, Stand } from './harness.ts'

interface Latency {
  jobs: number
  p50Ms: number
  p99Ms: number
}

/** Latency by mode and engine, and the consumer's pace. */
export async function measureLatency(stand: Stand, jobs: number) {
  const test = await oneByOne(stand, 'test', jobs)
  await door(stand, 'instant?on=true')
  const live = await oneByOne(stand, 'live', jobs)
  await door(stand, 'instant?on=false')
  const composed = await oneByOne(stand, 'live', 10)
  await door(stand, 'instant?on=true')
  return {
    'test mode': test,
    'live mode, an engine that answers at once': live,
    'live mode, the compositor': composed,
    settledPerSecond: {
      test: await settle(stand, 'test', jobs * 5),
      live: await settle(stand, 'live', jobs * 5),
    },
  }
}

async function oneByOne(stand: Stand, mode: 'live' | 'test', jobs: number): Promise<Latency> {
  const shop = await newShop(stand.counted)
  for (let n = 0; n < jobs; n++) {
    await post(`${stand.counted}/v1/tryon`, shop.keys[mode], TRY_ON)
    await finished(stand, shop, n + 1)
  }
  const rows = await stand.countedDatabase
    .prepare(
      `SELECT completed_at - created_at AS ms FROM jobs
       WHERE organisation_id = ? AND status = 'completed' ORDER BY ms`,
    )
    .bind(shop.orgId)
    .all<{ ms: number }>()
  const at = (share: number) => rows.results[Math.floor((rows.results.length - 1) * share)]?.ms ?? 0
  return { jobs: rows.results.length, p50Ms: at(0.5), p99Ms: at(0.99) }
}

/** Jobs a second from the first claim to the last end, with more waiting than can be worked on. */
async function settle(stand: Stand, mode: 'live' | 'test', jobs: number): Promise<number> {
  const shop = await newShop(stand.counted)
  await submitMany(`${stand.counted}/v1/tryon`, shop.keys[mode], jobs)
  await finished(stand, shop, jobs)
  const span = await stand.countedDatabase
    .prepare('SELECT max(completed_at) - min(started_at) AS ms FROM jobs WHERE organisation_id = ?')
    .bind(shop.orgId)
    .first<number>('ms')
  return Math.round((jobs * 1_000) / (span ?? 1))
}

async function finished(stand: Stand, { orgId }: Shop, jobs: number): Promise<void> {
  for (let tries = 0; tries < 60_000; tries++) {
    const done = await stand.countedDatabase
      .prepare("SELECT count(*) AS n FROM jobs WHERE organisation_id = ? AND status = 'completed'")
      .bind(orgId)
      .first<number>('n')
    if ((done ?? 0) >= jobs) return
    await new Promise((resolve) => setTimeout(resolve, jobs > 100 ? 100 : 2))
  }
  throw new Error('the jobs do not end')
}

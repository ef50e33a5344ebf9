// The part of the sweep that is the same for jobs and webhook events. The sweep requeues rows whose
// `sweepAt` has passed, in case their message was lost. Consumers accept duplicate messages.
import { forEachShard, jobsBindings, type Database } from '../db/database.ts'
import { log } from '../log.ts'
import { record } from '../metrics.ts'

/** The maximum number of rows of each kind per run, in all shards. The next run processes the rest. */
const MAX_ROWS = 20_000
const PAGE_ROWS = 1_000

/** The kinds of rows, and their names in the log. */
const KINDS = { jobs: 'jobs', events: 'webhook events' }

/**
 * Sweeps all shards. Each may take its share of the maximum, and what the shares of the others leave.
 * @param kind the label of the metric
 * @param sweepPage takes up to `limit` rows of a shard, and sends the messages that they need
 */
export async function sweepShards(
  env: Env,
  kind: keyof typeof KINDS,
  sweepPage: (db: Database, limit: number) => Promise<{ taken: number; sent: number }>,
): Promise<void> {
  const share = Math.floor(MAX_ROWS / jobsBindings(env).length)
  let spare = MAX_ROWS % jobsBindings(env).length
  await forEachShard(env, `sweep ${KINDS[kind]}`, async (db) => {
    let left = share
    let total = 0
    while (left > 0) {
      const limit = Math.min(PAGE_ROWS, left)
      const { taken, sent } = await sweepPage(db, limit)
      total += sent
      left -= taken
      if (taken < limit) {
        spare += left
        break
      }
      if (left === 0) {
        left = Math.min(PAGE_ROWS, spare)
        spare -= left
      }
    }
    record(env, 'sweep', { kind }, total)
    if (total > 0) log.warn(`overdue ${KINDS[kind]} requeued`, { [kind]: total })
  })
}

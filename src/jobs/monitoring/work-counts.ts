// Counts for alerts from the jobs and webhook events of all shards. Each statement reads a part of an index and
// stops after a fixed number of rows, so that a run costs little with any number of jobs.
import { sql } from 'drizzle-orm'
import type { JobErrorCode } from '../../domain/job.ts'
import { HOUR_MS } from '../../domain/limits.ts'
import { listed, forEachShard } from '../../platform/db/database.ts'
import { SWEEP_AGAIN_AFTER_MS } from '../../platform/db/due.ts'
import { IS_IN_SWEEP_INDEX, jobs } from '../../platform/db/schema.ts'
import { webhookEvents } from '../../platform/db/webhook-schema.ts'
import { firstIdSince } from '../../platform/ids.ts'

/** Work that has been due for longer waits too long. */
const MAX_WAIT_MS = 10 * 60_000
/** The latest rows of the hour that are read in each shard. */
const MAX_ROWS = 2_000
/** More overdue rows of a shard than this are not counted. */
const MAX_COUNT = 1_000
/** Failures that are not due to the inputs of a job. */
const SERVICE_FAILURES: readonly JobErrorCode[] = [
  'generation_failed',
  'generation_timeout',
  'engine_unavailable',
  'internal_error',
]

/** How many failed, out of how many. */
export interface Share {
  failed: number
  total: number
}

export type WorkCounts = Awaited<ReturnType<typeof readWorkCounts>>

type Group = Share & { of: string | null }

/** Reads all shards. @throws the first failure of a shard */
export async function readWorkCounts(env: Env) {
  const now = Date.now()
  const isOverdue = sql`due_at <= ${now - MAX_WAIT_MS} limit ${MAX_COUNT}`
  const shards = await forEachShard(env, 'alerts', (db) =>
    Promise.all([
      // Reads all unfinished jobs, as each run of the sweep does.
      db.all(sql`select 1 from ${jobs} indexed by jobs_unfinished
        where ${IS_IN_SWEEP_INDEX} and status = 'pending' and ${isOverdue}`),
      // Events that are due have a `sweepAt` of at most this, so those of later attempts are not read.
      db.all(sql`select 1 from ${webhookEvents} where status in ('pending', 'retrying')
        and sweep_at <= ${now + SWEEP_AGAIN_AFTER_MS} and ${isOverdue}`),
      db.all<Group>(sql`select engine as "of", count(*) as total,
          sum(status = 'failed' and error_code in ${listed(SERVICE_FAILURES)}) as failed
        from (select mode, status, engine, error_code from ${jobs}
          where id >= ${firstIdSince('job', now - HOUR_MS)} order by id desc limit ${MAX_ROWS})
        where mode = 'live' and status in ('completed', 'failed') group by 1`),
      db.all<Group>(sql`select organisation_id as "of", count(*) as total,
          sum(status != 'delivered') as failed
        from (select organisation_id, status from ${webhookEvents}
          where id >= ${firstIdSince('evt', now - HOUR_MS)} order by id desc limit ${MAX_ROWS})
        where status != 'pending' group by 1`),
    ]),
  )
  const engines = shards.flatMap(([, , groups]) => groups)
  const organisations = shards.flatMap(([, , , groups]) => groups)
  const names = new Set(engines.flatMap(({ of }) => of ?? []))
  return {
    overdueJobs: shards.reduce((count, [rows]) => count + rows.length, 0),
    overdueEvents: shards.reduce((count, [, rows]) => count + rows.length, 0),
    /**
     * Live jobs of the last hour that ended, first of all engines, then of each: the one that made the picture or that
     * was paid last. Failures because of the inputs do not count as failed.
     */
    jobs: [
      { engine: 'all engines', share: totalOf(engines) },
      ...[...names].map((engine) => ({
        engine,
        share: totalOf(engines.filter(({ of }) => of === engine)),
      })),
    ],
    /** Attempted events of the last hour, without the organisation with the most failures, which is in one shard. */
    events: totalOf(organisations.sort((a, b) => b.failed - a.failed).slice(1)),
  }
}

const totalOf = (shares: Share[]): Share => ({
  failed: shares.reduce((count, { failed }) => count + failed, 0),
  total: shares.reduce((count, { total }) => count + total, 0),
})

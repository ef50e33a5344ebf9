// The sweep of jobs, run by cron: requeues unfinished jobs whose message or consumer was lost.
import { inArray, sql, type SQL } from 'drizzle-orm'
import type { Database } from '../platform/db/database.ts'
import { NO_SWEEP, SWEEP_AFTER_DUE_MS, SWEEP_AGAIN_AFTER_MS } from '../platform/db/due.ts'
import { IS_FINAL, IS_IN_SWEEP_INDEX, IS_UNFINISHED, jobs } from '../platform/db/schema.ts'
import { MODES, type Mode } from '../domain/job.ts'
import { log } from '../platform/log.ts'
import { sendAll } from '../platform/queues/batches.ts'
import { sweepShards } from '../platform/queues/sweep-shards.ts'
import { messageOf, queueOf } from './queue.ts'

/** If a queue has more messages than this, a pending job probably still has its message there. */
const LONG_BACKLOG = 100
/** After this time, the sweep checks a job again that is probably in its queue, ms. */
const SWEEP_QUEUED_AGAIN_AFTER_MS = 60_000
/** After this time, a pending job is requeued even if its queue is long, ms. */
const PENDING_MAX_WAIT_MS = 60 * 60_000

/**
 * Requeues overdue jobs.
 * @throws when a shard or a queue failed; jobs without a message are swept again after 15 minutes
 */
export async function sweepJobs(env: Env): Promise<void> {
  const queued = await modesWithBacklog(env)
  await sweepShards(env, 'jobs', async (db, limit) => {
    const { taken, toSend } = await takeSweptJobs({ db, queued, limit })
    for (const mode of MODES) {
      const ofMode = toSend.filter((job) => job.mode === mode)
      await sendAll(
        queueOf(env, mode),
        ofMode.map((job) => ({ ...messageOf(job), swept: true })),
      )
    }
    return { taken, sent: toSend.length }
  })
}

/** The modes whose queue is long. A queue whose length is unknown counts as short. */
async function modesWithBacklog(env: Env): Promise<Mode[]> {
  const backlogOf = async (mode: Mode) => {
    try {
      return (await queueOf(env, mode).metrics()).backlogCount
    } catch (error) {
      log.error('backlog unknown', error, { mode })
      return 0
    }
  }
  const backlogs = await Promise.all(MODES.map(backlogOf))
  return MODES.filter((_, at) => (backlogs[at] ?? 0) > LONG_BACKLOG)
}

/**
 * Selects up to `limit` unfinished jobs of one shard that have to be requeued, and postpones `sweepAt`, so
 * that the next sweep skips them. Reads all unfinished jobs until the limit. A processing job is due after
 * its lease, once per lease unless `sweepAt` passes again. A pending job of a mode in `queued` is probably
 * in its queue, so it needs a message only after `PENDING_MAX_WAIT_MS`.
 * @returns the number of selected jobs, and those of them that need a message
 */
export async function takeSweptJobs(page: {
  db: Database
  queued: readonly Mode[]
  limit: number
}) {
  const { db, queued, limit } = page
  const now = Date.now()
  const isDue = sql`case ${jobs.status} when 'pending' then ${jobs.sweepAt} <= ${now}
    else ${jobs.dueAt} <= ${now - SWEEP_AFTER_DUE_MS}
      and (${jobs.sweepAt} <= ${now} or ${jobs.dueAt} > ${jobs.sweepAt} - ${SWEEP_AGAIN_AFTER_MS}) end`
  const modes = sql.join([sql`''`, ...queued.map((mode) => sql`${mode}`)], sql`, `)
  const isQueued = sql`${jobs.status} = 'pending' and ${jobs.mode} in (${modes})
    and ${jobs.createdAt} > ${now - PENDING_MAX_WAIT_MS}`
  const [taken] = await db.batch([
    db
      .update(jobs)
      .set({
        // A queued job is checked again after a minute, then at growing intervals.
        sweepAt: sql`case when ${isQueued}
          then ${now} + max(${SWEEP_QUEUED_AGAIN_AFTER_MS}, (${now} - ${jobs.createdAt}) / 4)
          else ${now + SWEEP_AGAIN_AFTER_MS} end`,
      })
      .where(inArray(jobs.id, unfinished(sql`${IS_UNFINISHED} and ${isDue}`, limit)))
      .returning({
        id: jobs.id,
        mode: jobs.mode,
        organisationId: jobs.organisationId,
        isQueued: sql`${isQueued}`.mapWith(Boolean).as('is_queued'),
      }),
    // Removes finished jobs from the index: see IS_UNFINISHED.
    db
      .update(jobs)
      .set({ sweepAt: NO_SWEEP })
      .where(inArray(jobs.id, unfinished(IS_FINAL, limit))),
  ])
  return { taken: taken.length, toSend: taken.filter((row) => !row.isQueued) }
}

/** The ids of jobs in the index of unfinished jobs. Without its name SQLite could read all jobs. */
const unfinished = (condition: SQL, limit: number): SQL =>
  sql`(select ${jobs.id} from ${jobs} indexed by jobs_unfinished
    where ${IS_IN_SWEEP_INDEX} and ${condition} limit ${limit})`

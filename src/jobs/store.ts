// SQL that inserts, reads and deletes jobs. Lists are in jobs/lists; status changes are in jobs/claims
// and jobs/endings.
import { eq, inArray, sql } from 'drizzle-orm'
import type { Database } from '../db/client.ts'
import { preparedQuery } from '../db/prepared-query.ts'
import { jobsBinding, jobsDatabase, requireShard } from '../db/shards.ts'
import { ENDED, SWEEP_AFTER_DUE_MS, SWEEP_AGAIN_AFTER_MS, UNQUEUED_AFTER_MS } from '../db/due.ts'
import { FINISHED, jobs, NOT_ENDED, UNFINISHED } from '../db/schema.ts'
import { webhookEvents } from '../db/webhook-schema.ts'
import type { JobRow } from '../db/schema.ts'
import type { WebhookEventRow } from '../db/webhook-schema.ts'
import type { JobStatus, Mode } from '../domain/job.ts'
import { eventIdOf } from '../ids.ts'
import type { Hold } from './hold.ts'

/** After this time, the sweep checks a job again that is probably in its queue, ms. */
const SWEEP_QUEUED_AGAIN_AFTER_MS = 60_000
/** After this time, a pending job is requeued even if its queue is long, ms. */
const PENDING_MAX_WAIT_MS = 60 * 60_000

/** A job and the state of its webhook event; null when it has no event yet. */
export type JobWithEvent = JobRow & {
  eventStatus: WebhookEventRow['status'] | null
  /** When the event is delivered next, or when the current attempt is given up. */
  eventDueAt: Date | null
}

export interface JobFilter {
  workspaceId?: string | undefined
  status?: JobStatus | undefined
  /** Jobs created at this instant or later. */
  createdAfter?: Date | undefined
  /** Jobs created before this instant. */
  createdBefore?: Date | undefined
}

type NewJob = Pick<
  JobRow,
  | 'id'
  | 'organisationId'
  | 'workspaceId'
  | 'mode'
  | 'modelImageUrl'
  | 'garmentImageUrl'
  | 'webhookUrl'
  | 'baseUrl'
  | 'apiKeyId'
  | 'createdAt'
  | 'testEventFor'
  | 'requestId'
>

const insertQuery = preparedQuery((db) =>
  db
    .insert(jobs)
    .values({
      id: sql.placeholder('id'),
      organisationId: sql.placeholder('organisationId'),
      workspaceId: sql.placeholder('workspaceId'),
      mode: sql.placeholder('mode'),
      status: 'pending',
      modelImageUrl: sql.placeholder('modelImageUrl'),
      garmentImageUrl: sql.placeholder('garmentImageUrl'),
      webhookUrl: sql.placeholder('webhookUrl'),
      baseUrl: sql.placeholder('baseUrl'),
      apiKeyId: sql.placeholder('apiKeyId'),
      createdAt: sql.placeholder('createdAt'),
      dueAt: sql.placeholder('dueAt'),
      sweepAt: sql.placeholder('sweepAt'),
      testEventFor: sql.placeholder('testEventFor'),
      requestId: sql.placeholder('requestId'),
    })
    .onConflictDoNothing()
    .prepare(),
)

/**
 * Inserts a pending job.
 * @returns false when the id exists already
 * @throws Error when the shard of the job is not bound: no later version would find it in another one
 */
export async function insertJob(
  env: Env,
  job: NewJob,
  { until, claimableAt }: Hold,
): Promise<boolean> {
  const sweepAt = new Date(until.getTime() + UNQUEUED_AFTER_MS)
  const result = await insertQuery(requireShard(env, job.id)).run({
    ...job,
    dueAt: claimableAt,
    sweepAt,
  })
  return result.meta.changes > 0
}

const findQuery = preparedQuery((db) =>
  db
    .select({ job: jobs, eventStatus: webhookEvents.status, eventDueAt: webhookEvents.dueAt })
    .from(jobs)
    .leftJoin(webhookEvents, eq(webhookEvents.id, sql.placeholder('eventId')))
    .where(eq(jobs.id, sql.placeholder('jobId')))
    .prepare(),
)

export async function findJob(env: Env, jobId: string): Promise<JobWithEvent | undefined> {
  const [row] = await findQuery(jobsBinding(env, jobId)).all({ jobId, eventId: eventIdOf(jobId) })
  return row && { ...row.job, eventStatus: row.eventStatus, eventDueAt: row.eventDueAt }
}

/** The result of one page of the sweep. */
export interface SweptJobs {
  /** How many jobs the page contained. */
  taken: number
  /** The jobs of the page that need a message. */
  toSend: Pick<JobRow, 'id' | 'mode' | 'organisationId'>[]
}

/**
 * Selects up to `limit` unfinished jobs of one shard that have to be requeued, and postpones `sweepAt`, so
 * that the next sweep skips them. Reads all unfinished jobs until the limit. A processing job is due after
 * its lease, once per lease unless `sweepAt` passes again. A pending job of a mode in `queued` is probably
 * in its queue, so it needs a message only after `PENDING_MAX_WAIT_MS`.
 */
export async function takeSweptJobs({
  db,
  queued,
  limit,
}: {
  db: Database
  queued: readonly Mode[]
  limit: number
}): Promise<SweptJobs> {
  const now = Date.now()
  const isDue = sql`case ${jobs.status} when 'pending' then ${jobs.sweepAt} <= ${now}
    else ${jobs.dueAt} <= ${now - SWEEP_AFTER_DUE_MS}
      and (${jobs.sweepAt} <= ${now} or ${jobs.dueAt} > ${jobs.sweepAt} - ${SWEEP_AGAIN_AFTER_MS}) end`
  // Without the name SQLite could read all jobs.
  const due = sql`(select ${jobs.id} from ${jobs} indexed by jobs_unfinished
    where ${UNFINISHED} and ${NOT_ENDED} and ${isDue} limit ${limit})`
  const page = db
    .select({
      id: jobs.id,
      mode: jobs.mode,
      organisationId: jobs.organisationId,
      status: jobs.status,
      createdAt: jobs.createdAt,
    })
    .from(jobs)
    .where(inArray(jobs.id, due))
  const modes = sql.join([sql`''`, ...queued.map((mode) => sql`${mode}`)], sql`, `)
  const isQueued = sql`${jobs.status} = 'pending' and ${jobs.mode} in (${modes})
    and ${jobs.createdAt} > ${now - PENDING_MAX_WAIT_MS}`
  const [taken] = await db.batch([
    page,
    db
      .update(jobs)
      .set({
        // A queued job is checked again after a minute, then at growing intervals.
        sweepAt: sql`case when ${isQueued}
          then ${now} + max(${SWEEP_QUEUED_AGAIN_AFTER_MS}, (${now} - ${jobs.createdAt}) / 4)
          else ${now + SWEEP_AGAIN_AFTER_MS} end`,
      })
      .where(inArray(jobs.id, due)),
    // Removes finished jobs from the index: see NOT_ENDED.
    db
      .update(jobs)
      .set({ sweepAt: ENDED })
      .where(
        inArray(
          jobs.id,
          sql`(select ${jobs.id} from ${jobs} indexed by jobs_unfinished
            where ${UNFINISHED} and ${FINISHED} limit ${limit})`,
        ),
      ),
  ])
  const isWaiting = ({ status, mode, createdAt }: (typeof taken)[number]) =>
    status === 'pending' && queued.includes(mode) && createdAt.getTime() > now - PENDING_MAX_WAIT_MS
  return { taken: taken.length, toSend: taken.filter((row) => !isWaiting(row)) }
}

/** Up to `limit` jobs of one organisation in no particular order, for deletion. */
export const findJobsOf = ({
  env,
  organisationId,
  limit,
}: {
  env: Env
  organisationId: string
  limit: number
}): Promise<Pick<JobRow, 'id' | 'status'>[]> =>
  jobsDatabase(env, organisationId)
    .select({ id: jobs.id, status: jobs.status })
    .from(jobs)
    .where(eq(jobs.organisationId, organisationId))
    .limit(limit)

/** @param jobIds at most 100, of the organisation */
export async function deleteJobs(
  env: Env,
  organisationId: string,
  jobIds: string[],
): Promise<void> {
  await jobsDatabase(env, organisationId).delete(jobs).where(inArray(jobs.id, jobIds))
}

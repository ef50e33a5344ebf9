// SQL that inserts, reads and deletes jobs. Lists are in jobs/reports/job-lists; status changes are in jobs/processing/claims
// and jobs/processing/end.
import { eq, inArray, sql, type Placeholder } from 'drizzle-orm'
import { preparedQuery } from '../platform/db/prepared-query.ts'
import { isBound, jobsBinding, jobsDatabase } from '../platform/db/database.ts'
import { UNQUEUED_AFTER_MS } from '../platform/db/due.ts'
import { jobs, type JobRow } from '../platform/db/schema.ts'
import { webhookEvents, type WebhookEventRow } from '../platform/db/webhook-schema.ts'
import type { JobStatus } from '../domain/job.ts'
import { eventIdOf } from '../platform/ids.ts'
import type { Hold } from './processing/hold.ts'

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

const SUBMITTED = [
  'id',
  'organisationId',
  'workspaceId',
  'mode',
  'modelImageUrl',
  'garmentImageUrl',
  'webhookUrl',
  'baseUrl',
  'apiKeyId',
  'createdAt',
  'testEventFor',
  'requestId',
] as const satisfies (keyof JobRow)[]
type NewJob = Pick<JobRow, (typeof SUBMITTED)[number]>

const insertQuery = preparedQuery((db) => {
  const placeholders = Object.fromEntries(
    [...SUBMITTED, 'dueAt', 'sweepAt'].map((name) => [name, sql.placeholder(name)]),
  ) as Record<keyof NewJob | 'dueAt' | 'sweepAt', Placeholder>
  return db
    .insert(jobs)
    .values({ ...placeholders, status: 'pending' })
    .onConflictDoNothing()
    .prepare()
})

/** Inserts a pending job. @returns false when the id exists already */
export async function insertJob(env: Env, job: NewJob, { until, claimableAt: dueAt }: Hold) {
  const sweepAt = new Date(until.getTime() + UNQUEUED_AFTER_MS)
  const result = await insertQuery(jobsBinding(env, job.id)).run({ ...job, dueAt, sweepAt })
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

/** Reads a job. No shard has an invented id. */
export async function findJob(env: Env, jobId: string): Promise<JobWithEvent | undefined> {
  if (!isBound(env, jobId)) return undefined
  const [row] = await findQuery(jobsBinding(env, jobId)).all({ jobId, eventId: eventIdOf(jobId) })
  return row && { ...row.job, eventStatus: row.eventStatus, eventDueAt: row.eventDueAt }
}

/** Up to `limit` jobs of one organisation in no particular order, for deletion. */
export const findJobsOf = (env: Env, organisationId: string, limit: number) =>
  jobsDatabase(env, organisationId)
    .select({ id: jobs.id, status: jobs.status })
    .from(jobs)
    .where(eq(jobs.organisationId, organisationId))
    .limit(limit)

/** @param jobIds at most 100, of the organisation */
export async function deleteJobs(env: Env, organisationId: string, jobIds: string[]) {
  await jobsDatabase(env, organisationId).delete(jobs).where(inArray(jobs.id, jobIds))
}

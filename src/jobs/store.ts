// All SQL about jobs but for lists. Every change of status is one conditional update: no row back
// means that somebody else was first.
import { and, eq, gte, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import { database, valueFor } from '../db/client.ts'
import { preparedQuery } from '../db/prepared-query.ts'
import { dueFrom, SWEEP_AGAIN_AFTER_MS, UNQUEUED_AFTER_MS } from '../db/due.ts'
import { jobs, organisations, webhookEvents } from '../db/schema.ts'
import type { JobRow, WebhookEventRow } from '../db/schema.ts'
import { eventIdOf, firstIdSince } from '../ids.ts'
import type { ImageFormat } from '../domain/image.ts'
import type { Mode } from '../domain/job.ts'
import { DAY_MS, RETENTION_DAYS } from '../domain/limits.ts'
import type { FinalStatus, JobErrorCode, JobStatus } from '../domain/job.ts'

/** How long a consumer has a job to itself, ms: longer than fetching, polling and composing. */
export const LEASE_MS = 2 * 60_000
/** The same from the start of a paid engine on: some answer only with the picture. */
export const START_LEASE_MS = 200_000

/** How soon the sweep looks again at a job that most likely waits in its queue, ms. */
const SWEEP_QUEUED_AGAIN_AFTER_MS = 60_000
/** After this a pending job is queued again however long its queue is, ms. */
const PENDING_MAX_WAIT_MS = 60 * 60_000

/** A job with what is known of its webhook event; the status is null as long as there is none. */
export type JobWithEvent = JobRow & { eventStatus: WebhookEventRow['status'] | null }

export interface JobFilter {
  workspaceId?: string | undefined
  status?: JobStatus | undefined
}

/** How a job ended. */
export type Ending =
  | { status: 'completed'; outputFormat: ImageFormat; engine?: string }
  | { status: 'failed'; errorCode: JobErrorCode }
  | { status: 'refunded' | 'cancelled' }

type Place = Pick<JobRow, 'id' | 'organisationId' | 'workspaceId' | 'mode'>
type Addresses = Pick<JobRow, 'modelImageUrl' | 'garmentImageUrl' | 'webhookUrl' | 'baseUrl'>
type NewJob = Place & Addresses & Pick<JobRow, 'createdAt'>

const insertion = preparedQuery((db) =>
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
      createdAt: sql.placeholder('createdAt'),
      dueAt: sql.placeholder('createdAt'),
      sweepAt: sql.placeholder('sweepAt'),
    })
    .onConflictDoNothing()
    .prepare(),
)

/** Stores a pending job. @returns false when it was there already */
export async function insertJob(env: Env, job: NewJob): Promise<boolean> {
  const sweepAt = new Date(job.createdAt.getTime() + UNQUEUED_AFTER_MS)
  const result = await insertion(env).run({ ...job, sweepAt })
  return result.meta.changes > 0
}

const byId = preparedQuery((db) =>
  db
    .select({ job: jobs, eventStatus: webhookEvents.status })
    .from(jobs)
    .leftJoin(webhookEvents, eq(webhookEvents.id, sql.placeholder('eventId')))
    .where(eq(jobs.id, sql.placeholder('jobId')))
    .prepare(),
)

export async function findJob(env: Env, jobId: string): Promise<JobWithEvent | undefined> {
  const [row] = await byId(env).all({ jobId, eventId: eventIdOf(jobId) })
  return row && { ...row.job, eventStatus: row.eventStatus }
}

/**
 * pending → processing, or takes over a job whose consumer has not been heard of for a lease. A
 * pending job of an organisation that is suspended or scheduled for deletion is not claimed.
 * @returns the claimed job, and the job as it is now whether or not it could be claimed
 */
export async function claimJob(env: Env, jobId: string) {
  const db = database(env)
  const now = Date.now()
  const [[claimed], [found]] = await db.batch([
    db
      .update(jobs)
      .set({
        status: 'processing',
        startedAt: sql`coalesce(${jobs.startedAt}, ${now})`,
        // Asking an engine how far it is does not begin the work again.
        attempts: sql`${jobs.attempts} + (${jobs.engineHandle} is null)`,
        ...dueFrom(new Date(now + LEASE_MS)),
      })
      .where(
        and(
          eq(jobs.id, jobId),
          sql`(${jobs.status} = 'pending' and exists (select 1 from ${organisations}
                where ${organisations.id} = ${jobs.organisationId} and ${organisations.status} = 'active'
                  and ${organisations.deleteAfter} is null)
               or ${jobs.status} = 'processing' and ${jobs.dueAt} <= ${now})`,
        ),
      )
      .returning(),
    db.select().from(jobs).where(eq(jobs.id, jobId)),
  ])
  return { claimed, found } as { claimed: JobRow | undefined; found: JobRow | undefined }
}

/**
 * Writes what a consumer has learnt of its job: with a `dueAt` in the future it keeps the job, with
 * any other it hands it back, to be claimed again from then on.
 * @returns false when the job is not this consumer's any more; nothing is written then
 */
export async function saveJob(
  env: Env,
  job: JobRow,
  change: { dueAt: Date; errorCode?: JobErrorCode },
): Promise<boolean> {
  const { engine, engineHandle, ambiguousStarts, attempts } = job
  const result = await database(env)
    .update(jobs)
    .set({ engine, engineHandle, ambiguousStarts, attempts, ...change, ...dueFrom(change.dueAt) })
    .where(
      and(
        eq(jobs.id, job.id),
        eq(jobs.status, 'processing'),
        // Each claim sets another instant, so this is the claim's own mark.
        eq(jobs.dueAt, job.dueAt),
      ),
    )
  return result.meta.changes > 0
}

/**
 * Ends a job and writes its webhook event, in one transaction.
 * @param from the status it must have
 * @param required what else must hold: the organisation it belongs to, the mark of a claim
 * @param record runs first in the transaction, while the job still has its status
 * @returns the ended job, or undefined when it was not as required, and then what is there instead
 */
export async function endJob(
  env: Env,
  jobId: string,
  from: 'pending' | 'processing',
  ending: Ending,
  required: Partial<Pick<JobRow, 'organisationId' | 'dueAt'>> = {},
  record?: BatchItem<'sqlite'>,
) {
  const db = database(env)
  const now = new Date()
  const statements = [
    db
      .update(jobs)
      .set({
        ...ending,
        engineHandle: null,
        ...(ending.status === 'completed' ? { completedAt: now, errorCode: null } : {}),
        ...(from === 'processing'
          ? { durationMs: sql`max(0, ${now.getTime()} - ${jobs.startedAt})` }
          : {}),
      })
      .where(
        and(
          eq(jobs.id, jobId),
          eq(jobs.status, from),
          required.organisationId ? eq(jobs.organisationId, required.organisationId) : undefined,
          required.dueAt ? eq(jobs.dueAt, required.dueAt) : undefined,
        ),
      )
      .returning(),
    insertEvents(env, [jobId], ending.status, now),
    db
      .select({ organisationId: jobs.organisationId, status: jobs.status })
      .from(jobs)
      .where(eq(jobs.id, jobId)),
  ] as const
  const [[ended], , [found]] = record
    ? (await db.batch([record, ...statements])).slice(1)
    : await db.batch(statements)
  return { ended, found } as {
    ended: JobRow | undefined
    found: { organisationId: string; status: JobStatus } | undefined
  }
}

/** As a condition of another statement: whether a job is pending. */
export const isPending = (jobId: string): SQL =>
  sql`exists (select 1 from ${jobs} where ${jobs.id} = ${jobId} and ${jobs.status} = 'pending')`

/** Withdraws up to 50 pending jobs of one organisation, with their events, in one transaction. */
export async function cancelPending(env: Env, organisationId: string): Promise<JobRow[]> {
  const db = database(env)
  // Reopened meanwhile, it keeps the jobs that it accepts from then on.
  const isClosed = sql`exists (select 1 from ${organisations}
    where ${organisations.id} = ${organisationId}
      and (${organisations.status} <> 'active' or ${organisations.deleteAfter} is not null))`
  const pending = await db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.organisationId, organisationId), eq(jobs.status, 'pending'), isClosed))
    .limit(50)
  if (pending.length === 0) return []
  const ids = pending.map(({ id }) => id)
  const [cancelled] = await db.batch([
    db
      .update(jobs)
      .set({ status: 'cancelled' })
      .where(and(inArray(jobs.id, ids), eq(jobs.status, 'pending'), isClosed))
      .returning(),
    insertEvents(env, ids, 'cancelled', new Date()),
  ])
  return cancelled
}

/** An event for each of the jobs that has this status and a webhook URL; known events stay. */
function insertEvents(env: Env, jobIds: string[], status: FinalStatus, now: Date) {
  const db = database(env)
  return db
    .insert(webhookEvents)
    .select(
      db
        .select({
          id: sql<string>`'evt_' || substr(${jobs.id}, 5)`.as('id'), // as eventIdOf
          organisationId: jobs.organisationId,
          jobId: jobs.id,
          type: valueFor(`job.${status}` as const, webhookEvents.type),
          url: sql<string>`${jobs.webhookUrl}`.as('url'),
          status: valueFor('pending' as const, webhookEvents.status),
          attempts: valueFor(0, webhookEvents.attempts),
          dueAt: valueFor(now, webhookEvents.dueAt),
          sweepAt: valueFor(new Date(now.getTime() + UNQUEUED_AFTER_MS), webhookEvents.sweepAt),
          createdAt: valueFor(now, webhookEvents.createdAt),
        })
        .from(jobs)
        .where(
          and(
            inArray(jobs.id, jobIds),
            eq(jobs.status, status),
            isNotNull(jobs.webhookUrl),
            // The event of an older job is deleted, and must not be sent a second time.
            gte(jobs.id, firstIdSince('job', now.getTime() - RETENTION_DAYS.webhooks * DAY_MS)),
          ),
        ),
    )
    .onConflictDoNothing()
}

/** Unfinished jobs that the sweep takes, and those of them that need a message. */
export interface SweptJobs {
  taken: number
  toSend: Pick<JobRow, 'id' | 'mode' | 'organisationId'>[]
}

/**
 * Takes up to `limit` unfinished jobs whose `sweepAt` has come, and puts it off, so that no other
 * sweep takes them for a while. A pending job of a mode in `queued` most likely waits in its queue: it
 * gets no message until it has waited for `PENDING_MAX_WAIT_MS`.
 */
export async function takeSweptJobs(
  env: Env,
  { queued, limit }: { queued: readonly Mode[]; limit: number },
): Promise<SweptJobs> {
  const db = database(env)
  const now = Date.now()
  const due = db
    .select({
      id: jobs.id,
      mode: jobs.mode,
      organisationId: jobs.organisationId,
      status: jobs.status,
      createdAt: jobs.createdAt,
    })
    .from(jobs)
    // Literals, not bound values: only then does SQLite use the partial index.
    .where(and(sql`status in ('pending', 'processing')`, lte(jobs.sweepAt, new Date(now))))
    .orderBy(jobs.sweepAt)
    .limit(limit)
  const rows = due.as('due')
  const modes = sql.join([sql`''`, ...queued.map((mode) => sql`${mode}`)], sql`, `)
  const isQueued = sql`${jobs.status} = 'pending' and ${jobs.mode} in (${modes})
    and ${jobs.createdAt} > ${now - PENDING_MAX_WAIT_MS}`
  const [taken] = await db.batch([
    due,
    db
      .update(jobs)
      .set({
        // A queued job is looked at again in a minute, then less and less often.
        sweepAt: sql`case when ${isQueued}
          then ${now} + max(${SWEEP_QUEUED_AGAIN_AFTER_MS}, (${now} - ${jobs.createdAt}) / 4)
          else ${now + SWEEP_AGAIN_AFTER_MS} end`,
      })
      .where(inArray(jobs.id, db.select({ id: rows.id }).from(rows))),
  ])
  const isWaiting = ({ status, mode, createdAt }: (typeof taken)[number]) =>
    status === 'pending' && queued.includes(mode) && createdAt.getTime() > now - PENDING_MAX_WAIT_MS
  return { taken: taken.length, toSend: taken.filter((row) => !isWaiting(row)) }
}

/** Any jobs of one organisation, for deleting them page by page. */
export const anyJobs = (
  env: Env,
  organisationId: string,
  limit: number,
): Promise<Pick<JobRow, 'id' | 'status'>[]> =>
  database(env)
    .select({ id: jobs.id, status: jobs.status })
    .from(jobs)
    .where(eq(jobs.organisationId, organisationId))
    .limit(limit)

/** @param jobIds at most 100 */
export async function deleteJobs(env: Env, jobIds: string[]): Promise<void> {
  await database(env).delete(jobs).where(inArray(jobs.id, jobIds))
}

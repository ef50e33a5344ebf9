// The end of a job: one transaction changes its status and writes its webhook event. Each change is
// a conditional update; no returned row means that another writer was first.
import { and, eq, gte, inArray, isNotNull, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import { database, valueFor } from '../db/client.ts'
import { UNQUEUED_AFTER_MS } from '../db/due.ts'
import { jobs, organisations, webhookEvents } from '../db/schema.ts'
import type { JobRow } from '../db/schema.ts'
import type { ImageFormat } from '../domain/image.ts'
import type { FinalStatus, JobErrorCode, JobStatus, NextStatus, Transition } from '../domain/job.ts'
import { DAY_MS, RETENTION_DAYS } from '../domain/limits.ts'
import { firstIdSince } from '../ids.ts'

const MAX_CANCELLED = 50
const WITHDRAWAL = { from: 'pending', to: 'cancelled' } as const satisfies Transition

/** What each final status adds to the job. */
interface EndingOf {
  completed: { status: 'completed'; outputFormat: ImageFormat; engine?: string }
  failed: { status: 'failed'; errorCode: JobErrorCode }
  refunded: { status: 'refunded' }
  cancelled: { status: 'cancelled' }
}

/** How a job with the status `From` can end, according to the transition table. */
export type EndingFrom<From extends JobStatus> = EndingOf[NextStatus<From> & FinalStatus]

/** An end that the transition table allows. */
export type JobEnd = {
  [From in Exclude<JobStatus, FinalStatus>]: { from: From; ending: EndingFrom<From> }
}[Exclude<JobStatus, FinalStatus>]

export interface EndResult {
  /** The ended job; undefined when the job did not meet the conditions. */
  ended: JobRow | undefined
  /** What is stored after the call; undefined when the job does not exist. */
  found: { organisationId: string; status: JobStatus } | undefined
}

/**
 * Ends a job that has the status `from`.
 * @param required further conditions: the owner of the job, the claim (`dueAt`)
 * @param record a statement that runs first in the transaction, before the status changes
 */
export async function endJob({
  env,
  jobId,
  from,
  ending,
  required = {},
  record,
}: {
  env: Env
  jobId: string
  required?: Partial<Pick<JobRow, 'organisationId' | 'dueAt'>>
  record?: BatchItem<'sqlite'> | undefined
} & JobEnd): Promise<EndResult> {
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
    insertEvents({ env, jobIds: [jobId], status: ending.status, now }),
    db
      .select({ organisationId: jobs.organisationId, status: jobs.status })
      .from(jobs)
      .where(eq(jobs.id, jobId)),
  ] as const
  const [[ended], , [found]] = record
    ? (await db.batch([record, ...statements])).slice(1)
    : await db.batch(statements)
  return { ended, found } as EndResult
}

/** A condition for another statement: the job is pending. */
export const isPending = (jobId: string): SQL =>
  sql`exists (select 1 from ${jobs} where ${jobs.id} = ${jobId} and ${jobs.status} = 'pending')`

/** Withdraws up to 50 pending jobs of a suspended organisation, in one transaction. */
export async function cancelPending(env: Env, organisationId: string): Promise<JobRow[]> {
  const db = database(env)
  // An organisation that is reactivated during the call keeps its new jobs.
  const isClosed = sql`exists (select 1 from ${organisations}
    where ${organisations.id} = ${organisationId}
      and (${organisations.status} <> 'active' or ${organisations.deleteAfter} is not null))`
  const pending = await db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.organisationId, organisationId), eq(jobs.status, WITHDRAWAL.from), isClosed))
    .limit(MAX_CANCELLED)
  if (pending.length === 0) return []
  const ids = pending.map(({ id }) => id)
  const [cancelled] = await db.batch([
    db
      .update(jobs)
      .set({ status: WITHDRAWAL.to })
      .where(and(inArray(jobs.id, ids), eq(jobs.status, WITHDRAWAL.from), isClosed))
      .returning(),
    insertEvents({ env, jobIds: ids, status: WITHDRAWAL.to, now: new Date() }),
  ])
  return cancelled
}

/** Inserts an event for each of the jobs that has this status and a webhook URL, unless stored. */
function insertEvents({
  env,
  jobIds,
  status,
  now,
}: {
  env: Env
  jobIds: string[]
  status: FinalStatus
  now: Date
}) {
  const db = database(env)
  return db
    .insert(webhookEvents)
    .select(
      db
        .select({
          id: sql<string>`'evt_' || substr(${jobs.id}, 5)`.as('id'), // the same as eventIdOf
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
            // Retention deleted the events of older jobs; they must not be sent a second time.
            gte(jobs.id, firstIdSince('job', now.getTime() - RETENTION_DAYS.webhooks * DAY_MS)),
          ),
        ),
    )
    .onConflictDoNothing()
}

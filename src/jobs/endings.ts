// The end of a job: one transaction changes its status and writes its webhook events. Each change is
// a conditional update; no returned row means that another writer was first.
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { isClosed } from '../access/closed-organisations.ts'
import { preparedBatch } from '../db/prepared-query.ts'
import { jobsBinding, jobsDatabase } from '../db/shards.ts'
import { ENDED, UNQUEUED_AFTER_MS } from '../db/due.ts'
import { jobs, UNFINISHED } from '../db/schema.ts'
import type { JobRow } from '../db/schema.ts'
import type { ImageFormat } from '../domain/image.ts'
import type { FinalStatus, JobStatus, NextStatus, Transition } from '../domain/job.ts'
import { DAY_MS, RETENTION_DAYS } from '../domain/limits.ts'
import { firstIdSince } from '../ids.ts'
import type { FailureRecord } from './failure-record.ts'
import { insertAddedEvents, insertOwnEvents } from './event-inserts.ts'

const MAX_CANCELLED = 50
const WITHDRAWAL = { from: 'pending', to: 'cancelled' } as const satisfies Transition

/** What each final status adds to the job. */
interface EndingOf {
  completed: { status: 'completed'; outputFormat: ImageFormat; engine?: string }
  failed: { status: 'failed' } & FailureRecord
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
  /** The events of added endpoints that this call inserted. */
  addedEventIds: string[]
  /** What is stored after the call; undefined when the job does not exist. */
  found: { organisationId: string; status: JobStatus } | undefined
}

/** Conditions for the end of a job: its owner, and the claim. */
type EndConditions = Partial<Pick<JobRow, 'organisationId' | 'dueAt'>>

/** Ends a job that has the status `from`. */
export async function endJob({
  env,
  jobId,
  from,
  ending,
  required = {},
}: {
  env: Env
  jobId: string
  required?: EndConditions
} & JobEnd): Promise<EndResult> {
  const now = Date.now()
  const values = {
    ...ending,
    organisationId: required.organisationId,
    dueAt: required.dueAt?.getTime(),
    jobId,
    now,
    sweepAt: now + UNQUEUED_AFTER_MS,
    oldestJobId: oldestJobIdWithEvent(now),
  }
  const end = endStatements(from, ending, required)
  const [[ended], , added, [found]] = await end(jobsBinding(env, jobId), values)
  return { ended, addedEventIds: added.map(({ id }) => id), found }
}

/** The statements of an end, by the shape of its arguments. The shapes are few. */
const endStatementsByShape = new Map<string, ReturnType<typeof prepareEnd>>()

function endStatements(from: JobStatus, ending: JobEnd['ending'], required: EndConditions) {
  const shape = [from, ending.status, ...Object.keys(ending), ...Object.keys(required)].join()
  let statements = endStatementsByShape.get(shape)
  if (!statements) {
    endStatementsByShape.set(shape, (statements = prepareEnd(from, ending, required)))
  }
  return statements
}

/** A completed job does not keep the failures of its earlier attempts. */
const NO_FAILURE = {
  errorCode: null,
  failureReason: null,
  failureAudience: null,
} satisfies Partial<JobRow>

const value = (name: string): SQL => sql`${sql.placeholder(name)}`

function prepareEnd(from: JobStatus, ending: JobEnd['ending'], required: EndConditions) {
  const event = {
    which: eq(jobs.id, value('jobId')),
    status: ending.status,
    now: value('now'),
    sweepAt: value('sweepAt'),
    oldestJobId: value('oldestJobId'),
  }
  return preparedBatch((db) => [
    db
      .update(jobs)
      .set({
        ...Object.fromEntries(Object.keys(ending).map((name) => [name, value(name)])),
        engineHandle: null,
        sweepAt: ENDED,
        ...(ending.status === 'completed' && { completedAt: value('now'), ...NO_FAILURE }),
        ...(from === 'pending' && { cancelledAt: value('now') }),
        ...(from === 'processing' && {
          durationMs: sql`max(0, ${value('now')} - ${jobs.startedAt})`,
        }),
      })
      .where(
        and(
          eq(jobs.id, value('jobId')),
          eq(jobs.status, from),
          ...Object.keys(required).map(
            (name) => sql`${jobs[name as keyof EndConditions]} = ${value(name)}`,
          ),
        ),
      )
      .returning(),
    insertOwnEvents(db, event),
    insertAddedEvents(db, event),
    db
      .select({ organisationId: jobs.organisationId, status: jobs.status })
      .from(jobs)
      .where(eq(jobs.id, value('jobId'))),
  ])
}

/** Withdraws up to 50 pending jobs of a suspended organisation, in one transaction. */
export async function cancelPending(
  env: Env,
  organisationId: string,
): Promise<{ cancelled: JobRow[]; addedEventIds: string[] }> {
  const db = jobsDatabase(env, organisationId)
  const pending = await db
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(eq(jobs.organisationId, organisationId), UNFINISHED, eq(jobs.status, WITHDRAWAL.from)),
    )
    .limit(MAX_CANCELLED)
  // Checked after the selection: an organisation that is reactivated later keeps its new jobs, which are
  // not selected.
  if (pending.length === 0 || !(await isClosed(env, organisationId))) {
    return { cancelled: [], addedEventIds: [] }
  }
  const ids = pending.map(({ id }) => id)
  const now = Date.now()
  const event = {
    which: inArray(jobs.id, ids),
    status: WITHDRAWAL.to,
    now: sql`${now}`,
    sweepAt: sql`${now + UNQUEUED_AFTER_MS}`,
    oldestJobId: sql`${oldestJobIdWithEvent(now)}`,
  }
  const [cancelled, , added] = await db.batch([
    db
      .update(jobs)
      .set({ status: WITHDRAWAL.to, cancelledAt: new Date(now), sweepAt: ENDED })
      .where(and(inArray(jobs.id, ids), eq(jobs.status, WITHDRAWAL.from)))
      .returning(),
    insertOwnEvents(db, event),
    insertAddedEvents(db, event),
  ])
  return { cancelled, addedEventIds: added.map(({ id }) => id) }
}

/** Retention deletes the events of older jobs, so that they are not inserted again. */
const oldestJobIdWithEvent = (now: number): string =>
  firstIdSince('job', now - RETENTION_DAYS.webhooks * DAY_MS)

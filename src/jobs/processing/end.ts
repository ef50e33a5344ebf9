// The end of a job: one transaction changes its status and inserts its webhook events. The change of the
// status is a conditional update; no returned row means that another writer was first. jobs/processing/settle
// has the effects that follow.
import { and, eq, gte, isNotNull, isNull, or, sql, type SQL } from 'drizzle-orm'
import { standingOf } from '../../organisations/closed-organisations.ts'
import { valueFor, type Database, jobsBinding, jobsDatabase } from '../../platform/db/database.ts'
import { NO_SWEEP, UNQUEUED_AFTER_MS } from '../../platform/db/due.ts'
import { preparedBatch } from '../../platform/db/prepared-query.ts'
import { IS_IN_SWEEP_INDEX, jobs, type JobRow } from '../../platform/db/schema.ts'
import { webhookEndpoints, webhookEvents } from '../../platform/db/webhook-schema.ts'
import type { ImageFormat } from '../../domain/image.ts'
import type { FinalStatus, JobStatus, NextStatus } from '../../domain/job.ts'
import { DAY_MS, RETENTION_DAYS } from '../../domain/limits.ts'
import { DEFAULT_ENDPOINT } from '../../domain/webhook.ts'
import { ENDPOINT_SUFFIX_LENGTH, firstIdSince } from '../../platform/ids.ts'
import type { FailureRecord } from './failure-record.ts'

const MAX_WITHDRAWN = 50

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

/** Conditions for the end of a job: its owner, the workspaces that the owner's actor may access, and the claim. */
type EndConditions = Partial<Pick<JobRow, 'organisationId' | 'dueAt'>> & { workspaceIds?: string[] }

export type EndResult = Awaited<ReturnType<typeof endJob>>

/**
 * Ends a job that has the status `from`.
 * @returns `ended`: the job, undefined when it did not meet the conditions; the events of added endpoints that this call
 *   inserted; `found`: what is stored after the call, undefined when the job does not exist
 */
export async function endJob({
  env,
  jobId,
  required = {},
  ...end
}: { env: Env; jobId: string; required?: EndConditions } & JobEnd) {
  const { ended, addedEventIds, found } = await endJobs(env, [jobId], end, required)
  return { ended: ended[0], addedEventIds, found: found[0] }
}

/** Withdraws up to 50 pending jobs of a suspended organisation, in one transaction. */
export async function withdrawPending(env: Env, organisationId: string) {
  const pending = await jobsDatabase(env, organisationId)
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(eq(jobs.organisationId, organisationId), IS_IN_SWEEP_INDEX, eq(jobs.status, 'pending')),
    )
    .limit(MAX_WITHDRAWN)
  // Checked after the selection: an organisation that is reactivated later keeps its new jobs, which are
  // not selected.
  if (pending.length === 0 || (await standingOf(env, organisationId)).isOpen) {
    return { ended: [], addedEventIds: [] }
  }
  const ids = pending.map(({ id }) => id)
  return endJobs(env, ids, { from: 'pending', ending: { status: 'cancelled' } })
}

/** Ends those of the jobs that meet the conditions. All are of one organisation. */
async function endJobs(
  env: Env,
  jobIds: string[],
  { from, ending }: JobEnd,
  required: EndConditions = {},
) {
  const now = Date.now()
  const shape = [from, ending.status, ...Object.keys(ending), ...Object.keys(required)].join()
  let end = preparedEnds.get(shape)
  if (!end) preparedEnds.set(shape, (end = prepareEnd(from, ending, Object.keys(required))))
  const [ended, , added, found] = await end(jobsBinding(env, jobIds[0] ?? ''), {
    ...ending,
    organisationId: required.organisationId,
    workspaceIds: JSON.stringify(required.workspaceIds),
    dueAt: required.dueAt?.getTime(),
    jobIds: JSON.stringify(jobIds),
    now,
    sweepAt: now + UNQUEUED_AFTER_MS,
    // Retention deletes the events of older jobs, so that they are not inserted again.
    oldestJobId: firstIdSince('job', now - RETENTION_DAYS.webhooks * DAY_MS),
  })
  return { ended, addedEventIds: added.map(({ id }) => id), found }
}

/** The statements of an end, by the shape of its arguments. The shapes are few. */
const preparedEnds = new Map<string, ReturnType<typeof prepareEnd>>()

/** A value that `endJobs` passes. */
const value = (name: string): SQL => sql`${sql.placeholder(name)}`

/** Selects the jobs. */
const WHICH = sql`${jobs.id} in (select value from json_each(${value('jobIds')}))`

/** A completed job does not keep the failures of its earlier attempts. */
const NO_FAILURE = {
  errorCode: null,
  failureReason: null,
  failureAudience: null,
} satisfies Partial<JobRow>

/** Updates the jobs and inserts their events: one for their webhook URL, one for each added endpoint. */
function prepareEnd(from: JobStatus, ending: JobEnd['ending'], required: string[]) {
  const conditions = [
    required.includes('organisationId') && eq(jobs.organisationId, value('organisationId')),
    required.includes('dueAt') && eq(jobs.dueAt, value('dueAt')),
    required.includes('workspaceIds') &&
      sql`${jobs.workspaceId} in (select value from json_each(${value('workspaceIds')}))`,
  ].filter((condition) => condition !== false)
  return preparedBatch((db) => [
    db
      .update(jobs)
      .set({
        ...Object.fromEntries(Object.keys(ending).map((name) => [name, value(name)])),
        engineHandle: null,
        sweepAt: NO_SWEEP,
        ...(ending.status === 'completed' && { completedAt: value('now'), ...NO_FAILURE }),
        ...(from === 'pending' && { cancelledAt: value('now') }),
        ...(from === 'processing' && {
          durationMs: sql`max(0, ${value('now')} - ${jobs.startedAt})`,
        }),
      })
      .where(and(WHICH, eq(jobs.status, from), ...conditions))
      .returning(),
    insertOwnEvents(db, ending.status),
    insertAddedEvents(db, ending.status),
    db
      .select({
        organisationId: jobs.organisationId,
        workspaceId: jobs.workspaceId,
        status: jobs.status,
      })
      .from(jobs)
      .where(WHICH),
  ])
}

/** Inserts an event for each of the jobs that has this status and a webhook URL, unless stored. */
const insertOwnEvents = (db: Database, status: FinalStatus) =>
  db
    .insert(webhookEvents)
    .select(
      db
        .select(
          eventOf(status, {
            id: OWN_EVENT_ID,
            url: sql`${jobs.webhookUrl}`,
            endpointId: sql`nullif(${jobs.testEventFor}, ${DEFAULT_ENDPOINT})`,
          }),
        )
        .from(jobs)
        .where(and(isEnded(status), isNotNull(jobs.webhookUrl))),
    )
    .onConflictDoNothing()

/**
 * Inserts an event for each of the jobs that has this status and each enabled endpoint that receives it,
 * unless stored. Returns the ids. Reads one row of a job when its organisation has no added endpoints.
 */
const insertAddedEvents = (db: Database, status: FinalStatus) =>
  db
    .insert(webhookEvents)
    .select(
      db
        .select(
          eventOf(status, {
            // The same as addedEventIdOf.
            id: sql`${OWN_EVENT_ID} || '_' ||
              substr(${webhookEndpoints.id}, ${sql.raw(String(-ENDPOINT_SUFFIX_LENGTH))})`,
            url: sql`${webhookEndpoints.url}`,
            endpointId: sql`${webhookEndpoints.id}`,
          }),
        )
        .from(jobs)
        .innerJoin(webhookEndpoints, eq(webhookEndpoints.organisationId, jobs.organisationId))
        .where(
          and(
            isEnded(status),
            isNull(jobs.testEventFor),
            eq(webhookEndpoints.enabled, sql`1`),
            ADDED_BEFORE_END,
            or(isNull(webhookEndpoints.mode), eq(webhookEndpoints.mode, jobs.mode)),
            sql`instr(${webhookEndpoints.types}, ${`"job.${status}"`}) > 0`,
          ),
        ),
    )
    .onConflictDoNothing()
    .returning({ id: webhookEvents.id })

const OWN_EVENT_ID = sql`'evt_' || substr(${jobs.id}, 5)` // the same as eventIdOf

/**
 * Ending a job again inserts nothing for endpoints that were added after the end. The end of a failed job
 * is not stored as a time, but calculated from its start.
 */
const ADDED_BEFORE_END = sql`${webhookEndpoints.createdAt} <= coalesce(${jobs.completedAt},
  ${jobs.cancelledAt}, ${jobs.startedAt} + ${jobs.durationMs}, ${jobs.createdAt})`

/** Selects those of the jobs that have this status. Old ones get no event. */
const isEnded = (status: FinalStatus) =>
  and(WHICH, eq(jobs.status, status), gte(jobs.id, value('oldestJobId')))

/** The columns of a new event, in the order of the table. */
const eventOf = (
  status: FinalStatus,
  { id, url, endpointId }: Record<'id' | 'url' | 'endpointId', SQL>,
) => ({
  id: sql<string>`${id}`.as('id'),
  organisationId: jobs.organisationId,
  jobId: sql<string>`${jobs.id}`.as('job_id'),
  type: valueFor(`job.${status}` as const, webhookEvents.type),
  url: sql<string>`${url}`.as('url'),
  status: valueFor('pending' as const, webhookEvents.status),
  attempts: valueFor(0, webhookEvents.attempts),
  dueAt: sql<Date>`${value('now')}`.as('due_at'),
  sweepAt: sql<Date>`${value('sweepAt')}`.as('sweep_at'),
  createdAt: sql<Date>`${value('now')}`.as('created_at'),
  endpointId: sql<string>`${endpointId}`.as('added_endpoint_id'),
})

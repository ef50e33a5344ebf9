// The statements that insert the webhook events of ended jobs, for the transaction that ends them: one
// event for the webhook URL of a job, and one for each added endpoint that receives it.
import { and, eq, gte, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { valueFor } from '../db/client.ts'
import type { Database } from '../db/client.ts'
import { jobs } from '../db/schema.ts'
import { addedWebhookEndpoints, webhookEvents } from '../db/webhook-schema.ts'
import type { FinalStatus } from '../domain/job.ts'
import { DEFAULT_ENDPOINT } from '../domain/webhook.ts'
import { ENDPOINT_SUFFIX_LENGTH } from '../ids.ts'

/** The jobs that have ended, and the columns of their events. */
interface EndedJobs {
  which: SQL
  status: FinalStatus
  now: SQL
  sweepAt: SQL
  /** Older jobs get no event. */
  oldestJobId: SQL
}

/** Inserts an event for each of the jobs that has this status and a webhook URL, unless stored. */
export const insertOwnEvents = (db: Database, { which, ...ended }: EndedJobs) =>
  db
    .insert(webhookEvents)
    .select(
      db
        .select({
          id: sql<string>`${OWN_EVENT_ID}`.as('id'),
          ...columns(ended),
          url: sql<string>`${jobs.webhookUrl}`.as('url'),
          ...pending(ended),
          addedEndpointId: sql<string>`nullif(${jobs.testEventFor}, ${DEFAULT_ENDPOINT})`.as(
            'added_endpoint_id',
          ),
        })
        .from(jobs)
        .where(and(which, isEnded(ended), isNotNull(jobs.webhookUrl))),
    )
    .onConflictDoNothing()

/**
 * Inserts an event for each of the jobs that has this status and each enabled endpoint that receives it,
 * unless stored. Returns the ids. Reads one row of a job when its organisation has no added endpoints.
 */
export const insertAddedEvents = (db: Database, { which, ...ended }: EndedJobs) =>
  db
    .insert(webhookEvents)
    .select(
      db
        .select({
          id: sql<string>`${OWN_EVENT_ID} || '_' ||
            substr(${addedWebhookEndpoints.id}, ${sql.raw(String(-ENDPOINT_SUFFIX_LENGTH))})`.as(
            'id',
          ), // the same as addedEventIdOf
          ...columns(ended),
          url: sql<string>`${addedWebhookEndpoints.url}`.as('url'),
          ...pending(ended),
          addedEndpointId: sql<string>`${addedWebhookEndpoints.id}`.as('added_endpoint_id'),
        })
        .from(jobs)
        .innerJoin(
          addedWebhookEndpoints,
          eq(addedWebhookEndpoints.organisationId, jobs.organisationId),
        )
        .where(
          and(
            which,
            isEnded(ended),
            isNull(jobs.testEventFor),
            eq(addedWebhookEndpoints.enabled, sql`1`),
            ADDED_BEFORE_END,
            or(isNull(addedWebhookEndpoints.mode), eq(addedWebhookEndpoints.mode, jobs.mode)),
            sql`instr(${addedWebhookEndpoints.types}, ${`"job.${ended.status}"`}) > 0`,
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
const ADDED_BEFORE_END = sql`${addedWebhookEndpoints.createdAt} <= coalesce(${jobs.completedAt},
  ${jobs.cancelledAt}, ${jobs.startedAt} + ${jobs.durationMs}, ${jobs.createdAt})`

const isEnded = ({ status, oldestJobId }: Omit<EndedJobs, 'which'>) =>
  and(eq(jobs.status, status), gte(jobs.id, oldestJobId))

const columns = ({ status }: Omit<EndedJobs, 'which'>) => ({
  organisationId: jobs.organisationId,
  jobId: sql<string>`${jobs.id}`.as('job_id'),
  type: valueFor(`job.${status}` as const, webhookEvents.type),
})

const pending = ({ now, sweepAt }: Omit<EndedJobs, 'which'>) => ({
  status: valueFor('pending' as const, webhookEvents.status),
  attempts: valueFor(0, webhookEvents.attempts),
  dueAt: sql<Date>`${now}`.as('due_at'),
  sweepAt: sql<Date>`${sweepAt}`.as('sweep_at'),
  createdAt: sql<Date>`${now}`.as('created_at'),
})

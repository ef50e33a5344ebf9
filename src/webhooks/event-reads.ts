// The SQL that reads webhook events and attempts of an organisation.
import { jobInWorkspaces, type WorkspaceIds } from '../organisations/workspace-rights.ts'
import { and, between, desc, eq, getTableColumns, lt, sql, type SQL } from 'drizzle-orm'
import { jobsDatabase } from '../platform/db/database.ts'
import { jobs } from '../platform/db/schema.ts'
import {
  webhookAttempts,
  webhookEvents,
  type WebhookAttemptRow,
  type WebhookEventRow,
} from '../platform/db/webhook-schema.ts'
import type { Mode } from '../domain/job.ts'
import type { RequestSource } from './delivery/request.ts'
import { missingEndpointOf } from './endpoints/default-endpoint.ts'
import { selectEndpointOf } from './endpoints/endpoint-store.ts'

/** The events that `recentOutcomes` reads at most. */
const RECENT_EVENTS = 500

/** An organisation's events, newest first. `beforeId` is the last of the previous page. */
export const eventsOf = (
  env: Env,
  organisationId: string,
  { limit, beforeId }: { limit: number; beforeId: string | undefined },
): Promise<WebhookEventRow[]> =>
  jobsDatabase(env, organisationId)
    .select()
    .from(webhookEvents)
    .where(
      and(
        eq(webhookEvents.organisationId, organisationId),
        beforeId === undefined ? undefined : lt(webhookEvents.id, beforeId),
      ),
    )
    .orderBy(desc(webhookEvents.id))
    .limit(limit)

/** One event. */
export async function findEvent(
  env: Env,
  organisationId: string,
  {
    eventId,
    workspaceIds,
    mode,
  }: { eventId: string; workspaceIds?: WorkspaceIds; mode?: Mode | undefined },
): Promise<WebhookEventRow | undefined> {
  const [event] = await jobsDatabase(env, organisationId)
    .select()
    .from(webhookEvents)
    .where(
      and(
        eq(webhookEvents.id, eventId),
        eq(webhookEvents.organisationId, organisationId),
        jobInWorkspaces(workspaceIds, webhookEvents.jobId),
        mode &&
          sql`${mode} = (select ${jobs.mode} from ${jobs} where ${jobs.id} = ${webhookEvents.jobId})`,
      ),
    )
  return event
}

/** One event, and what its requests are created from. */
export async function findEventSource(
  env: Env,
  organisationId: string,
  options: { eventId: string; workspaceIds?: WorkspaceIds },
): Promise<RequestSource | undefined> {
  const event = await findEvent(env, organisationId, options)
  if (!event) return undefined
  const db = jobsDatabase(env, organisationId)
  const [[job], [endpoint]] = await db.batch([
    db.select().from(jobs).where(eq(jobs.id, event.jobId)),
    selectEndpointOf(db, event),
  ])
  return job && { event, job, endpoint: endpoint ?? (await missingEndpointOf(env, event)) }
}

/** When a receiver last responded with 2xx, and when an attempt last failed. */
export interface EndpointOutcome {
  /** Null for the default URL and the URLs of jobs. */
  endpointId: string | null
  url: string
  succeededAt: Date | null
  failedAt: Date | null
}

/** The outcomes of each receiver, from the latest `RECENT_EVENTS` events of an organisation or its workspaces. */
export async function recentOutcomes(
  env: Env,
  organisationId: string,
  workspaceIds?: WorkspaceIds,
): Promise<EndpointOutcome[]> {
  const db = jobsDatabase(env, organisationId)
  const recent = db
    .select({
      id: webhookEvents.id,
      url: webhookEvents.url,
      endpointId: webhookEvents.endpointId,
    })
    .from(webhookEvents)
    .where(
      and(
        eq(webhookEvents.organisationId, organisationId),
        jobInWorkspaces(workspaceIds, webhookEvents.jobId),
      ),
    )
    .orderBy(desc(webhookEvents.id))
    .limit(RECENT_EVENTS)
    .as('recent')
  const isSuccess = sql`coalesce(${webhookAttempts.responseStatus}, 0) between 200 and 299`
  const latest = (condition: SQL) =>
    sql<number | null>`max(case when ${condition} then ${webhookAttempts.at} end)`
  const rows = await db
    .select({
      endpointId: recent.endpointId,
      url: recent.url,
      succeededAt: latest(isSuccess),
      failedAt: latest(sql`not (${isSuccess})`),
    })
    .from(recent)
    .innerJoin(webhookAttempts, eq(webhookAttempts.eventId, recent.id))
    .groupBy(recent.endpointId, recent.url)
  const instant = (at: number | null) => (at === null ? null : new Date(at))
  return rows.map((row) => ({
    ...row,
    succeededAt: instant(row.succeededAt),
    failedAt: instant(row.failedAt),
  }))
}

/** The attempts of an organisation's events from id `first` to `last`, ordered by event and number. */
export const attemptsBetween = (
  env: Env,
  organisationId: string,
  { first, last, workspaceIds }: { first: string; last: string; workspaceIds?: WorkspaceIds },
): Promise<WebhookAttemptRow[]> =>
  jobsDatabase(env, organisationId)
    .select(getTableColumns(webhookAttempts))
    .from(webhookAttempts)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookAttempts.eventId))
    .where(
      and(
        eq(webhookEvents.organisationId, organisationId),
        between(webhookEvents.id, first, last),
        jobInWorkspaces(workspaceIds, webhookEvents.jobId),
      ),
    )
    .orderBy(webhookAttempts.eventId, webhookAttempts.number)

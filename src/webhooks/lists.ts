// The SQL of lists of webhook events and attempts, and of one event.
import { jobInWorkspaces } from '../access/workspace-rights.ts'
import type { WorkspaceIds } from '../access/workspace-rights.ts'
import { and, between, desc, eq, getTableColumns, lt, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { jobsDatabase } from '../db/shards.ts'
import { jobs, organisations } from '../db/schema.ts'
import { addedWebhookEndpoints, webhookAttempts, webhookEvents } from '../db/webhook-schema.ts'
import type { WebhookAttemptRow, WebhookEventRow } from '../db/webhook-schema.ts'
import type { RequestSource } from './request.ts'

/** The events that `recentOutcomes` reads at most. */
const RECENT_EVENTS = 500

/** An organisation's events, newest first. @param page `beforeId` is the last of the previous page */
export const eventsOf = (
  env: Env,
  organisationId: string,
  page: { limit: number; beforeId?: string | undefined; workspaceIds?: WorkspaceIds },
): Promise<WebhookEventRow[]> =>
  jobsDatabase(env, organisationId)
    .select()
    .from(webhookEvents)
    .where(
      and(
        eq(webhookEvents.organisationId, organisationId),
        page.beforeId === undefined ? undefined : lt(webhookEvents.id, page.beforeId),
        jobInWorkspaces(page.workspaceIds, webhookEvents.jobId),
      ),
    )
    .orderBy(desc(webhookEvents.id))
    .limit(page.limit)

export async function findEvent(
  env: Env,
  {
    organisationId,
    eventId,
    workspaceIds,
  }: { organisationId: string; eventId: string; workspaceIds?: WorkspaceIds },
): Promise<WebhookEventRow | undefined> {
  const [event] = await jobsDatabase(env, organisationId)
    .select()
    .from(webhookEvents)
    .where(
      and(
        eq(webhookEvents.id, eventId),
        eq(webhookEvents.organisationId, organisationId),
        jobInWorkspaces(workspaceIds, webhookEvents.jobId),
      ),
    )
  return event
}

/** An event, and what its requests are created from. */
export async function findEventSource(
  env: Env,
  key: { organisationId: string; eventId: string; workspaceIds?: WorkspaceIds },
): Promise<RequestSource | undefined> {
  const event = await findEvent(env, key)
  if (!event) return undefined
  const { organisationId } = key
  const db = jobsDatabase(env, organisationId)
  const [[[job], [addedEndpoint]], [organisation]] = await Promise.all([
    db.batch([
      db.select().from(jobs).where(eq(jobs.id, event.jobId)),
      db
        .select()
        .from(addedWebhookEndpoints)
        .where(
          and(
            eq(addedWebhookEndpoints.organisationId, organisationId),
            eq(addedWebhookEndpoints.id, event.addedEndpointId ?? ''),
          ),
        ),
    ]),
    database(env).select().from(organisations).where(eq(organisations.id, organisationId)),
  ])
  return job && organisation && { event, job, organisation, addedEndpoint }
}

/** When a receiver last responded with 2xx, and when an attempt last failed. */
export interface EndpointOutcome {
  /** Null for the default URL and the URLs of jobs. */
  addedEndpointId: string | null
  url: string
  succeededAt: Date | null
  failedAt: Date | null
}

/** The outcomes of each receiver, from the latest `RECENT_EVENTS` events of an organisation. */
export async function recentOutcomes(env: Env, organisationId: string): Promise<EndpointOutcome[]> {
  const db = jobsDatabase(env, organisationId)
  const recent = db
    .select({
      id: webhookEvents.id,
      url: webhookEvents.url,
      addedEndpointId: webhookEvents.addedEndpointId,
    })
    .from(webhookEvents)
    .where(eq(webhookEvents.organisationId, organisationId))
    .orderBy(desc(webhookEvents.id))
    .limit(RECENT_EVENTS)
    .as('recent')
  const isSuccess = sql`coalesce(${webhookAttempts.responseStatus}, 0) between 200 and 299`
  const latest = (condition: SQL) =>
    sql<number | null>`max(case when ${condition} then ${webhookAttempts.at} end)`
  const rows = await db
    .select({
      addedEndpointId: recent.addedEndpointId,
      url: recent.url,
      succeededAt: latest(isSuccess),
      failedAt: latest(sql`not (${isSuccess})`),
    })
    .from(recent)
    .innerJoin(webhookAttempts, eq(webhookAttempts.eventId, recent.id))
    .groupBy(recent.addedEndpointId, recent.url)
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

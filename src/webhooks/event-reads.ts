// Reads webhook events and their attempts. For members who may read deliveries. For a test key, only the events
// of test jobs exist.
import { requirePermission, type OrganisationRequest } from '../organisations/authorisation.ts'
import { jobInWorkspaces, type WorkspaceIds } from '../organisations/workspace-rights.ts'
import { and, between, desc, eq, getTableColumns, lt, sql, type SQL } from 'drizzle-orm'
import { jobsDatabase } from '../platform/db/database.ts'
import { findNearby } from '../platform/db/read-sessions.ts'
import { jobs } from '../platform/db/schema.ts'
import {
  webhookAttempts,
  webhookEvents,
  type WebhookAttemptRow,
  type WebhookEventRow,
} from '../platform/db/webhook-schema.ts'
import { limitedModeOf } from '../domain/actor.ts'
import { AppError } from '../domain/errors.ts'
import type { Mode } from '../domain/job.ts'
import { recreateRequest } from './delivery/request.ts'
import { missingEndpointOf } from './endpoints/default-endpoint.ts'
import { selectEndpointOf } from './endpoints/endpoint-store.ts'

type EventRequest = OrganisationRequest & { eventId: string }

/** The events that `listEndpointOutcomes` reads at most. */
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

/** An event, only of a job in these workspaces and of this mode if they are given. */
interface EventKey {
  eventId: string
  workspaceIds?: WorkspaceIds
  mode?: Mode | undefined
}

export const findEvent = (
  env: Env,
  organisationId: string,
  { eventId, workspaceIds, mode }: EventKey,
) =>
  jobsDatabase(env, organisationId)
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
    .get()

/** One event, and what its requests are created from. */
async function findSource(env: Env, organisationId: string, key: EventKey) {
  const event = await findEvent(env, organisationId, key)
  if (!event) return undefined
  const db = jobsDatabase(env, organisationId)
  const [[job], [endpoint]] = await db.batch([
    db.select().from(jobs).where(eq(jobs.id, event.jobId)),
    selectEndpointOf(db, event),
  ])
  return job && { event, job, endpoint: endpoint ?? (await missingEndpointOf(env, event)) }
}

/** When a receiver last responded with 2xx, and when an attempt last failed; null if it has not. */
export type EndpointOutcome = Awaited<ReturnType<typeof listEndpointOutcomes>>[number]

/**
 * The outcomes of each receiver, from the latest `RECENT_EVENTS` events of the member's workspaces. `endpointId`
 * is null for the default URL and the URLs of jobs.
 * @throws AppError not_found
 */
export async function listEndpointOutcomes(request: OrganisationRequest) {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const { env, organisationId } = request
  const db = jobsDatabase(env, organisationId)
  const { id, url, endpointId, jobId } = webhookEvents
  const isOwn = eq(webhookEvents.organisationId, organisationId)
  const recent = db
    .select({ id, url, endpointId })
    .from(webhookEvents)
    .where(and(isOwn, jobInWorkspaces(workspaceIds, jobId)))
    .orderBy(desc(webhookEvents.id))
    .limit(RECENT_EVENTS)
    .as('recent')
  const isSuccess = sql`coalesce(${webhookAttempts.responseStatus}, 0) between 200 and 299`
  const latest = (condition: SQL): SQL<Date | null> =>
    sql`max(case when ${condition} then ${webhookAttempts.at} end)`.mapWith(webhookAttempts.at)
  return db
    .select({
      endpointId: recent.endpointId,
      url: recent.url,
      succeededAt: latest(isSuccess),
      failedAt: latest(sql`not (${isSuccess})`),
    })
    .from(recent)
    .innerJoin(webhookAttempts, eq(webhookAttempts.eventId, recent.id))
    .groupBy(recent.endpointId, recent.url)
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

/** @throws AppError not_found */
export async function readEvent(request: EventRequest): Promise<WebhookEventRow> {
  const { env, organisationId, eventId } = request
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const key = { eventId, workspaceIds, mode: limitedModeOf(request.actor) }
  const event = await findNearby(() => findEvent(env, organisationId, key))
  if (!event) throw new AppError('not_found')
  return event
}

/** An attempt, with the request that was sent if its signature is stored. */
export type AttemptDetails = Awaited<ReturnType<typeof readDelivery>>['attempts'][number]

/**
 * An event with its attempts, the latest first, and the requests that were sent.
 * @throws AppError not_found
 */
export async function readDelivery({ eventId, ...request }: EventRequest) {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const { env, organisationId } = request
  const [source, rows] = await Promise.all([
    findNearby(() => findSource(env, organisationId, { eventId, workspaceIds })),
    attemptsBetween(env, organisationId, { first: eventId, last: eventId }),
  ])
  if (!source) throw new AppError('not_found')
  const attempts = rows.toReversed().map(async (attempt) => ({
    attempt,
    request: await recreateRequest(env, source, attempt),
  }))
  return { source, attempts: await Promise.all(attempts) }
}

/**
 * The attempts at delivering an event, in order; none when the organisation has no such event.
 * @throws AppError not_found
 */
export async function listAttempts(request: EventRequest) {
  const { env, organisationId, eventId } = request
  const { workspaceIds } = await requirePermission(request, 'jobs')
  return attemptsBetween(env, organisationId, { first: eventId, last: eventId, workspaceIds })
}

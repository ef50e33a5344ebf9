// The list of deliveries with its filters, for members who may read deliveries. There is no index for the filters,
// since each would cost a row written for every event. A page reads at most `MAX_SCANNED` events instead, along
// the index of the organisation's events.
import { and, asc, desc, eq, gt, gte, lt, type SQL } from 'drizzle-orm'
import { requirePermission, type OrganisationRequest } from '../../organisations/authorisation.ts'
import { inWorkspaces, type WorkspaceIds } from '../../organisations/workspace-rights.ts'
import { jobsDatabase, type Database } from '../../platform/db/database.ts'
import { jobs } from '../../platform/db/schema.ts'
import { webhookAttempts, webhookEvents } from '../../platform/db/webhook-schema.ts'
import { limitedModeOf } from '../../domain/actor.ts'
import type { Mode } from '../../domain/job.ts'
import type { EventStatus, EventType } from '../../domain/webhook.ts'
import { eventIdOf } from '../../platform/ids.ts'
import { endpointIdOf, hasEndpoint } from '../endpoints/endpoint-store.ts'

/** The events that one page reads at most. */
export const MAX_SCANNED = 5_000
/** The events that one click sends again at most. */
export const MAX_RESENT = 1_000
/** Most pages need to read no more than this. */
const FIRST_SCAN = 500

export interface DeliveryFilter {
  /** Both modes without it. */
  mode?: Mode | undefined
  status?: EventStatus | undefined
  type?: EventType | undefined
  /** The id of an added endpoint, or `default` for the default URL and the URLs of jobs. */
  endpoint?: string | undefined
  /** Only the events of this job. */
  jobId?: string | undefined
  /** Only the events of jobs in these workspaces; null or undefined for all. */
  workspaceIds?: WorkspaceIds
}

/** Where a page starts: at the newest event, or next to an event. */
export interface PageStart {
  before?: string | undefined
  after?: string | undefined
}

/** A page of deliveries, newest first, and where its neighbours start. */
export type DeliveriesPage = Awaited<ReturnType<typeof scan>>
/** An event, and the outcome of its latest attempt. */
export type Delivery = DeliveriesPage['deliveries'][number]

type ListRequest = OrganisationRequest & {
  filter: DeliveryFilter
  start: PageStart
  limit: number
}

/**
 * A page of deliveries. It reads a bounded number of events, so it can be short although older events match.
 * @throws AppError not_found
 */
export async function listDeliveries(request: ListRequest): Promise<DeliveriesPage> {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const mode = limitedModeOf(request.actor) ?? request.filter.mode
  const query = { ...request, filter: { ...request.filter, mode, workspaceIds } }
  const first = await scan(query, FIRST_SCAN)
  return first.isPartial ? scan(query, MAX_SCANNED) : first
}

/**
 * Reads a page from at most `maxScanned` events.
 * @returns `older`: where older events continue, null at the end; `newer`: where newer ones continue, null on the
 *   first page; `isPartial`: whether the search ended before the page was full and the end was reached
 */
async function scan(
  { env, organisationId, filter, start, limit }: ListRequest,
  maxScanned: number,
) {
  const db = jobsDatabase(env, organisationId)
  const inDirection = start.after === undefined ? desc : asc
  const range = rangeOf(organisationId, filter, start)
  const scanned = scannedEvents(db, range, inDirection(webhookEvents.id), maxScanned)
  const [rows, [last]] = await db.batch([
    db
      .select({
        id: scanned.id,
        jobId: scanned.jobId,
        type: scanned.type,
        url: scanned.url,
        status: scanned.status,
        attempts: scanned.attempts,
        dueAt: scanned.dueAt,
        createdAt: scanned.createdAt,
        endpointId: scanned.endpointId,
        responseStatus: webhookAttempts.responseStatus,
        error: webhookAttempts.error,
      })
      .from(scanned)
      .innerJoin(jobs, eq(jobs.id, scanned.jobId))
      .leftJoin(
        webhookAttempts,
        and(eq(webhookAttempts.eventId, scanned.id), eq(webhookAttempts.number, scanned.attempts)),
      )
      .where(conditionsOf(scanned, filter))
      .orderBy(inDirection(scanned.id))
      .limit(limit + 1),
    db
      .select({ id: webhookEvents.id })
      .from(webhookEvents)
      .where(range)
      .orderBy(inDirection(webhookEvents.id))
      .limit(1)
      .offset(maxScanned - 1),
  ])
  const page = rows.slice(0, limit)
  const hasMore = rows.length > limit
  const continueAt = (hasMore ? page.at(-1)?.id : last?.id) ?? null
  const isPartial = !hasMore && last !== undefined
  if (start.after !== undefined) {
    const older = page[0]?.id ?? start.after
    return { deliveries: page.toReversed(), older, newer: continueAt, isPartial }
  }
  const newer = start.before === undefined ? null : (page[0]?.id ?? start.before)
  return { deliveries: page, older: continueAt, newer, isPartial }
}

/** The ids of the failed events of a filter: at most `MAX_RESENT` of the latest `MAX_SCANNED`. */
export async function findFailedEvents(env: Env, organisationId: string, filter: DeliveryFilter) {
  const rows = await selectFailed(env, organisationId, filter).limit(MAX_RESENT)
  return rows.map(({ id }) => id)
}

/** How many failed events of a filter can be sent again. @throws AppError not_found */
export async function countFailedDeliveries(
  request: OrganisationRequest & { filter: DeliveryFilter },
): Promise<number> {
  const { env, organisationId, filter } = request
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const failed = selectFailed(env, organisationId, { ...filter, workspaceIds })
  return jobsDatabase(env, organisationId).$count(failed)
}

function selectFailed(env: Env, organisationId: string, filter: DeliveryFilter) {
  const db = jobsDatabase(env, organisationId)
  const range = rangeOf(organisationId, filter, {})
  const scanned = scannedEvents(db, range, desc(webhookEvents.id), MAX_SCANNED)
  const isFailed = conditionsOf(scanned, { ...filter, status: 'failed' })
  return db
    .select({ id: scanned.id })
    .from(scanned)
    .innerJoin(jobs, eq(jobs.id, scanned.jobId))
    .where(and(isFailed, hasEndpoint(organisationId, scanned.endpointId)))
    .orderBy(desc(scanned.id))
}

const rangeOf = (organisationId: string, { jobId }: DeliveryFilter, start: PageStart) =>
  and(
    eq(webhookEvents.organisationId, organisationId),
    start.after === undefined ? undefined : gt(webhookEvents.id, start.after),
    start.before === undefined ? undefined : lt(webhookEvents.id, start.before),
    // The ids of all events of a job begin with that of its own event.
    jobId === undefined ? undefined : gte(webhookEvents.id, eventIdOf(jobId)),
    jobId === undefined ? undefined : lt(webhookEvents.id, `${eventIdOf(jobId)}\``),
  )

const scannedEvents = (db: Database, range: SQL | undefined, order: SQL, limit: number) =>
  db.select().from(webhookEvents).where(range).orderBy(order).limit(limit).as('scanned')

const conditionsOf = (
  scanned: ReturnType<typeof scannedEvents>,
  { mode, status, type, endpoint, workspaceIds }: DeliveryFilter,
) =>
  and(
    mode === undefined ? undefined : eq(jobs.mode, mode),
    status === undefined ? undefined : eq(scanned.status, status),
    type === undefined ? undefined : eq(scanned.type, type),
    endpoint === undefined ? undefined : eq(endpointIdOf(scanned), endpoint),
    inWorkspaces(workspaceIds),
  )

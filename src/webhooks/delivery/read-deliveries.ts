// Reads webhook events and their attempts. For members who may read deliveries. For a test key, only the events
// of test jobs exist.
import { requirePermission, type OrganisationRequest } from '../../organisations/authorisation.ts'
import { findNearby } from '../../platform/db/read-sessions.ts'
import type { WebhookAttemptRow, WebhookEventRow } from '../../platform/db/webhook-schema.ts'
import { limitedModeOf } from '../../domain/actor.ts'
import { AppError } from '../../domain/errors.ts'
import {
  countFailedEvents,
  scanDeliveries,
  type Delivery,
  type DeliveryFilter,
  type PageStart,
} from './deliveries-store.ts'
import {
  attemptsBetween,
  findEvent,
  findEventSource,
  recentOutcomes,
  type EndpointOutcome,
} from '../event-reads.ts'
import { recreateRequest, type RequestSource } from './request.ts'

type EventRequest = OrganisationRequest & { eventId: string }

/** A page of deliveries, and where its neighbours start. */
export interface DeliveriesPage {
  deliveries: Delivery[]
  /** Continues towards older events; null at the end. */
  older: string | null
  /** Continues towards newer events; null on the first page. */
  newer: string | null
  /** Whether the search ended before the page was full and the end was reached. */
  isPartial: boolean
}

/**
 * A page of deliveries, newest first. A page reads a bounded number of events, so it can be short
 * although older events match.
 * @throws AppError not_found
 */
export async function listDeliveries(
  request: OrganisationRequest & { filter: DeliveryFilter; start: PageStart; limit: number },
): Promise<DeliveriesPage> {
  const { env, organisationId, filter, start, limit } = request
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const { deliveries, continueAt, isPartial } = await scanDeliveries(env, organisationId, {
    filter: { ...filter, mode: limitedModeOf(request.actor) ?? filter.mode, workspaceIds },
    start,
    limit,
  })
  if (start.after !== undefined) {
    const older = deliveries.at(-1)?.id ?? start.after
    return { deliveries, older, newer: continueAt, isPartial }
  }
  const newer = start.before === undefined ? null : (deliveries[0]?.id ?? start.before)
  return { deliveries, older: continueAt, newer, isPartial }
}

/**
 * How many failed events of a filter can be sent again.
 * @throws AppError not_found
 */
export async function countFailedDeliveries({
  filter,
  ...request
}: OrganisationRequest & { filter: DeliveryFilter }): Promise<number> {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  return countFailedEvents(request.env, request.organisationId, { ...filter, workspaceIds })
}

/**
 * The latest success and failure of each receiver, among the latest events of the organisation.
 * @throws AppError not_found
 */
export async function listEndpointOutcomes(
  request: OrganisationRequest,
): Promise<EndpointOutcome[]> {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  return recentOutcomes(request.env, request.organisationId, workspaceIds)
}

/** @throws AppError not_found */
export async function readEvent({ eventId, ...request }: EventRequest): Promise<WebhookEventRow> {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const { env, organisationId } = request
  const mode = limitedModeOf(request.actor)
  const options = { eventId, workspaceIds, mode }
  const event = await findNearby(() => findEvent(env, organisationId, options))
  if (!event) throw new AppError('not_found')
  return event
}

/** An attempt, with the request that was sent if its signature is stored. */
export interface AttemptDetails {
  attempt: WebhookAttemptRow
  request: Awaited<ReturnType<typeof recreateRequest>>
}

/**
 * An event with its attempts, the latest first, and the requests that were sent.
 * @throws AppError not_found
 */
export async function readDelivery({ eventId, ...request }: EventRequest): Promise<{
  source: RequestSource
  attempts: AttemptDetails[]
}> {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const { env, organisationId } = request
  const [source, rows] = await Promise.all([
    findNearby(() => findEventSource(env, organisationId, { eventId, workspaceIds })),
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
export async function listAttempts({
  eventId,
  ...request
}: EventRequest): Promise<WebhookAttemptRow[]> {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  return attemptsBetween(request.env, request.organisationId, {
    first: eventId,
    last: eventId,
    workspaceIds,
  })
}

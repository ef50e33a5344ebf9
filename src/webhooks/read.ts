// Reads webhook events and their attempts. For the permission `jobs`.
import { requirePermission } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import type { WebhookAttemptRow, WebhookEventRow } from '../db/webhook-schema.ts'
import { AppError } from '../domain/errors.ts'
import { attemptsBetween, eventsOf, findEvent } from './lists.ts'

type EventRequest = OrganisationRequest & { eventId: string }

/**
 * A page of events, newest first.
 * @param beforeId the last event of the previous page
 * @throws AppError not_found
 */
export async function listEvents({
  env,
  actor,
  organisationId,
  limit,
  beforeId,
}: OrganisationRequest & { limit: number; beforeId?: string | undefined }): Promise<
  WebhookEventRow[]
> {
  const { workspaceIds } = await requirePermission({ env, actor, organisationId }, 'jobs')
  return eventsOf(env, organisationId, { limit, beforeId, workspaceIds })
}

/** @throws AppError not_found */
export async function readEvent({
  env,
  actor,
  organisationId,
  eventId,
}: EventRequest): Promise<WebhookEventRow> {
  const { workspaceIds } = await requirePermission({ env, actor, organisationId }, 'jobs')
  const event = await findEvent(env, { organisationId, eventId, workspaceIds })
  if (!event) throw new AppError('not_found')
  return event
}

/**
 * The attempts at delivering an event, in order; none when the organisation has no such event.
 * @throws AppError not_found
 */
export async function listAttempts({
  env,
  actor,
  organisationId,
  eventId,
}: EventRequest): Promise<WebhookAttemptRow[]> {
  const { workspaceIds } = await requirePermission({ env, actor, organisationId }, 'jobs')
  return attemptsBetween(env, organisationId, {
    first: eventId,
    last: eventId,
    workspaceIds,
  })
}

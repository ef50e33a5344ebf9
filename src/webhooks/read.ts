// Reads webhook events and their attempts. For members.
import { requireMember } from '../access/authorisation.ts'
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
  await requireMember({ env, actor, organisationId })
  return eventsOf(env, organisationId, { limit, beforeId })
}

/** @throws AppError not_found */
export async function readEvent({
  env,
  actor,
  organisationId,
  eventId,
}: EventRequest): Promise<WebhookEventRow> {
  await requireMember({ env, actor, organisationId })
  const event = await findEvent(env, { organisationId, eventId })
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
  await requireMember({ env, actor, organisationId })
  return attemptsBetween(env, organisationId, { first: eventId, last: eventId })
}

// Resends events at the request of a member, outside the schedule. Each change has its entry in the audit log.
import { and, eq, gt, inArray, or } from 'drizzle-orm'
import { limitedModeOf } from '../../domain/actor.ts'
import { recorded, type AuditEntry } from '../../organisations/audit-log.ts'
import { requirePermission, type OrganisationRequest } from '../../organisations/authorisation.ts'
import { hasChanged, listed, jobsDatabase } from '../../platform/db/database.ts'
import { dueFrom, UNQUEUED_AFTER_MS } from '../../platform/db/due.ts'
import { webhookEvents } from '../../platform/db/webhook-schema.ts'
import { logError } from '../../platform/log.ts'
import { batchesOf } from '../../platform/queues/batches.ts'
import { findFailedEvents, type DeliveryFilter } from './read-deliveries.ts'
import { hasEndpoint } from '../endpoints/endpoint-store.ts'
import { ATTEMPT_LEASE_MS } from '../endpoints/failing-receiver-store.ts'
import { findEvent } from '../event-reads.ts'

/** How many messages of one click become due in each second, so that no receiver is flooded. */
const RESENT_PER_SECOND = 10

/**
 * Delivers an event again, with any status. An event that waits for a retry is attempted immediately.
 * For developers.
 * @returns false when there is no such event, its endpoint is deleted, or an attempt is in progress
 * @throws AppError not_found
 */
export async function resendEvent(request: OrganisationRequest & { eventId: string }) {
  const { env, actor, organisationId, eventId } = request
  const { workspaceIds } = await requirePermission(request, 'develop')
  const limits = { workspaceIds, mode: limitedModeOf(actor) }
  if (
    (limits.workspaceIds || limits.mode) &&
    !(await findEvent(env, organisationId, { eventId, ...limits }))
  ) {
    return false
  }
  const entry = { ...request, action: 'webhook_event.resent', target: eventId } as const
  if (!(await reopenEvent(eventId, entry))) return false
  await env.WEBHOOKS.send({ eventId, organisationId, manual: true }).catch(
    logError('attempt not queued', { eventId }),
  )
  return true
}

/**
 * Delivers the failed events of a filter again: at most `MAX_RESENT` of the latest `MAX_SCANNED`. Like
 * other deliveries, an event is retried if the rest of its schedule allows it. Events of disabled
 * endpoints fail again without an attempt. For developers.
 * @returns how many events are sent again
 * @throws AppError not_found
 */
export async function resendFailedEvents(
  request: OrganisationRequest & { filter: DeliveryFilter },
): Promise<number> {
  const { env, organisationId, filter } = request
  const { workspaceIds } = await requirePermission(request, 'develop')
  const failed = await findFailedEvents(env, organisationId, { ...filter, workspaceIds })
  if (failed.length === 0) return 0
  const entry: AuditEntry = {
    ...request,
    action: 'webhook_events.resent',
    details: {
      events: failed.length,
      mode: filter.mode ?? null,
      type: filter.type ?? null,
      endpoint: filter.endpoint ?? null,
    },
  }
  const now = Date.now()
  const lastAt = now + (failed.length / RESENT_PER_SECOND) * 1_000
  const reopened = await recorded(
    entry,
    () =>
      jobsDatabase(env, organisationId)
        .update(webhookEvents)
        .set({
          status: 'retrying',
          dueAt: new Date(now),
          sweepAt: new Date(lastAt + UNQUEUED_AFTER_MS),
        })
        .where(and(inArray(webhookEvents.id, listed(failed)), eq(webhookEvents.status, 'failed')))
        .returning({ id: webhookEvents.id }),
    ({ length }) => length > 0,
  )
  const messages = reopened.map(({ id: eventId }, index) => ({
    body: { eventId, organisationId },
    delaySeconds: Math.floor(index / RESENT_PER_SECOND),
  }))
  for (const batch of batchesOf(messages)) {
    // The sweep queues events whose message was lost.
    await env.WEBHOOKS.sendBatch(batch).catch(logError('attempts not queued', { organisationId }))
  }
  return reopened.length
}

/**
 * Makes an event due now, and records it in the audit log.
 * @returns false when there is none, its added endpoint is deleted, or an attempt may be in progress
 */
async function reopenEvent(eventId: string, entry: AuditEntry): Promise<boolean> {
  const now = new Date()
  const { env, organisationId } = entry
  const db = jobsDatabase(env, organisationId)
  const canReopen = and(
    eq(webhookEvents.id, eventId),
    eq(webhookEvents.organisationId, organisationId),
    or(
      inArray(webhookEvents.status, ['delivered', 'failed']),
      // The event is due after the end of any lease, so no attempt is in progress.
      gt(webhookEvents.dueAt, new Date(now.getTime() + ATTEMPT_LEASE_MS)),
    ),
    hasEndpoint(organisationId, webhookEvents.endpointId),
  )
  const events = await db.select({ id: webhookEvents.id }).from(webhookEvents).where(canReopen)
  if (events.length === 0) return false
  const change = { status: 'retrying', ...dueFrom(now) } as const
  return recorded(entry, () => hasChanged(db.update(webhookEvents).set(change).where(canReopen)))
}

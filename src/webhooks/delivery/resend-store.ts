// The SQL that makes events due again, each change with its entry in the audit log.
import { and, eq, gt, inArray, or } from 'drizzle-orm'
import { recorded } from '../../organisations/audit-log.ts'
import type { AuditEntry } from '../../organisations/audit-log.ts'
import { listed } from '../../platform/db/database.ts'
import { jobsDatabase } from '../../platform/db/shards.ts'
import { dueFrom, UNQUEUED_AFTER_MS } from '../../platform/db/due.ts'
import { webhookEvents } from '../../platform/db/webhook-schema.ts'
import { hasEndpoint } from '../endpoints/endpoint-store.ts'
import { ATTEMPT_LEASE_MS } from '../endpoints/failing-receiver-store.ts'

/**
 * Makes an event due now, and records it in the audit log.
 * @returns false when there is none, its added endpoint is deleted, or an attempt may be in progress
 */
export async function reopenEvent(env: Env, eventId: string, entry: AuditEntry): Promise<boolean> {
  const now = new Date()
  const { organisationId } = entry
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
  return recorded(env, entry, async () => {
    const { meta } = await db
      .update(webhookEvents)
      .set({ status: 'retrying', ...dueFrom(now) })
      .where(canReopen)
    return meta.changes > 0
  })
}

/**
 * Makes failed events due now, and records it in the audit log.
 * @param sweepAfterSeconds when the last of their messages is due
 * @returns the events that were still failed
 */
export async function reopenFailedEvents(
  env: Env,
  eventIds: string[],
  { sweepAfterSeconds, entry }: { sweepAfterSeconds: number; entry: AuditEntry },
): Promise<string[]> {
  const now = Date.now()
  let reopened: { id: string }[] = []
  await recorded(env, entry, async () => {
    reopened = await jobsDatabase(env, entry.organisationId)
      .update(webhookEvents)
      .set({
        status: 'retrying',
        dueAt: new Date(now),
        sweepAt: new Date(now + sweepAfterSeconds * 1_000 + UNQUEUED_AFTER_MS),
      })
      .where(and(inArray(webhookEvents.id, listed(eventIds)), eq(webhookEvents.status, 'failed')))
      .returning({ id: webhookEvents.id })
    return reopened.length > 0
  })
  return reopened.map(({ id }) => id)
}

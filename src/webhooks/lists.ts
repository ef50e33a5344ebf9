// The SQL of lists of webhook events and attempts, and of one event.
import { and, between, desc, eq, getTableColumns, lt } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { webhookAttempts, webhookEvents } from '../db/webhook-schema.ts'
import type { WebhookAttemptRow, WebhookEventRow } from '../db/webhook-schema.ts'

/** An organisation's events, newest first. @param page `beforeId` is the last of the previous page */
export const eventsOf = (
  env: Env,
  organisationId: string,
  page: { limit: number; beforeId?: string | undefined },
): Promise<WebhookEventRow[]> =>
  database(env)
    .select()
    .from(webhookEvents)
    .where(
      and(
        eq(webhookEvents.organisationId, organisationId),
        page.beforeId === undefined ? undefined : lt(webhookEvents.id, page.beforeId),
      ),
    )
    .orderBy(desc(webhookEvents.id))
    .limit(page.limit)

export async function findEvent(
  env: Env,
  { organisationId, eventId }: { organisationId: string; eventId: string },
): Promise<WebhookEventRow | undefined> {
  const [event] = await database(env)
    .select()
    .from(webhookEvents)
    .where(and(eq(webhookEvents.id, eventId), eq(webhookEvents.organisationId, organisationId)))
  return event
}

/** The attempts of an organisation's events from id `first` to `last`, ordered by event and number. */
export const attemptsBetween = (
  env: Env,
  organisationId: string,
  { first, last }: { first: string; last: string },
): Promise<WebhookAttemptRow[]> =>
  database(env)
    .select(getTableColumns(webhookAttempts))
    .from(webhookAttempts)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookAttempts.eventId))
    .where(
      and(eq(webhookEvents.organisationId, organisationId), between(webhookEvents.id, first, last)),
    )
    .orderBy(webhookAttempts.eventId, webhookAttempts.number)

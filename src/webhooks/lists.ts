// The SQL of lists of webhook events and attempts, and of one event.
import { and, between, desc, eq, getTableColumns, lt } from 'drizzle-orm'
import { jobInWorkspaces } from '../access/workspace-rights.ts'
import type { WorkspaceIds } from '../access/workspace-rights.ts'
import { database } from '../db/client.ts'
import { webhookAttempts, webhookEvents } from '../db/webhook-schema.ts'
import type { WebhookAttemptRow, WebhookEventRow } from '../db/webhook-schema.ts'

/** An organisation's events, newest first. @param page `beforeId` is the last of the previous page */
export const eventsOf = (
  env: Env,
  organisationId: string,
  page: { limit: number; beforeId?: string | undefined; workspaceIds?: WorkspaceIds },
): Promise<WebhookEventRow[]> =>
  database(env)
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
  const [event] = await database(env)
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

/** The attempts of an organisation's events from id `first` to `last`, ordered by event and number. */
export const attemptsBetween = (
  env: Env,
  organisationId: string,
  { first, last, workspaceIds }: { first: string; last: string; workspaceIds?: WorkspaceIds },
): Promise<WebhookAttemptRow[]> =>
  database(env)
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

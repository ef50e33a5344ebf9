// Counts of an organisation's webhook events for the overview.
import { and, count, desc, eq, gte, sql } from 'drizzle-orm'
import { requirePermission, type OrganisationRequest } from '../organisations/authorisation.ts'
import { selectedWorkspaces, inWorkspaces } from '../organisations/workspace-rights.ts'
import { jobs } from '../platform/db/schema.ts'
import { jobsDatabase } from '../platform/db/database.ts'
import { webhookEvents } from '../platform/db/webhook-schema.ts'
import { firstIdSince } from '../platform/ids.ts'
import type { Mode } from '../domain/job.ts'
import type { EventStatus } from '../domain/webhook.ts'

/** The maximum number of events that one page counts. */
export const MAX_COUNTED_EVENTS = 5_000

export type WebhookStatistics = Awaited<ReturnType<typeof readWebhookStatistics>>

/**
 * The events of jobs that were created since `since` (ms) in one mode, of one workspace or of all that the
 * member may access. For the permission `jobs`.
 * @throws AppError not_found
 */
export async function readWebhookStatistics(
  request: OrganisationRequest & { mode: Mode; since: number; workspaceId?: string | undefined },
) {
  const { env, organisationId, mode, since, workspaceId } = request
  const access = await requirePermission(request, 'jobs')
  const workspaceIds = selectedWorkspaces(access, workspaceId)
  const db = jobsDatabase(env, organisationId)
  const isSince = gte(webhookEvents.id, firstIdSince('evt', since))
  const newest = db
    .select({ jobId: webhookEvents.jobId, status: webhookEvents.status })
    .from(webhookEvents)
    .where(and(eq(webhookEvents.organisationId, organisationId), isSince))
    .orderBy(desc(webhookEvents.id))
    .limit(MAX_COUNTED_EVENTS)
    .as('newest')
  const isSelected = sql`${and(eq(jobs.mode, mode), inWorkspaces(workspaceIds))}`
  const counts = await db
    .select({ status: newest.status, isSelected: isSelected.mapWith(Boolean), count: count() })
    .from(newest)
    .innerJoin(jobs, eq(jobs.id, newest.jobId))
    .groupBy(sql`1`, sql`2`)
  const total = (selected: typeof counts) => selected.reduce((sum, { count }) => sum + count, 0)
  const withStatus = (...statuses: EventStatus[]) =>
    total(counts.filter(({ isSelected, status }) => isSelected && statuses.includes(status)))
  return {
    delivered: withStatus('delivered'),
    failed: withStatus('failed'),
    /** Events that wait for their first attempt or for a retry. */
    retrying: withStatus('pending', 'retrying'),
    /** Whether there are more events than were counted: the newest MAX_COUNTED_EVENTS. */
    isLimited: total(counts) >= MAX_COUNTED_EVENTS,
  }
}

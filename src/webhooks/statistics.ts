// Counts of an organisation's webhook events for the overview.
import { and, desc, eq, gte, sql } from 'drizzle-orm'
import { requirePermission, selectedWorkspaces } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { inWorkspaces } from '../access/workspace-rights.ts'
import { jobsDatabase } from '../db/shards.ts'
import { jobs } from '../db/schema.ts'
import { webhookEvents } from '../db/webhook-schema.ts'
import { firstIdSince } from '../ids.ts'
import type { Mode } from '../domain/job.ts'

/** The maximum number of events that one page counts. */
export const MAX_COUNTED_EVENTS = 5_000

export interface WebhookStatistics {
  delivered: number
  failed: number
  /** Events that wait for their first attempt or for a retry. */
  retrying: number
  /** Whether there are more events than were counted: the newest MAX_COUNTED_EVENTS. */
  isLimited: boolean
}

/**
 * The events of jobs that were created since `since` (ms) in one mode, of one workspace or of all that the
 * member may access. For the permission `jobs`.
 * @throws AppError not_found
 */
export async function readWebhookStatistics({
  mode,
  since,
  workspaceId,
  ...request
}: OrganisationRequest & {
  mode: Mode
  since: number
  workspaceId?: string | undefined
}): Promise<WebhookStatistics> {
  const access = await requirePermission(request, 'jobs')
  const workspaceIds = selectedWorkspaces(access, workspaceId)
  const db = jobsDatabase(request.env, request.organisationId)
  const newest = db
    .select({ jobId: webhookEvents.jobId, status: webhookEvents.status })
    .from(webhookEvents)
    .where(
      and(
        eq(webhookEvents.organisationId, request.organisationId),
        gte(webhookEvents.id, firstIdSince('evt', since)),
      ),
    )
    .orderBy(desc(webhookEvents.id))
    .limit(MAX_COUNTED_EVENTS)
    .as('newest')
  const isSelected = sql`${and(eq(jobs.mode, mode), inWorkspaces(workspaceIds))}`
  const counts = await db
    .select({
      status: newest.status,
      isSelected: isSelected.mapWith(Boolean),
      count: sql<number>`count(*)`,
    })
    .from(newest)
    .innerJoin(jobs, eq(jobs.id, newest.jobId))
    .groupBy(sql`1`, sql`2`)
  const statistics = { delivered: 0, failed: 0, retrying: 0, isLimited: false }
  let counted = 0
  for (const { status, isSelected: selected, count } of counts) {
    counted += count
    if (selected) statistics[status === 'pending' ? 'retrying' : status] += count
  }
  statistics.isLimited = counted >= MAX_COUNTED_EVENTS
  return statistics
}

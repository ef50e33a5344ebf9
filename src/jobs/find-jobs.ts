// Reads several jobs of one organisation by their ids.
import { and, desc, eq, inArray } from 'drizzle-orm'
import { requirePermission } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { database } from '../db/client.ts'
import { jobs } from '../db/schema.ts'
import type { JobRow } from '../db/schema.ts'

/** The number of ids is limited by the variables of a statement. */
const MAX_JOBS = 50

/**
 * The jobs with these ids, newest first. Skips jobs that are deleted or belong to others. For members
 * who may read jobs.
 * @param workspaceIds limits the jobs to these workspaces
 * @throws AppError not_found
 */
export async function findJobs({
  jobIds,
  workspaceIds,
  ...request
}: OrganisationRequest & {
  jobIds: readonly string[]
  workspaceIds?: readonly string[] | null | undefined
}): Promise<JobRow[]> {
  await requirePermission(request, 'jobs')
  if (jobIds.length === 0) return []
  return database(request.env)
    .select()
    .from(jobs)
    .where(
      and(
        inArray(jobs.id, jobIds.slice(0, MAX_JOBS)),
        eq(jobs.organisationId, request.organisationId),
        workspaceIds ? inArray(jobs.workspaceId, [...workspaceIds]) : undefined,
      ),
    )
    .orderBy(desc(jobs.id))
}

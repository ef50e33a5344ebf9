// Reads several jobs of one organisation by their ids.
import { and, desc, eq, inArray } from 'drizzle-orm'
import { requirePermission } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { inWorkspaces } from '../access/workspace-rights.ts'
import { jobsDatabase } from '../db/shards.ts'
import { jobs } from '../db/schema.ts'
import type { JobRow } from '../db/schema.ts'

/** The number of ids is limited by the variables of a statement. */
const MAX_JOBS = 50

/**
 * The jobs with these ids, newest first. Skips jobs that are deleted or that the member may not access.
 * For the permission `jobs`.
 * @throws AppError not_found
 */
export async function findJobs({
  jobIds,
  ...request
}: OrganisationRequest & {
  jobIds: readonly string[]
}): Promise<JobRow[]> {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  if (jobIds.length === 0) return []
  return jobsDatabase(request.env, request.organisationId)
    .select()
    .from(jobs)
    .where(
      and(
        inArray(jobs.id, jobIds.slice(0, MAX_JOBS)),
        eq(jobs.organisationId, request.organisationId),
        inWorkspaces(workspaceIds),
      ),
    )
    .orderBy(desc(jobs.id))
}

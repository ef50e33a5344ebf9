// Reads the list of jobs of the console. For members who may read jobs.
import { requirePermission } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { countMatches, neighboursOf, readListed, searchJobs } from './search.ts'
import type { FoundJob, JobSearch, SearchCursor, SearchPage } from './search.ts'

export type ListRequest = OrganisationRequest & Pick<JobSearch, 'filter'>

/**
 * The search of a member, limited to the workspaces that they may access.
 * @throws AppError not_found
 */
export async function searchOf({ filter, ...request }: ListRequest): Promise<JobSearch> {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const { env, organisationId } = request
  return { env, organisationId, filter, workspaceIds }
}

export interface FoundPage extends SearchPage {
  /** The matches of the whole list, up to COUNT_LIMIT. */
  matches: number
  /** Whether `matches` is the number of all matches. */
  isComplete: boolean
}

/**
 * One page, and the number of matches.
 * @throws AppError not_found
 */
export async function readJobList({
  cursor,
  limit,
  ...request
}: ListRequest & { cursor: SearchCursor; limit: number }): Promise<FoundPage> {
  const search = await searchOf(request)
  const [page, count] = await Promise.all([
    searchJobs({ ...search, cursor, limit }),
    countMatches(search),
  ])
  return { ...page, ...count }
}

/**
 * The current state of jobs of the list.
 * @param ids at most 50
 * @throws AppError not_found
 */
export async function readJobRows(request: ListRequest, ids: string[]): Promise<FoundJob[]> {
  return readListed(await searchOf(request), ids)
}

/**
 * The number of matches that are newer than a job, up to COUNT_LIMIT.
 * @throws AppError not_found
 */
export async function countNewJobs(request: ListRequest, newerThan: string): Promise<number> {
  return (await countMatches(await searchOf(request), { newerThan })).matches
}

/**
 * The jobs before and after a job in the list.
 * @throws AppError not_found
 */
export async function readNeighbours(request: ListRequest, jobId: string) {
  return neighboursOf(await searchOf(request), jobId)
}

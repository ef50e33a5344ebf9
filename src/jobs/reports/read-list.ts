// Reads the list of jobs of the console. For members who may read jobs.
import { requirePermission, type OrganisationRequest } from '../../organisations/authorisation.ts'
import { RecentValues } from '../../platform/recent-values.ts'
import {
  countMatches,
  neighboursOf,
  searchJobs,
  type JobSearch,
  type JobSearchFilter,
  type Matches,
  type SearchCursor,
  type SearchPage,
} from './search.ts'

export type ListRequest = OrganisationRequest & { filter: JobSearchFilter }

/**
 * The search of a member, limited to the workspaces that they may access.
 * @throws AppError not_found
 */
export async function searchOf({ filter, ...request }: ListRequest): Promise<JobSearch> {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const { env, organisationId } = request
  return { env, organisationId, filter, workspaceIds }
}

/** The number of matches from which on counting costs more than the page. */
const MANY_MATCHES = 100
const counts = new RecentValues<Matches>({ ttlMs: 60_000, maxEntries: 500 })

export type FoundPage = SearchPage & Matches

/**
 * One page, and the number of matches. From 100 matches on, the number may be a minute old.
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
    counts.get(
      [search.organisationId, search.workspaceIds, search.filter],
      () => countMatches(search),
      ({ matches, isComplete }) => matches >= MANY_MATCHES || !isComplete,
    ),
  ])
  return { ...page, ...count }
}

/**
 * The jobs before and after a job in the list.
 * @throws AppError not_found
 */
export async function readNeighbours(request: ListRequest, jobId: string) {
  return neighboursOf(await searchOf(request), jobId)
}

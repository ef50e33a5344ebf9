// Searches an organisation's jobs for the console, for members who may read jobs. Mode, error code, API key and parts
// of ids have no index, since each index would cost money for every job. A search therefore reads a bounded part of an
// index and reports how far it has read.
import { and, asc, desc, eq, gte, inArray, lt, sql, type SQL } from 'drizzle-orm'
import { requirePermission, type OrganisationRequest } from '../../organisations/authorisation.ts'
import { inWorkspaces } from '../../organisations/workspace-rights.ts'
import { jobsDatabase } from '../../platform/db/database.ts'
import { IS_FINAL, IS_IN_SWEEP_INDEX, jobs } from '../../platform/db/schema.ts'
import { isFinal, type JobErrorCode, type Mode } from '../../domain/job.ts'
import { firstIdSince } from '../../platform/ids.ts'
import { RecentValues } from '../../platform/recent-values.ts'
import type { JobFilter } from '../job-store.ts'
import { LISTED } from './job-lists.ts'

/** How many entries of an index one step of a search reads. */
export const SCAN_LIMIT = 5_000
/** Matches are counted up to this number. */
export const COUNT_LIMIT = 1_000

export interface JobSearch {
  env: Env
  organisationId: string
  filter: Filter
  /** The workspaces that the member may see; null for all. */
  workspaceIds: string[] | null
}

export interface JobSearchFilter extends JobFilter {
  mode: Mode
  errorCode?: JobErrorCode | undefined
  /** The id of an API key, or `console`. */
  apiKeyId?: string | undefined
  /** The start of an id, or any part of one. */
  idPart?: string | undefined
}

type Filter = Omit<JobSearchFilter, 'mode'> & { mode: Mode | SQL<Mode> }

const FOUND = {
  ...LISTED,
  apiKeyId: jobs.apiKeyId,
  startedAt: jobs.startedAt,
  cancelledAt: jobs.cancelledAt,
}
export type FoundJob = Awaited<ReturnType<typeof findBetween>>[number]

/** The jobs before or after this id, exclusive. Without one, the newest jobs. */
export type SearchCursor = { before: string } | { after: string } | undefined

export interface SearchPage {
  /** Newest first. */
  rows: FoundJob[]
  /** The cursor of the newer page; null where there can be none. */
  newer: string | null
  /** The cursor of the older page; null where there can be none. */
  older: string | null
  /**
   * The last id that was read, if the search stopped at the limit before the page was full. The search
   * continues at `older`, or at `newer` of a page with `after`.
   */
  searchedTo: string | null
}

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

export type FoundPage = SearchPage & Matches

/** The number of matches from which on counting costs more than the page. */
const MANY_MATCHES = 100
const counts = new RecentValues<Matches>({ ttlMs: 60_000, maxEntries: 500 })

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

/** Reads one page of matches. */
export async function searchJobs({
  cursor,
  limit,
  ...search
}: JobSearch & { cursor?: SearchCursor; limit: number }): Promise<SearchPage> {
  const isAscending = cursor !== undefined && 'after' in cursor
  const { range, end } = await scannedRange(search, cursor, isAscending)
  const found = await findBetween(search, range, { isAscending, limit: limit + 1 })
  const hasMore = found.length > limit
  const rows = found.slice(0, limit)
  const searchedTo = hasMore ? null : end
  const ahead = hasMore ? (rows.at(-1)?.id ?? null) : searchedTo
  if (!isAscending) {
    return { rows, newer: cursor ? (rows[0]?.id ?? null) : null, older: ahead, searchedTo }
  }
  // A page that reaches the newest job is the first page.
  if (ahead === null) return searchJobs({ ...search, limit })
  rows.reverse()
  return { rows, newer: ahead, older: rows.at(-1)?.id ?? null, searchedTo }
}

type Matches = Awaited<ReturnType<typeof countMatches>>

/** Counts the matches of the whole list, up to COUNT_LIMIT. `isComplete`: whether this is the number of all matches. */
export async function countMatches(search: JobSearch) {
  const { range, end } = await scannedRange(search, undefined, false)
  const ids = idsIn(search, range, { isAscending: false, limit: COUNT_LIMIT + 1 })
  const [row] = await jobsDatabase(search.env, search.organisationId).all<{ matches: number }>(
    sql`select count(*) as matches from (${ids})`,
  )
  const found = row?.matches ?? 0
  return {
    matches: Math.min(found, COUNT_LIMIT),
    isComplete: found <= COUNT_LIMIT && end === null,
  }
}

/**
 * The matches before and after a job in the list, of the same mode; null where none is within SCAN_LIMIT.
 * @throws AppError not_found
 */
export async function readNeighbours(request: ListRequest, jobId: string) {
  const { filter, ...scope } = await searchOf(request)
  const ownMode = sql<Mode>`(select own.mode from ${jobs} as own where own.id = ${jobId})`
  const search = { ...scope, filter: { ...filter, mode: ownMode } }
  const neighbour = async (isAscending: boolean): Promise<string | null> => {
    const cursor = isAscending ? { after: jobId } : { before: jobId }
    const { range } = await scannedRange(search, cursor, isAscending)
    const [found] = await findBetween(search, range, { isAscending, limit: 1 })
    return found?.id ?? null
  }
  const [newerId, olderId] = await Promise.all([neighbour(true), neighbour(false)])
  return { newerId, olderId }
}

/** A range of ids. One lower and one upper end, since SQLite uses only one of each in an index. */
interface IdRange {
  /** Inclusive. */
  first?: string | undefined
  /** Exclusive. */
  before?: string | undefined
}

/** Sorts directly after `id` and before the next one. Ids do not contain the character. */
const after = (id: string) => `${id}~`

/** Ids sort by time, so a period is a range of ids, and so is the start of an id. */
function rangeOf({ createdAfter, createdBefore, idPart }: Filter, cursor: SearchCursor): IdRange {
  return intersection(
    { first: createdAfter && firstIdSince('job', createdAfter.getTime()) },
    { before: createdBefore && firstIdSince('job', createdBefore.getTime()) },
    idPart?.startsWith('job_') ? { first: idPart, before: after(idPart) } : {},
    cursor && ('after' in cursor ? { first: after(cursor.after) } : cursor),
  )
}

function intersection(...ranges: (IdRange | undefined)[]): IdRange {
  const firsts = ranges.map((range) => range?.first).filter((id) => id !== undefined)
  const ends = ranges.map((range) => range?.before).filter((id) => id !== undefined)
  return { first: firsts.sort().at(-1), before: ends.sort().at(0) }
}

/** An unfinished job stores the error of its latest attempt, so an error code implies the status. */
const statusOf = ({ status, errorCode }: Filter) => status ?? (errorCode && 'failed')

/**
 * The index that covers `inRange`. For a range with two ends SQLite would choose the index of the
 * organisation, and read the jobs of all statuses and workspaces.
 */
function indexOf({ filter }: JobSearch): SQL {
  if (isUnfinished(filter)) return sql.identifier('jobs_unfinished').getSQL()
  const parts = [
    filter.workspaceId !== undefined && 'workspace',
    statusOf(filter) !== undefined && 'status',
  ].filter((part) => part !== false)
  return sql.identifier(`jobs_by_${parts.join('_') || 'organisation'}`).getSQL()
}

/** The conditions that the index covers, so that the entries between both ends are read in order. */
function inRange({ organisationId, filter }: JobSearch, range: IdRange): SQL | undefined {
  return and(
    eq(jobs.organisationId, organisationId),
    ...(isUnfinished(filter) ? [IS_IN_SWEEP_INDEX] : ofWorkspaceAndStatus(filter)),
    range.first === undefined ? undefined : gte(jobs.id, range.first),
    range.before === undefined ? undefined : lt(jobs.id, range.before),
  )
}

const isUnfinished = (filter: Filter): boolean => {
  const status = statusOf(filter)
  return status !== undefined && !isFinal(status)
}

function ofWorkspaceAndStatus(filter: Filter): SQL[] {
  const status = statusOf(filter)
  return [
    ...(filter.workspaceId === undefined ? [] : [eq(jobs.workspaceId, filter.workspaceId)]),
    ...(status === undefined ? [] : [eq(jobs.status, status)]),
    ...(status === undefined || !isFinal(status) ? [] : [IS_FINAL]),
  ]
}

/** The conditions without an index. */
const matching = ({ filter, workspaceIds }: JobSearch): SQL | undefined =>
  and(
    ...(isUnfinished(filter) ? ofWorkspaceAndStatus(filter) : []),
    eq(jobs.mode, filter.mode),
    filter.errorCode === undefined ? undefined : eq(jobs.errorCode, filter.errorCode),
    filter.errorCode === undefined ? undefined : eq(jobs.status, 'failed'),
    filter.apiKeyId === undefined ? undefined : eq(jobs.apiKeyId, filter.apiKeyId),
    filter.idPart === undefined ? undefined : sql`instr(${jobs.id}, ${filter.idPart}) > 0`,
    inWorkspaces(workspaceIds),
  )

/**
 * The range that a search may read from a cursor on.
 * @returns `end`: the last id of it; null when the whole list is within SCAN_LIMIT
 */
async function scannedRange(search: JobSearch, cursor: SearchCursor, isAscending: boolean) {
  const range = rangeOf(search.filter, cursor)
  const [row] = await jobsDatabase(search.env, search.organisationId).all<{ id: string }>(
    sql`select ${jobs.id} from ${jobs} indexed by ${indexOf(search)} where ${inRange(search, range)}
      order by ${inOrder(isAscending)} limit 1 offset ${SCAN_LIMIT - 1}`,
  )
  if (!row) return { range, end: null }
  const read = isAscending ? { before: after(row.id) } : { first: row.id }
  return { range: intersection(range, read), end: row.id }
}

const inOrder = (isAscending: boolean) => (isAscending ? asc(jobs.id) : desc(jobs.id))

interface Take {
  isAscending: boolean
  limit: number
}

/** The query for the ids of the matches in a range. */
const idsIn = (search: JobSearch, range: IdRange, { isAscending, limit }: Take): SQL =>
  sql`select ${jobs.id} from ${jobs} indexed by ${indexOf(search)}
    where ${and(inRange(search, range), matching(search))}
    order by ${inOrder(isAscending)} limit ${limit}`

const findBetween = (search: JobSearch, range: IdRange, take: Take) =>
  jobsDatabase(search.env, search.organisationId)
    .select(FOUND)
    .from(jobs)
    .where(inArray(jobs.id, sql`(${idsIn(search, range, take)})`))
    .orderBy(inOrder(take.isAscending))

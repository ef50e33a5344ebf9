// The SQL of lists of jobs: one organisation's jobs, page by page.
import { and, desc, eq, gte, inArray, lt, sql } from 'drizzle-orm'
import { requirePermission, type OrganisationRequest } from '../../organisations/authorisation.ts'
import { inWorkspaces } from '../../organisations/workspace-rights.ts'
import { preparedQuery } from '../../platform/db/prepared-query.ts'
import { jobsBinding, jobsDatabase } from '../../platform/db/database.ts'
import { isFinal } from '../../domain/job.ts'
import { pageOf, type Page } from '../../domain/page.ts'
import { IS_FINAL, IS_IN_SWEEP_INDEX, jobs, type JobRow } from '../../platform/db/schema.ts'
import { firstIdSince } from '../../platform/ids.ts'
import type { JobFilter } from '../job-store.ts'

/** The columns in lists and webhooks. The URLs, which are most of a row's bytes, are not included. */
export const LISTED = {
  id: jobs.id,
  status: jobs.status,
  workspaceId: jobs.workspaceId,
  mode: jobs.mode,
  outputFormat: jobs.outputFormat,
  errorCode: jobs.errorCode,
  createdAt: jobs.createdAt,
  completedAt: jobs.completedAt,
  durationMs: jobs.durationMs,
}
export type ListedRow = Pick<JobRow, keyof typeof LISTED>

/**
 * The query for a combination of conditions. Ids sort by time, so a range of time is a range of ids.
 * Each combination has its own index, except that pending and processing jobs share the index of
 * unfinished jobs. The limit is part of the SQL: SQLite plans a statement again for
 * each value that is bound to LIMIT, which costs 50 µs per page and 5 % of the throughput.
 * @param given the names of the values to compare with
 * @param hasEnded whether jobs with the status have ended
 */
const listQuery = (given: readonly string[], hasEnded: boolean, limit: number) => {
  const has = (name: string) => given.includes(name)
  return preparedQuery((db) =>
    db
      .select(LISTED)
      .from(jobs)
      .where(
        and(
          eq(jobs.organisationId, sql.placeholder('organisationId')),
          has('workspaceId') ? eq(jobs.workspaceId, sql.placeholder('workspaceId')) : undefined,
          has('status') ? (hasEnded ? IS_FINAL : IS_IN_SWEEP_INDEX) : undefined,
          has('status') ? eq(jobs.status, sql.placeholder('status')) : undefined,
          has('firstId') ? gte(jobs.id, sql.placeholder('firstId')) : undefined,
          has('beforeId') ? lt(jobs.id, sql.placeholder('beforeId')) : undefined,
        ),
      )
      // Drizzle would bind the number that its `limit` gets.
      .orderBy(sql`${desc(jobs.id)} limit ${sql.raw(String(limit))}`)
      .prepare(),
  )
}

const listQueries = new Map<string, ReturnType<typeof listQuery>>()

interface ListQuery {
  env: Env
  organisationId: string
  filter: JobFilter
  limit: number
  /** The last job of the previous page. */
  beforeId?: string | undefined
}

/** A page of an organisation's jobs, newest first. */
export async function listJobs({
  env,
  organisationId,
  filter: { workspaceId, status, createdAfter, createdBefore },
  limit,
  beforeId: pageEnd,
}: ListQuery): Promise<Page<ListedRow>> {
  const firstId = createdAfter && firstIdSince('job', createdAfter.getTime())
  // The last job of a previous page is in the range itself.
  const beforeId = pageEnd ?? (createdBefore && firstIdSince('job', createdBefore.getTime()))
  const values = { organisationId, workspaceId, status, firstId, beforeId }
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : name))
  const hasEnded = status !== undefined && isFinal(status)
  const key = [...given, hasEnded, limit].join()
  let query = listQueries.get(key)
  if (!query) listQueries.set(key, (query = listQuery(given, hasEnded, limit + 1)))
  return pageOf(await query(jobsBinding(env, organisationId)).all(values), limit)
}

/** The same list with complete rows, for exports. */
export function listJobRows(query: Omit<ListQuery, 'filter'>): Promise<JobRow[]> {
  const { env, organisationId, limit, beforeId } = query
  const isEarlier = beforeId === undefined ? undefined : lt(jobs.id, beforeId)
  return jobsDatabase(env, organisationId)
    .select()
    .from(jobs)
    .where(and(eq(jobs.organisationId, organisationId), isEarlier))
    .orderBy(desc(jobs.id))
    .limit(limit)
}

/** The number of ids is limited by the variables of a statement. */
const MAX_JOBS = 50

/**
 * The jobs with these ids, newest first. Skips jobs that are deleted or that the member may not access.
 * For the permission `jobs`.
 * @throws AppError not_found
 */
export async function findJobs(request: OrganisationRequest & { jobIds: readonly string[] }) {
  const { env, organisationId, jobIds } = request
  const { workspaceIds } = await requirePermission(request, 'jobs')
  if (jobIds.length === 0) return []
  return jobsDatabase(env, organisationId)
    .select()
    .from(jobs)
    .where(
      and(
        inArray(jobs.id, jobIds.slice(0, MAX_JOBS)),
        eq(jobs.organisationId, organisationId),
        inWorkspaces(workspaceIds),
      ),
    )
    .orderBy(desc(jobs.id))
}

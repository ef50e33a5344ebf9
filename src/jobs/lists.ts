// The SQL of lists: one organisation's jobs, page by page.
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { preparedQuery } from '../db/prepared-query.ts'
import { jobs } from '../db/schema.ts'
import type { JobRow } from '../db/schema.ts'
import type { JobFilter } from './store.ts'

/** What lists and webhooks show; the addresses left out are most of a row's bytes. */
const LISTED = {
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

const COLUMNS = Object.entries(LISTED)

/** As drizzle maps a row, without its care for joins, which takes a tenth of a page's CPU. */
function rowOf(values: unknown[]): ListedRow {
  const row: Record<string, unknown> = {}
  for (const [at, [name, column]] of COLUMNS.entries()) {
    const value = values[at]
    row[name] = value === null ? null : column.mapFromDriverValue(value as never)
  }
  return row as ListedRow
}

/**
 * The query of a list by which of its conditions there are: each has an index of its own. The limit
 * is written into it, since SQLite plans a statement anew whenever a value is bound to its LIMIT.
 */
const listed = (byWorkspace: boolean, byStatus: boolean, paged: boolean, limit: number) =>
  preparedQuery((db) =>
    db
      .select(LISTED)
      .from(jobs)
      .where(
        and(
          eq(jobs.organisationId, sql.placeholder('organisationId')),
          byWorkspace ? eq(jobs.workspaceId, sql.placeholder('workspaceId')) : undefined,
          byStatus ? eq(jobs.status, sql.placeholder('status')) : undefined,
          paged ? lt(jobs.id, sql.placeholder('beforeId')) : undefined,
        ),
      )
      .orderBy(desc(jobs.id))
      .limit(literal(limit))
      .prepare(),
  )

/** drizzle would bind a number; its types know no other way to say it. */
const literal = (value: number) => sql.raw(String(value)) as unknown as number

const lists = new Map<string, ReturnType<typeof listed>>()

/** One organisation's jobs, newest first, those before `beforeId` only; `limit` is one of few. */
export async function listJobs({
  env,
  organisationId,
  filter: { workspaceId, status },
  limit,
  beforeId,
}: {
  env: Env
  organisationId: string
  filter: JobFilter
  limit: number
  beforeId?: string | undefined
}): Promise<ListedRow[]> {
  const shape = [
    workspaceId !== undefined,
    status !== undefined,
    beforeId !== undefined,
    limit,
  ] as const
  const name = shape.join()
  let list = lists.get(name)
  if (!list) lists.set(name, (list = listed(...shape)))
  const rows = await list(env).values({ organisationId, workspaceId, status, beforeId })
  return rows.map(rowOf)
}

/** The same with whole rows, for exports. */
export const listJobRows = ({
  env,
  organisationId,
  limit,
  beforeId,
}: {
  env: Env
  organisationId: string
  limit: number
  beforeId?: string | undefined
}): Promise<JobRow[]> =>
  database(env)
    .select()
    .from(jobs)
    .where(
      and(
        eq(jobs.organisationId, organisationId),
        beforeId === undefined ? undefined : lt(jobs.id, beforeId),
      ),
    )
    .orderBy(desc(jobs.id))
    .limit(limit)

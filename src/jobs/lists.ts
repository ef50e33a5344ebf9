// The SQL of lists: one organisation's jobs, page by page.
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { kept } from '../db/client.ts'
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

/** A row's values in this order. */
type Values = [
  id: string,
  status: JobRow['status'],
  workspaceId: string,
  mode: JobRow['mode'],
  outputFormat: JobRow['outputFormat'],
  errorCode: JobRow['errorCode'],
  createdAt: number,
  completedAt: number | null,
  durationMs: number | null,
]

/** By hand, since drizzle's mapping takes a tenth of a page's CPU. */
const rowOf = ([
  id,
  status,
  workspaceId,
  mode,
  outputFormat,
  errorCode,
  createdAt,
  completedAt,
  durationMs,
]: Values): ListedRow => ({
  id,
  status,
  workspaceId,
  mode,
  outputFormat,
  errorCode,
  createdAt: new Date(createdAt),
  completedAt: completedAt === null ? null : new Date(completedAt),
  durationMs,
})

/**
 * The query of a list by which of its conditions there are: each has an index of its own. The limit
 * is written into it, since SQLite plans a statement anew whenever a value is bound to its LIMIT.
 */
const listed = (byWorkspace: boolean, byStatus: boolean, paged: boolean, limit: number) =>
  kept((db) =>
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
export async function listJobs(
  env: Env,
  organisationId: string,
  { workspaceId, status }: JobFilter,
  { limit, beforeId }: { limit: number; beforeId?: string | undefined },
): Promise<ListedRow[]> {
  const shape = [
    workspaceId !== undefined,
    status !== undefined,
    beforeId !== undefined,
    limit,
  ] as const
  const list = lists.get(shape.join()) ?? listed(...shape)
  lists.set(shape.join(), list)
  const rows = await list(env).values({ organisationId, workspaceId, status, beforeId })
  return (rows as Values[]).map(rowOf)
}

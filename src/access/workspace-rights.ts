// Which workspaces a member may access. Null or undefined: all of them.
import { sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { listed } from '../db/client.ts'
import { jobs } from '../db/schema.ts'

export type WorkspaceIds = string[] | null | undefined

/**
 * An SQL condition: limits rows to the given workspaces. Undefined without a limit, as `and` of Drizzle
 * expects.
 * @param column the column of the workspace; by default that of jobs
 */
export const inWorkspaces = (
  workspaceIds: WorkspaceIds,
  column: SQLiteColumn = jobs.workspaceId,
): SQL | undefined => (workspaceIds ? sql`${column} in ${listed(workspaceIds)}` : undefined)

/** An SQL condition: limits rows with the id of a job to the jobs of the given workspaces. */
export const jobInWorkspaces = (
  workspaceIds: WorkspaceIds,
  jobId: SQLiteColumn,
): SQL | undefined =>
  workspaceIds
    ? sql`exists (select 1 from ${jobs}
        where ${jobs.id} = ${jobId} and ${inWorkspaces(workspaceIds)})`
    : undefined

export const mayAccess = (workspaceIds: WorkspaceIds, workspaceId: string): boolean =>
  !workspaceIds || workspaceIds.includes(workspaceId)

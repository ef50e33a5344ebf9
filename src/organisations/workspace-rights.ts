// Which workspaces a member may access. Null or undefined: all of them.
import { and, eq, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { database, listed } from '../platform/db/database.ts'
import { jobs, workspaces } from '../platform/db/schema.ts'
import type { Access } from './authorisation.ts'
import { invalid } from '../domain/errors.ts'
import { canBeLimited, type Role } from '../domain/role.ts'

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
export const jobInWorkspaces = (workspaceIds: WorkspaceIds, jobId: SQLiteColumn) =>
  workspaceIds
    ? sql`exists (select 1 from ${jobs}
        where ${jobs.id} = ${jobId} and ${inWorkspaces(workspaceIds)})`
    : undefined

export const mayAccess = (workspaceIds: WorkspaceIds, workspaceId: string): boolean =>
  !workspaceIds || workspaceIds.includes(workspaceId)

/** A filter by workspace: none if the actor may not access it; without it, all that it may access. */
export const selectedWorkspaces = ({ workspaceIds }: Access, workspaceId: string | undefined) => {
  if (workspaceId === undefined) return workspaceIds
  return mayAccess(workspaceIds, workspaceId) ? [workspaceId] : []
}

/**
 * The limit of a member or an invitation to store; null for all workspaces, which is the only choice for
 * roles without a limit.
 * @throws AppError validation_error if the list is empty or contains an unknown workspace
 */
export async function checkedLimit(
  { env, organisationId }: { env: Env; organisationId: string },
  { role, workspaceIds }: { role: Role; workspaceIds: string[] | null },
): Promise<string[] | null> {
  if (!canBeLimited(role) || !workspaceIds) return null
  const rows = await database(env)
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(
      and(eq(workspaces.organisationId, organisationId), inWorkspaces(workspaceIds, workspaces.id)),
    )
  const known = rows.map(({ id }) => id)
  if (known.length === 0 || workspaceIds.some((id) => !known.includes(id))) {
    throw invalid('Choose at least one workspace.')
  }
  return known
}

/** The limit as a detail of an audit entry. */
export const limitText = (workspaceIds: string[] | null): string =>
  workspaceIds?.join(', ') ?? 'all'

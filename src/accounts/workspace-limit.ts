// The limit of a member or an invitation to some workspaces of the organisation.
import { and, eq } from 'drizzle-orm'
import { inWorkspaces } from '../access/workspace-rights.ts'
import { database } from '../db/client.ts'
import { workspaces } from '../db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { canBeLimited } from '../domain/role.ts'
import type { Role } from '../domain/role.ts'

/**
 * The limit to store; null for all workspaces, which is the only choice for roles without a limit.
 * @throws AppError validation_error if the list is empty or contains an unknown workspace
 */
export async function checkedLimit({
  env,
  organisationId,
  role,
  workspaceIds,
}: {
  env: Env
  organisationId: string
  role: Role
  workspaceIds: string[] | null
}): Promise<string[] | null> {
  if (!canBeLimited(role) || !workspaceIds) return null
  const rows = await database(env)
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(
      and(eq(workspaces.organisationId, organisationId), inWorkspaces(workspaceIds, workspaces.id)),
    )
  const known = rows.map(({ id }) => id)
  if (known.length === 0 || workspaceIds.some((id) => !known.includes(id))) {
    throw new AppError('validation_error', 'Choose at least one workspace.')
  }
  return known
}

/** The limit as a detail of an audit entry. */
export const limitText = (workspaceIds: string[] | null): string =>
  workspaceIds?.join(', ') ?? 'all'

// Workspaces in D1. Every change tells the Organisation that its copy is out of date.
import { and, eq } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { workspaces } from '../db/schema.ts'
import type { WorkspaceRow } from '../db/schema.ts'
import { newId } from '../ids.ts'
import { organisationOf } from '../organisation/by-id.ts'

export const workspaceRow = (organisationId: string, name: string): WorkspaceRow => ({
  id: newId('ws'),
  organisationId,
  name,
  status: 'active',
  createdAt: new Date(),
})

export async function createWorkspace(
  env: Env,
  organisationId: string,
  name: string,
): Promise<WorkspaceRow> {
  const workspace = workspaceRow(organisationId, name)
  await database(env).insert(workspaces).values(workspace)
  await organisationOf(env, organisationId).refresh()
  return workspace
}

/**
 * Renames, archives or restores a workspace. Jobs of an archived one go on; new ones are refused.
 * @returns undefined when the organisation has no such workspace
 */
export async function updateWorkspace(
  env: Env,
  organisationId: string,
  workspaceId: string,
  change: Partial<Pick<WorkspaceRow, 'name' | 'status'>>,
): Promise<WorkspaceRow | undefined> {
  const [workspace] = await database(env)
    .update(workspaces)
    // Setting the id to itself makes an empty change valid SQL.
    .set({ id: workspaceId, ...change })
    .where(and(eq(workspaces.id, workspaceId), eq(workspaces.organisationId, organisationId)))
    .returning()
  if (workspace) await organisationOf(env, organisationId).refresh()
  return workspace
}

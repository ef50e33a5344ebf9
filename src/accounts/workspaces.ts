// Workspaces in D1. Every change refreshes the Organisation, which has a copy of the active ones.
import { and, eq, sql } from 'drizzle-orm'
import { database, insertWhere } from '../db/client.ts'
import { workspaces } from '../db/schema.ts'
import type { WorkspaceRow } from '../db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { newId } from '../ids.ts'
import { organisationStub } from '../organisation/stub.ts'
import { auditInsert, changedDetails } from '../access/audit-log.ts'
import { requireMember } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { MAX_ACTIVE_WORKSPACES, MAX_WORKSPACES, workspaceLimitReached } from './limits.ts'

export const workspaceRow = (organisationId: string, name: string): WorkspaceRow => ({
  id: newId('ws'),
  organisationId,
  name,
  status: 'active',
  createdAt: new Date(),
})

/** @throws AppError validation_error when the organisation has as many as it can have */
export async function createWorkspace({
  env,
  actor,
  organisationId,
  name,
}: OrganisationRequest & { name: string }): Promise<WorkspaceRow> {
  await requireMember({ env, actor, organisationId })
  const workspace = workspaceRow(organisationId, name)
  const allowed = sql`${hasRoomForActive(organisationId)}
    and (select count(*) from ${workspaces}
         where ${workspaces.organisationId} = ${organisationId}) < ${MAX_WORKSPACES}`
  const [created] = await database(env).batch([
    insertWhere(env, workspaces, workspace, allowed),
    auditInsert(
      env,
      {
        organisationId,
        actor,
        action: 'workspace.created',
        target: workspace.id,
        details: { name },
      },
      sql`exists (select 1 from ${workspaces} where ${workspaces.id} = ${workspace.id})`,
    ),
  ])
  if (created.meta.changes === 0) throw workspaceLimitReached()
  await organisationStub(env, organisationId).refresh()
  return workspace
}

/**
 * Renames, archives or restores a workspace. Jobs of an archived one continue; new ones are rejected.
 * @throws AppError not_found; validation_error when one is restored past the limit of active ones
 */
export async function updateWorkspace({
  env,
  actor,
  organisationId,
  workspaceId,
  change,
}: OrganisationRequest & {
  workspaceId: string
  change: Partial<Pick<WorkspaceRow, 'name' | 'status'>>
}): Promise<WorkspaceRow> {
  await requireMember({ env, actor, organisationId })
  const db = database(env)
  const own = and(eq(workspaces.id, workspaceId), eq(workspaces.organisationId, organisationId))
  const [before] = await db.select().from(workspaces).where(own)
  if (!before) throw new AppError('not_found')
  const details = changedDetails(before, change)
  let after = before
  if (details) {
    const allowed =
      change.status === 'active'
        ? sql`(${workspaces.status} = 'active' or ${hasRoomForActive(organisationId)})`
        : undefined
    const [, [updated]] = await db.batch([
      auditInsert(
        env,
        { organisationId, actor, action: 'workspace.updated', target: workspaceId, details },
        sql`exists (select 1 from ${workspaces} where ${and(own, allowed)})`,
      ),
      db.update(workspaces).set(change).where(and(own, allowed)).returning(),
    ])
    if (!updated) throw workspaceLimitReached()
    after = updated
  }
  // Also when nothing differs: the first of two equal requests may have stopped before this.
  await organisationStub(env, organisationId).refresh()
  return after
}

const hasRoomForActive = (organisationId: string) =>
  sql`(select count(*) from workspaces as active where active.organisation_id = ${organisationId}
         and active.status = 'active') < ${MAX_ACTIVE_WORKSPACES}`

// Workspaces. Every change refreshes the Organisation, whose snapshot contains the active ones.
import { and, asc, eq, sql } from 'drizzle-orm'
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

export const workspaceRow = ({
  organisationId,
  name,
}: Pick<WorkspaceRow, 'organisationId' | 'name'>): WorkspaceRow => ({
  id: newId('ws'),
  organisationId,
  name,
  status: 'active',
  createdAt: new Date(),
})

/**
 * All workspaces of an organisation, oldest first. For members.
 * @throws AppError not_found
 */
export async function listWorkspaces({
  env,
  actor,
  organisationId,
}: OrganisationRequest): Promise<WorkspaceRow[]> {
  await requireMember({ env, actor, organisationId })
  return database(env)
    .select()
    .from(workspaces)
    .where(eq(workspaces.organisationId, organisationId))
    .orderBy(asc(workspaces.id))
}

/**
 * Creates a workspace. For members.
 * @throws AppError not_found; validation_error at the limit of workspaces
 */
export async function createWorkspace({
  env,
  actor,
  organisationId,
  name,
}: OrganisationRequest & { name: string }): Promise<WorkspaceRow> {
  await requireMember({ env, actor, organisationId })
  const workspace = workspaceRow({ organisationId, name })
  const allowed = sql`${isBelowActiveLimit(organisationId)}
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
 * Renames, archives or restores a workspace. Jobs of an archived workspace continue; new ones are
 * rejected. For members.
 * @throws AppError not_found; validation_error when restoring would exceed the limit of active ones
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
  const isWorkspace = and(
    eq(workspaces.id, workspaceId),
    eq(workspaces.organisationId, organisationId),
  )
  const [before] = await db.select().from(workspaces).where(isWorkspace)
  if (!before) throw new AppError('not_found')
  const details = changedDetails(before, change)
  let after = before
  if (details) {
    const allowed =
      change.status === 'active'
        ? sql`(${workspaces.status} = 'active' or ${isBelowActiveLimit(organisationId)})`
        : undefined
    const [, [updated]] = await db.batch([
      auditInsert(
        env,
        { organisationId, actor, action: 'workspace.updated', target: workspaceId, details },
        sql`exists (select 1 from ${workspaces} where ${and(isWorkspace, allowed)})`,
      ),
      db.update(workspaces).set(change).where(and(isWorkspace, allowed)).returning(),
    ])
    if (!updated) throw workspaceLimitReached()
    after = updated
  }
  // Runs even if nothing changed: an earlier equal request may have failed before this step.
  await organisationStub(env, organisationId).refresh()
  return after
}

const isBelowActiveLimit = (organisationId: string) =>
  sql`(select count(*) from workspaces as active where active.organisation_id = ${organisationId}
         and active.status = 'active') < ${MAX_ACTIVE_WORKSPACES}`

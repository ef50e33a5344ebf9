// Workspaces. Every change refreshes the Organisation, whose snapshot contains the active ones.
import { and, asc, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { database, IF_CHANGED, insertWhere } from '../platform/db/database.ts'
import { workspaces, type WorkspaceRow } from '../platform/db/schema.ts'
import { AppError, invalid } from '../domain/errors.ts'
import type { Actor } from '../domain/actor.ts'
import { newId } from '../platform/ids.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { audited, auditInsert, changedDetails } from './audit-log.ts'
import { requireMember, requirePermission, type OrganisationRequest } from './authorisation.ts'
import { inWorkspaces } from './workspace-rights.ts'
import {
  MAX_ACTIVE_WORKSPACES,
  MAX_WORKSPACES,
  workspaceLimitReached,
} from './organisation-limits.ts'
import { WORKSPACE_STATUSES } from '../domain/organisation.ts'

export const workspaceRow = ({
  organisationId,
  name,
}: Pick<WorkspaceRow, 'organisationId' | 'name'>): WorkspaceRow => ({
  id: newId('ws'),
  organisationId,
  name,
  status: 'active',
  createdAt: new Date(),
  monthlyCredits: null,
})

/**
 * The workspaces of an organisation that the member may access, oldest first.
 * @throws AppError not_found
 */
export async function listWorkspaces(request: OrganisationRequest): Promise<WorkspaceRow[]> {
  const { workspaceIds } = await requireMember(request)
  const { env, organisationId } = request
  return database(env)
    .select()
    .from(workspaces)
    .where(
      and(eq(workspaces.organisationId, organisationId), inWorkspaces(workspaceIds, workspaces.id)),
    )
    .orderBy(asc(workspaces.id))
}

/**
 * Creates a workspace. For owners.
 * @throws AppError not_found; validation_error at the limit of workspaces, and for a user if an active
 *   workspace has this name
 */
export async function createWorkspace(request: OrganisationRequest & { name: string }) {
  const { env, actor, organisationId, name } = request
  await requirePermission(request, 'administer')
  await requireUniqueName(request, { name })
  const workspace = workspaceRow({ organisationId, name })
  const allowed = sql`${isBelowActiveLimit(organisationId)}
    and ${isUniqueName(actor, workspace)}
    and (select count(*) from ${workspaces}
         where ${workspaces.organisationId} = ${organisationId}) < ${MAX_WORKSPACES}`
  const isCreated = await audited(
    { ...request, action: 'workspace.created', target: workspace.id, details: { name } },
    insertWhere(env, workspaces, workspace, allowed),
  )
  if (!isCreated) {
    // A concurrent request may have created a workspace with this name.
    await requireUniqueName(request, { name })
    throw workspaceLimitReached()
  }
  await organisationStub(env, organisationId).refresh()
  return workspace
}

/**
 * Renames, archives or restores a workspace, or changes its monthly limit of credits. Jobs of an archived workspace continue; new ones are
 * rejected. For owners.
 * @throws AppError not_found; validation_error when restoring would exceed the limit of active ones, and
 *   for a user if another active workspace has this name
 */
export async function updateWorkspace(
  request: OrganisationRequest & {
    workspaceId: string
    change: Partial<Pick<WorkspaceRow, 'name' | 'status' | 'monthlyCredits'>>
  },
): Promise<WorkspaceRow> {
  const { env, organisationId, workspaceId, change } = request
  await requirePermission(request, 'administer')
  const db = database(env)
  const isWorkspace = and(
    eq(workspaces.id, workspaceId),
    eq(workspaces.organisationId, organisationId),
  )
  const [before] = await db.select().from(workspaces).where(isWorkspace)
  if (!before) throw new AppError('not_found')
  const { name, status } = { ...before, ...change }
  if (status === 'active') {
    await requireUniqueName(request, { name, exceptId: workspaceId })
  }
  const details = changedDetails(before, change)
  let after = before
  if (details) {
    const allowed =
      change.status === 'active'
        ? sql`(${workspaces.status} = 'active' or ${isBelowActiveLimit(organisationId)})`
        : undefined
    const entry = { ...request, action: 'workspace.updated', target: workspaceId, details } as const
    const [[updated]] = await db.batch([
      db.update(workspaces).set(change).where(and(isWorkspace, allowed)).returning(),
      auditInsert(entry, IF_CHANGED),
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

const comparable = (name: string) => name.trim().toLowerCase()

/**
 * Rejects the name of another active workspace. Does not apply to operators: their API accepts
 * duplicates.
 */
async function requireUniqueName(
  { env, actor, organisationId }: OrganisationRequest,
  { name, exceptId }: { name: string; exceptId?: string },
): Promise<void> {
  if (actor.type !== 'user') return
  const active = await database(env)
    .select({ id: workspaces.id, name: workspaces.name })
    .from(workspaces)
    .where(and(eq(workspaces.organisationId, organisationId), eq(workspaces.status, 'active')))
  const isTaken = active.some(
    (other) => other.id !== exceptId && comparable(other.name) === comparable(name),
  )
  if (isTaken) {
    throw invalid(`An active workspace already has the name “${name}”. Choose another name.`)
  }
}

/** The same condition in SQL, so that a form that is sent twice creates one workspace. */
const isUniqueName = (actor: Actor, { organisationId, name }: WorkspaceRow) =>
  actor.type === 'user'
    ? sql`not exists (select 1 from workspaces as other
        where other.organisation_id = ${organisationId} and other.status = 'active'
          and other.name = ${name})`
    : sql`true`

const WorkspaceStatus = z.enum(WORKSPACE_STATUSES).meta({
  id: 'WorkspaceStatus',
  description: 'The state of a workspace. An archived workspace accepts no jobs.',
})

export const Workspace = z
  .object({
    id: z.string().meta({
      description: 'The id of the workspace, the `workspace_id` of submissions.',
      examples: ['ws_01m45j10cfeqs81jeh7e74f9g5'],
    }),
    name: z.string().meta({ description: 'The display name.', examples: ['Default'] }),
    status: WorkspaceStatus,
    created_at: z.iso
      .datetime()
      .meta({ description: 'When the workspace was created (ISO 8601, UTC).' }),
  })
  .meta({ id: 'Workspace', description: 'A workspace groups the jobs of an organisation.' })

export const presentWorkspace = (workspace: WorkspaceRow): z.infer<typeof Workspace> => ({
  id: workspace.id,
  name: workspace.name,
  status: workspace.status,
  created_at: workspace.createdAt.toISOString(),
})

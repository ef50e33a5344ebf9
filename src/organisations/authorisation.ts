// What actors may do in an organisation. An actor without the required permission gets `not_found`, as
// if the organisation did not exist. Operators and the service itself may do everything. An API key may
// do what a developer may, since the Organisation authenticates it before a use case runs.
import { and, eq, sql, type SQL } from 'drizzle-orm'
import { database } from '../platform/db/database.ts'
import { members } from '../platform/db/auth-schema.ts'
import { AppError } from '../domain/errors.ts'
import type { Actor } from '../domain/actor.ts'
import { permits, rolesWith, type Permission, type Role } from '../domain/role.ts'

/** The parameters of every use case that concerns one organisation. */
export interface OrganisationRequest {
  env: Env
  actor: Actor
  organisationId: string
}

/** What an actor may access. */
export interface Access {
  /** The workspaces that a member is limited to; null for all. */
  workspaceIds: string[] | null
}

const ALL: Access = { workspaceIds: null }

/** @throws AppError not_found */
export function requireOperator({ type }: Actor): void {
  if (type !== 'operator' && type !== 'system') throw new AppError('not_found')
}

/** @throws AppError not_found */
export async function requirePermission(
  request: OrganisationRequest,
  permission: Permission,
): Promise<Access> {
  const member = await requireMember(request)
  if (!permits(member.role, permission)) throw new AppError('not_found')
  return member
}

/**
 * For actions that concern all workspaces, such as API keys: rejects members who are limited to some.
 * @throws AppError not_found
 */
export async function requireUnlimited(request: OrganisationRequest, permission: Permission) {
  const { workspaceIds } = await requirePermission(request, permission)
  if (workspaceIds) throw new AppError('not_found')
}

/**
 * Requires a member with any role.
 * @throws AppError not_found
 */
export async function requireMember(
  request: OrganisationRequest,
): Promise<Access & { role: Role }> {
  const { env, actor, organisationId } = request
  if (actor.type === 'api_key') return { role: 'developer', workspaceIds: actor.workspaceIds }
  if (actor.type !== 'user') return { role: 'owner', ...ALL }
  if (actor.membership?.organisationId === organisationId) return actor.membership
  const { role, workspaceIds } = members
  const [member] = await database(env)
    .select({ role, workspaceIds })
    .from(members)
    .where(and(eq(members.organisationId, organisationId), eq(members.userId, actor.userId)))
  if (!member) throw new AppError('not_found')
  return { ...member, ...accessOf(member) }
}

/**
 * For actions on one member: requires an owner or that member.
 * @throws AppError not_found
 */
export async function requireOwnerOrSelf(request: OrganisationRequest & { userId: string }) {
  if (isSelf(request.actor, request.userId)) await requireMember(request)
  else await requirePermission(request, 'administer')
}

export const isSelf = (actor: Actor, userId: string): boolean =>
  actor.type === 'user' && actor.userId === userId

/** The SQL condition of `requireUnlimited`, for a statement that checks it together with its change. */
export const isUnlimited = (actor: Actor, organisationId: string, permission: Permission): SQL => {
  if (actor.type === 'operator' || actor.type === 'system') return sql`true`
  if (actor.type === 'api_key') {
    return actor.workspaceIds === null && permits('developer', permission) ? sql`true` : sql`false`
  }
  return sql`exists (select 1 from ${members} where ${members.organisationId} = ${organisationId}
      and ${members.userId} = ${actor.userId} and ${members.role} in ${rolesWith(permission)}
      and (${members.role} = 'owner' or ${members.workspaceIds} is null))`
}

/** Owners access all workspaces, even if a limit is stored. */
export const accessOf = ({ role, workspaceIds }: Access & { role: Role }): Access =>
  role === 'owner' ? ALL : { workspaceIds }

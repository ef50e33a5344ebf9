// What actors may do in an organisation. An actor without the required role gets `not_found`, as if the
// organisation did not exist. Operators and the service itself may do everything. An API key acts as a
// member, since the Organisation authenticates it before a use case runs.
import { and, eq, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { members } from '../db/auth-schema.ts'
import { AppError } from '../domain/errors.ts'
import type { Actor } from '../domain/actor.ts'
import { permits } from '../domain/role.ts'
import type { Permission } from '../domain/role.ts'

/** The parameters of every use case that concerns one organisation. */
export interface OrganisationRequest {
  env: Env
  actor: Actor
  organisationId: string
}

/** @throws AppError not_found */
export function requireOperator({ type }: Actor): void {
  if (type !== 'operator' && type !== 'system') throw new AppError('not_found')
}

/** @throws AppError not_found */
export async function requireOwner(request: OrganisationRequest): Promise<void> {
  const { actor } = request
  if (actor.type !== 'user') return requireOperator(actor)
  if ((await roleOf(request, actor.userId)) !== 'owner') throw new AppError('not_found')
}

/**
 * An API key may do what a developer may.
 * @throws AppError not_found
 */
export async function requirePermission(
  request: OrganisationRequest,
  permission: Permission,
): Promise<void> {
  const { actor } = request
  if (actor.type !== 'user') return
  const role = await roleOf(request, actor.userId)
  if (role === undefined || !permits(role, permission)) throw new AppError('not_found')
}

/** @throws AppError not_found */
export async function requireMember(request: OrganisationRequest): Promise<void> {
  const { actor } = request
  if (actor.type !== 'user') return
  if ((await roleOf(request, actor.userId)) === undefined) throw new AppError('not_found')
}

/**
 * For actions on one member: requires an owner or that member.
 * @throws AppError not_found
 */
export const requireOwnerOrSelf = (
  request: OrganisationRequest & { userId: string },
): Promise<void> =>
  isSelf(request.actor, request.userId) ? requireMember(request) : requireOwner(request)

export const isSelf = (actor: Actor, userId: string): boolean =>
  actor.type === 'user' && actor.userId === userId

/** An SQL condition: whether the actor may act as a member. */
export const isMember = (actor: Actor, organisationId: string): SQL =>
  actor.type === 'user'
    ? sql`exists (select 1 from ${members} where ${members.organisationId} = ${organisationId}
            and ${members.userId} = ${actor.userId})`
    : sql`true`

async function roleOf({ env, organisationId }: OrganisationRequest, userId: string) {
  const [member] = await database(env)
    .select({ role: members.role })
    .from(members)
    .where(and(eq(members.organisationId, organisationId), eq(members.userId, userId)))
  return member?.role
}

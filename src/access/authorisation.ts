// What actors may do in an organisation. What they may not do is answered as if it did not exist.
// Operators and the service itself may do everything.
import { and, eq, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { members } from '../db/auth-schema.ts'
import { AppError } from '../domain/errors.ts'
import type { Actor } from '../domain/actor.ts'

/** What every use case about an organisation is given. */
export interface OrganisationRequest {
  env: Env
  actor: Actor
  organisationId: string
}

/** @throws AppError not_found */
export async function requireOwner(request: OrganisationRequest): Promise<void> {
  if (request.actor.type !== 'user') return
  if ((await roleOf(request, request.actor.userId)) !== 'owner') throw new AppError('not_found')
}

/** @throws AppError not_found */
export async function requireMember(request: OrganisationRequest): Promise<void> {
  if (request.actor.type !== 'user') return
  if ((await roleOf(request, request.actor.userId)) === undefined) throw new AppError('not_found')
}

/** As a condition of a statement: whether the actor may act as a member. */
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

// What an actor may do in an organisation.
import { and, eq } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { members } from '../db/people.ts'
import { AppError } from '../errors.ts'
import type { Actor } from './audit.ts'

/**
 * Passes owners of an organisation, operators and the service itself.
 * @throws AppError not_found: what others may not do does not exist for them
 */
export async function requireOwner({
  env,
  actor,
  organisationId,
}: {
  env: Env
  actor: Actor
  organisationId: string
}): Promise<void> {
  if (actor.type !== 'user') return
  const [member] = await database(env)
    .select({ role: members.role })
    .from(members)
    .where(and(eq(members.organisationId, organisationId), eq(members.userId, actor.userId)))
  if (member?.role !== 'owner') throw new AppError('not_found')
}

// The owners of an organisation, for mail about it.
import { and, eq } from 'drizzle-orm'
import { members, users } from '../db/auth-schema.ts'
import { database } from '../db/client.ts'

/** The email addresses of an organisation's owners. */
export async function ownerEmailsOf(env: Env, organisationId: string): Promise<string[]> {
  const rows = await database(env)
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organisationId, organisationId), eq(members.role, 'owner')))
  return rows.map(({ email }) => email)
}

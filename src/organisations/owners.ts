// The owners of an organisation, who receive email about it.
import { and, eq } from 'drizzle-orm'
import { members, users } from '../platform/db/auth-schema.ts'
import { database } from '../platform/db/database.ts'

export async function ownerEmailsOf(env: Env, organisationId: string): Promise<string[]> {
  const rows = await database(env)
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organisationId, organisationId), eq(members.role, 'owner')))
  return rows.map(({ email }) => email)
}

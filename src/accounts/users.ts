// Lookups of users outside better-auth, which owns the table.
import { eq } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { users } from '../db/auth-schema.ts'

export interface User {
  id: string
  email: string
  emailVerified: boolean
}

export async function findUserByEmail(env: Env, email: string): Promise<User | undefined> {
  const [user] = await database(env)
    .select({ id: users.id, email: users.email, emailVerified: users.emailVerified })
    .from(users)
    .where(eq(users.email, email.toLowerCase()))
  return user
}

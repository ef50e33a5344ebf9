// Users outside better-auth, which owns the table.
import { eq, type SQL } from 'drizzle-orm'
import type { UserActor } from '../domain/actor.ts'
import { auditInsertForUser } from '../organisations/audit-log.ts'
import { users } from '../platform/db/auth-schema.ts'
import { database } from '../platform/db/database.ts'

/** The parameters of every use case that concerns the signed-in user. */
export interface UserRequest {
  env: Env
  actor: UserActor
}

export type User = Pick<typeof users.$inferSelect, 'id' | 'email' | 'emailVerified'>

export const findUserByEmail = (env: Env, email: string): Promise<User | undefined> =>
  findWhere(env, eq(users.email, email.toLowerCase()))

export const findUser = (env: Env, id: string): Promise<User | undefined> =>
  findWhere(env, eq(users.id, id))

function findWhere(env: Env, condition: SQL): Promise<User | undefined> {
  const { id, email, emailVerified } = users
  return database(env).select({ id, email, emailVerified }).from(users).where(condition).get()
}

/** Changes the display name. An empty name removes it. */
export async function changeName(request: UserRequest & { name: string }): Promise<void> {
  const { env, actor, name } = request
  const db = database(env)
  await db.batch([
    // Without the names: the audit log outlives the account.
    auditInsertForUser({ env, actor, action: 'user.updated' }),
    db.update(users).set({ name, updatedAt: new Date() }).where(eq(users.id, actor.userId)),
  ])
}

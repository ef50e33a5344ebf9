// Sessions of users: their list, their end, and their start in the audit logs of the organisations.
import { and, desc, eq, gt, ne, sql } from 'drizzle-orm'
import { auditInsertForUser } from '../access/audit-log.ts'
import { sessions } from '../db/auth-schema.ts'
import { database } from '../db/client.ts'
import type { UserActor } from '../domain/actor.ts'

/** How the user proved who they are. `link`: a link in an email. */
export type SignInMethod =
  'password' | 'password_and_code' | 'password_and_recovery_code' | 'passkey' | 'link'

const MAX_LISTED = 50

/** @param knownBrowser whether the user has signed in with this browser before */
export async function recordSignIn({
  env,
  actor,
  method,
  knownBrowser,
}: {
  env: Env
  actor: UserActor
  method: SignInMethod
  knownBrowser: boolean
}): Promise<void> {
  const details = { method, known_browser: knownBrowser }
  await auditInsertForUser(env, { actor, action: 'session.created', details })
}

/** A user's open sessions, the last used first. */
export const listSessions = (env: Env, userId: string) =>
  database(env)
    .select({
      id: sessions.id,
      ipAddress: sessions.ipAddress,
      userAgent: sessions.userAgent,
      signedInAt: sessions.createdAt,
      lastActiveAt: sessions.updatedAt,
    })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, new Date())))
    .orderBy(desc(sessions.updatedAt))
    .limit(MAX_LISTED)

/**
 * Ends sessions of the actor.
 * @param which one session by its id, all but one, or all
 */
export async function revokeSessions({
  env,
  actor,
  which,
}: {
  env: Env
  actor: UserActor
  which: { id: string } | { except: string } | 'all'
}): Promise<void> {
  const revoked = and(
    eq(sessions.userId, actor.userId),
    which === 'all'
      ? undefined
      : 'id' in which
        ? eq(sessions.id, which.id)
        : ne(sessions.id, which.except),
  )
  const db = database(env)
  await db.batch([
    auditInsertForUser(
      env,
      { actor, action: 'session.revoked' },
      sql`exists (select 1 from ${sessions} where ${revoked})`,
    ),
    db.delete(sessions).where(revoked),
  ])
}

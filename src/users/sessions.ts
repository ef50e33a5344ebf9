// Sessions of users: their list, their end, their start in the audit logs of the organisations, and the email
// about a sign-in from a browser that has not signed in to the account before.
import { and, desc, eq, gt, ne, notInArray, sql } from 'drizzle-orm'
import { DAY_MS } from '../domain/limits.ts'
import { newSignInEmail } from '../mail/security-mail.ts'
import { canSendEmail, sendEmail } from '../mail/send.ts'
import { auditInsertForUser } from '../organisations/audit-log.ts'
import { mutedNotifications, sessions, users } from '../platform/db/auth-schema.ts'
import { database, IF_CHANGED } from '../platform/db/database.ts'
import { log } from '../platform/log.ts'
import { settingsOf } from '../platform/settings.ts'
import type { UserRequest } from './users.ts'

/** How the user proved who they are. `link`: a link in an email. */
export type SignInMethod =
  'password' | 'password_and_code' | 'password_and_recovery_code' | 'passkey' | 'link'

/** The sessions that a user can have at a time. */
export const MAX_SESSIONS = 20
/** A session ends after this time, also when it is used all the time. */
export const MAX_SESSION_MS = 30 * DAY_MS
/** A user who has just signed up has no earlier session. */
const SIGN_UP_MS = 60 * 60_000

/**
 * Records a sign-in, and ends the sessions of the user beyond the newest `MAX_SESSIONS`.
 * @param knownBrowser whether the user has signed in with this browser before
 */
export async function recordSignIn(
  request: UserRequest & { method: SignInMethod; knownBrowser: boolean },
): Promise<void> {
  const { env, actor, method, knownBrowser } = request
  const details = { method, known_browser: knownBrowser }
  const db = database(env)
  const open = and(eq(sessions.userId, actor.userId), gt(sessions.expiresAt, new Date()))
  const newest = db
    .select({ id: sessions.id })
    .from(sessions)
    .where(open)
    .orderBy(desc(sessions.createdAt), desc(sessions.updatedAt))
    .limit(MAX_SESSIONS)
  await db.batch([
    auditInsertForUser({ env, actor, action: 'session.created', details }),
    db.delete(sessions).where(and(open, notInArray(sessions.id, newest))),
  ])
}

/**
 * Ends a session whose sign-in is longer ago than `MAX_SESSION_MS`.
 * @returns whether it has ended
 */
export async function endIfOld(env: Env, { id, createdAt }: { id: string; createdAt: Date }) {
  if (Date.now() - createdAt.getTime() < MAX_SESSION_MS) return false
  // Reading it has extended it, and its cookie would extend it again.
  await database(env).delete(sessions).where(eq(sessions.id, id))
  return true
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
    .where(
      and(
        eq(sessions.userId, userId),
        gt(sessions.expiresAt, new Date()),
        gt(sessions.createdAt, new Date(Date.now() - MAX_SESSION_MS)),
      ),
    )
    .orderBy(desc(sessions.updatedAt))

/** One session by its id, all but one, or all. */
type Which = { id: string } | { except: string } | 'all'

function conditionOf(which: Which) {
  if (which === 'all') return undefined
  return 'id' in which ? eq(sessions.id, which.id) : ne(sessions.id, which.except)
}

/** Ends sessions of the actor. */
export async function revokeSessions(request: UserRequest & { which: Which }): Promise<void> {
  const { env, actor, which } = request
  const revoked = and(eq(sessions.userId, actor.userId), conditionOf(which))
  const db = database(env)
  await db.batch([
    db.delete(sessions).where(revoked),
    auditInsertForUser({ env, actor, action: 'session.revoked' }, IF_CHANGED),
  ])
}

/**
 * Sends the email, except for the first session after the sign-up. Does not throw: a failure is logged.
 * Call it in `waitUntil`, after the session has been created.
 * @param device such as "Firefox on Linux"
 * @param mayMail whether another email is within the budget. Called for emails that would be sent
 */
export async function notifyNewSignIn(signIn: {
  env: Env
  userId: string
  device: string
  ipAddress: string | null
  mayMail: () => Promise<boolean>
}): Promise<void> {
  const { env, userId, device, ipAddress, mayMail } = signIn
  if (!canSendEmail(env)) return
  try {
    const at = new Date()
    const user = await database(env)
      .select({
        email: users.email,
        createdAt: users.createdAt,
        sessions: sql<number>`(select count(*) from ${sessions}
          where ${sessions.userId} = ${userId})`,
      })
      .from(users)
      .where(
        sql`${users.id} = ${userId} and not exists (select 1 from ${mutedNotifications}
          where ${mutedNotifications.userId} = ${userId}
            and ${mutedNotifications.kind} = 'new_sign_in')`,
      )
      .get()
    if (!user) return
    const isSignUp = user.sessions <= 1 && at.getTime() - user.createdAt.getTime() < SIGN_UP_MS
    if (isSignUp || !(await mayMail())) return
    const link = `${settingsOf(env).baseUrl ?? ''}/console/account`
    const email = newSignInEmail(at, { device, ipAddress })
    await sendEmail({ env, to: user.email, link, email })
  } catch (error) {
    log.error('user not notified', error, { userId })
  }
}

// Changes a user's email address with a link to the new address. The link works once, for one hour, and
// only for the user who requested it.
import { and, eq, ne, sql } from 'drizzle-orm'
import { sendEmail } from '../mail/send.ts'
import { addressInUseEmail, confirmAddressEmail, emailChangedEmail } from '../mail/templates.tsx'
import { auditInsertForUser } from '../organisations/audit-log.ts'
import { sessions, users, verifications } from '../platform/db/auth-schema.ts'
import { database } from '../platform/db/database.ts'
import { settingsOf } from '../platform/settings.ts'
import { challengeExists, createChallenge, deleteChallenges, findChallenge } from './challenges.ts'
import { findUserByEmail, type UserRequest } from './users.ts'

const LINK_SECONDS = 60 * 60

/** Sends the link. If the address has an account, its user gets an email that says so. */
export async function requestEmailChange(
  request: UserRequest & { email: string; baseUrl: string },
): Promise<void> {
  const { env, actor, email, baseUrl } = request
  const existing = await findUserByEmail(env, email)
  if (existing?.emailVerified) {
    const link = `${baseUrl}/console/sign-in`
    await sendEmail({ env, to: email, link, email: addressInUseEmail })
    return
  }
  const challenge = { userId: actor.userId, email, seconds: LINK_SECONDS }
  const token = await createChallenge(env, { kind: 'email_change', ...challenge })
  const link = `${baseUrl}/console/account/email/confirm?token=${token}`
  await sendEmail({ env, to: email, link, email: confirmAddressEmail(actor.email) })
}

/** The new address of an open link; undefined if it is not open or belongs to another user. */
export async function findEmailChange(
  env: Env,
  { userId, token }: { userId: string; token: string },
): Promise<string | undefined> {
  const found = await findChallenge(env, 'email_change', token)
  return found?.userId === userId ? (found.email ?? undefined) : undefined
}

/**
 * Changes the address. Ends all other sessions and informs the old address. An unverified sign-up with
 * the new address is deleted: the link proves that it is the user's.
 * @param sessionId the session that stays
 * @returns the new address; undefined if the link is no longer valid or the address has an account
 */
export async function changeEmail(
  request: UserRequest & { token: string; sessionId: string; baseUrl: string },
): Promise<string | undefined> {
  const { env, actor, token, sessionId, baseUrl } = request
  const { userId, email: oldEmail } = actor
  const email = await findEmailChange(env, { userId, token })
  if (email === undefined) return undefined
  const db = database(env)
  // A condition of every statement that only the last one changes: all statements apply, or none.
  const isAllowed = sql`${challengeExists('email_change', token)} and not exists
    (select 1 from users as others where others.email = ${email} and others.email_verified
      and others.id <> ${userId})`
  const isOtherSignUp = and(
    eq(users.email, email),
    eq(users.emailVerified, false),
    ne(users.id, userId),
  )
  const details = { email_old: oldEmail, email_new: email }
  const results = await db.batch([
    auditInsertForUser({ env, actor, action: 'user.email_changed', details }, isAllowed),
    db.delete(users).where(and(isOtherSignUp, isAllowed)),
    db
      .update(users)
      .set({
        email,
        emailVerified: true,
        formerEmails: sql`json_insert(coalesce(${users.formerEmails}, '[]'), '$[#]', ${oldEmail})`,
        updatedAt: new Date(),
      })
      .where(and(eq(users.id, userId), isAllowed)),
    db
      .delete(sessions)
      .where(and(eq(sessions.userId, userId), ne(sessions.id, sessionId), isAllowed)),
    // Reset links that were sent to the old address.
    db.delete(verifications).where(and(eq(verifications.value, userId), isAllowed)),
    deleteChallenges(env, userId),
  ])
  if (results[2].meta.changes === 0) return undefined
  const support = settingsOf(env).supportEmail ?? 'support'
  const content = emailChangedEmail(email, new Date(), support)
  await sendEmail({ env, to: oldEmail, link: `${baseUrl}/console/sign-in`, email: content })
  return email
}

// Checks passwords, and sets them by an emailed link, which proves that the address belongs to the user.
// Each change is one D1 batch that replaces the password, marks the address as verified, ends all
// sessions and deletes all reset tokens. This also ends any access that another person has to the
// account. Two-factor authentication and passkeys remain.
import { and, eq, gt, sql, type SQL } from 'drizzle-orm'
import { errors, jwtVerify } from 'jose'
import type { UserActor } from '../domain/actor.ts'
import { auditInsertForUser } from '../organisations/audit-log.ts'
import { logins, sessions, users, verifications } from '../platform/db/auth-schema.ts'
import { database, hasChanged, unlessLost } from '../platform/db/database.ts'
import { authOf, authSecretOf } from './auth.ts'
import { deleteChallenges } from './challenges.ts'
import { passwordHash } from './password-hash.ts'
import { findUserByEmail, type User, type UserRequest } from './users.ts'

type CredentialCheck =
  | { result: 'incorrect' }
  | { result: 'not_verified' }
  | { result: 'correct'; user: User; twoFactor: boolean }

/** Checks an email address and password. Takes as long for an unknown address as for a wrong password. */
export async function checkCredentials(request: {
  env: Env
  email: string
  password: string
}): Promise<CredentialCheck> {
  const { env, email, password } = request
  const found = await database(env)
    .select({
      user: { id: users.id, email: users.email, emailVerified: users.emailVerified },
      twoFactorEnabledAt: users.twoFactorEnabledAt,
      hash: logins.password,
    })
    .from(users)
    .innerJoin(logins, eq(logins.userId, users.id))
    .where(eq(users.email, email))
    .get()
  if (!found?.hash) {
    await passwordHash.hash(password)
    return { result: 'incorrect' }
  }
  const { user, hash, twoFactorEnabledAt } = found
  if (!(await passwordHash.verify({ hash, password }))) return { result: 'incorrect' }
  if (!user.emailVerified) return { result: 'not_verified' }
  return { result: 'correct', user, twoFactor: twoFactorEnabledAt !== null }
}

type VerificationLink = { state: 'invalid' | 'verified' } | { state: 'open'; user: User }

/** The state of a verification link, whose token is a signed JWT with the address. */
export async function findVerification(env: Env, token: string): Promise<VerificationLink> {
  const email = await addressOf(env, token)
  const user = email === null ? undefined : await findUserByEmail(env, email)
  if (!user) return { state: 'invalid' }
  return user.emailVerified ? { state: 'verified' } : { state: 'open', user }
}

async function addressOf(env: Env, token: string): Promise<string | null> {
  const secret = new TextEncoder().encode(authSecretOf(env))
  try {
    const { payload } = await jwtVerify(token, secret, { algorithms: ['HS256'] })
    const { email, updateTo } = payload
    // `updateTo` marks a token that changes an address. The console does not send such tokens.
    return typeof email === 'string' && updateTo === undefined ? email : null
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

/**
 * Marks an address as verified without changing the password. Only for the browser that signed up: for
 * any other browser, another person may have chosen the password.
 * @returns false if the address was already verified
 */
export const verifyAddress = (env: Env, userId: string): Promise<boolean> =>
  hasChanged(
    database(env)
      .update(users)
      .set({ emailVerified: true, updatedAt: new Date() })
      .where(and(eq(users.id, userId), eq(users.emailVerified, false))),
  )

/** Verifies an address and replaces its password. @returns false if it was already verified */
export async function verifyAddressWithPassword(request: {
  env: Env
  user: User
  password: string
}): Promise<boolean> {
  const { env, user, password } = request
  const hash = await passwordHash.hash(password)
  const condition = eq(users.emailVerified, false)
  return unlessLost(
    database(env).batch(replacePassword(env, { userId: user.id, hash, condition })),
    async () => (await findUserByEmail(env, user.email))?.emailVerified ?? false,
  )
}

/** @returns the id of a reset token and its user; undefined if it is invalid, used or expired */
export async function findReset(env: Env, token: string) {
  // Any base URL: tokens do not depend on it.
  const { internalAdapter } = await authOf(env, 'https://console.invalid').$context
  const found = await internalAdapter.findVerificationValue(`reset-password:${token}`)
  if (!found || found.expiresAt.getTime() <= Date.now()) return undefined
  const user = await internalAdapter.findUserById(found.value)
  return user ? { id: found.id, userId: user.id, email: user.email } : undefined
}

/** A new password that a user sets with the token of an emailed link. */
export interface PasswordByLink {
  env: Env
  token: string
  password: string
  ipAddress: string | null
}

/** Sets a new password by a reset token, once. @returns false if it is invalid, used or expired */
export async function resetPassword(request: PasswordByLink): Promise<boolean> {
  const { env, token, password, ipAddress } = request
  const reset = await findReset(env, token)
  if (!reset) return false
  const hash = await passwordHash.hash(password)
  const db = database(env)
  const isOpen = sql`exists (select 1 from ${verifications}
    where ${and(eq(verifications.id, reset.id), gt(verifications.expiresAt, new Date()))})`
  const { userId, email } = reset
  const actor: UserActor = { type: 'user', userId, email, ipAddress }
  const batch = db.batch([
    ...replacePassword(env, { userId, hash, condition: isOpen }),
    auditInsertForUser({ env, actor, action: 'user.password_changed' }),
  ])
  return unlessLost(batch, async () => !(await findReset(env, token)))
}

/** Replaces the password of a user who has just entered the current one. Ends all sessions. */
export async function changePassword(request: UserRequest & { password: string }): Promise<void> {
  const { env, actor, password } = request
  const hash = await passwordHash.hash(password)
  await database(env).batch([
    ...replacePassword(env, { userId: actor.userId, hash, condition: sql`true` }),
    auditInsertForUser({ env, actor, action: 'user.password_changed' }),
  ])
}

/**
 * The statements that replace a password, for a batch.
 * @param condition on the user's row; where it is false, the batch fails and changes nothing
 */
export function replacePassword(
  env: Env,
  { userId, hash, condition }: { userId: string; hash: string; condition: SQL },
) {
  const db = database(env)
  const now = new Date()
  return [
    db.delete(logins).where(eq(logins.userId, userId)),
    db.insert(logins).values({
      id: crypto.randomUUID(),
      accountId: userId,
      providerId: 'credential',
      // NULL where the condition is false: the column rejects it, and the batch fails.
      userId: sql`(select ${users.id} from ${users} where ${and(eq(users.id, userId), condition)})`,
      password: hash,
      createdAt: now,
      updatedAt: now,
    }),
    db.update(users).set({ emailVerified: true, updatedAt: now }).where(eq(users.id, userId)),
    db.delete(sessions).where(eq(sessions.userId, userId)),
    // All rows are reset tokens, whose value is the user's id.
    db.delete(verifications).where(eq(verifications.value, userId)),
    deleteChallenges(env, userId),
  ] as const
}

// Two-factor authentication: codes of an authenticator app (TOTP), and recovery codes for its loss.
// `users.two_factor_enabled_at` says whether a sign-in with the password requires a code. A secret
// without it is a set-up that was not confirmed. Stored secrets are encrypted again after a change of
// ENCRYPTION_KEY, a limited number in each cron run, like those of webhooks/endpoints/reencrypt-secrets.
import { and, asc, eq, isNotNull, isNull, lt, or, sql, type SQL } from 'drizzle-orm'
import { auditInsertForUser } from '../organisations/audit-log.ts'
import { recoveryCodes, totpSecrets, users } from '../platform/db/auth-schema.ts'
import { database, IF_CHANGED } from '../platform/db/database.ts'
import { decrypt, encrypt, reencryption } from '../platform/db/encryption.ts'
import { logError } from '../platform/log.ts'
import { sha256 } from '../platform/signing/sha256.ts'
import { endChallenge } from './challenges.ts'
import { base32, newTotpSecret, stepOf } from './totp.ts'
import type { UserRequest } from './users.ts'

export const RECOVERY_CODE_COUNT = 10
/** 80 bits: a hash without salt and stretching suffices. */
const RECOVERY_CODE_BYTES = 10

const contextOf = (userId: string) => `totp_secret:${userId}`

/** Starts a set-up with a new secret. Replaces one that was not confirmed. */
export async function startTwoFactor({ env, actor: { userId } }: UserRequest): Promise<void> {
  const secret = await encrypt(env, { context: contextOf(userId), text: newTotpSecret() })
  const row = { secret, lastStep: null, createdAt: new Date() }
  await database(env)
    .insert(totpSecrets)
    .values({ userId, ...row })
    // The secret in force never changes here.
    .onConflictDoUpdate({ target: totpSecrets.userId, set: row, setWhere: isNotEnabled(userId) })
}

/** The secret of a set-up that was not confirmed, in base32. */
export async function pendingSecretOf(env: Env, userId: string): Promise<string | undefined> {
  const row = await findSecret(env, userId)
  return row && !row.enabledAt ? row.secret : undefined
}

/**
 * Confirms the set-up with a code of the app. From now on, sign-ins require a code.
 * @returns the recovery codes; undefined if the code is wrong or no set-up was started
 */
export async function enableTwoFactor(request: UserRequest & { code: string }) {
  const { env, actor, code } = request
  const { userId } = actor
  const row = await findSecret(env, userId)
  if (!row || row.enabledAt) return undefined
  const step = await stepOf(row.secret, digitsOf(code))
  if (step === null) return undefined
  const codes = newRecoveryCodes()
  const db = database(env)
  // Only the last statement changes this condition: all statements apply, or none. A concurrent set-up
  // may have replaced the secret.
  const isPending = sql`${isNotEnabled(userId)} and exists (select 1 from ${totpSecrets}
    where ${totpSecrets.userId} = ${userId} and ${totpSecrets.secret} = ${row.stored})`
  const results = await db.batch([
    auditInsertForUser({ env, actor, action: 'user.two_factor_enabled' }, isPending),
    db.delete(recoveryCodes).where(and(eq(recoveryCodes.userId, userId), isPending)),
    insertRecoveryCodes(env, userId, codes, isPending),
    db
      .update(totpSecrets)
      .set({ lastStep: step })
      .where(and(eq(totpSecrets.userId, userId), isPending)),
    db
      .update(users)
      .set({ twoFactorEnabledAt: new Date() })
      .where(and(eq(users.id, userId), isPending)),
  ])
  return results[4].meta.changes > 0 ? codes : undefined
}

/** Removes the secret and the recovery codes, also of a set-up that was not confirmed. */
export async function disableTwoFactor({ env, actor }: UserRequest): Promise<void> {
  const { userId } = actor
  const db = database(env)
  await db.batch([
    db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId)),
    db.delete(totpSecrets).where(eq(totpSecrets.userId, userId)),
    db
      .update(users)
      .set({ twoFactorEnabledAt: null })
      .where(and(eq(users.id, userId), isNotNull(users.twoFactorEnabledAt))),
    auditInsertForUser({ env, actor, action: 'user.two_factor_disabled' }, IF_CHANGED),
  ])
}

/**
 * Replaces all recovery codes.
 * @returns the new codes; undefined while two-factor authentication is off
 */
export async function replaceRecoveryCodes(request: UserRequest): Promise<string[] | undefined> {
  const { env, actor } = request
  const { userId } = actor
  const codes = newRecoveryCodes()
  const db = database(env)
  const [, inserted] = await db.batch([
    db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId)),
    insertRecoveryCodes(env, userId, codes, sql`not ${isNotEnabled(userId)}`),
    auditInsertForUser({ env, actor, action: 'user.recovery_codes_created' }, IF_CHANGED),
  ])
  return inserted.meta.changes > 0 ? codes : undefined
}

export const countRecoveryCodes = (env: Env, userId: string): Promise<number> =>
  database(env).$count(recoveryCodes, eq(recoveryCodes.userId, userId))

/**
 * Checks a code of the app, or a recovery code, and uses it up.
 * @returns which kind of code it was; null if it is wrong or was used before
 */
export async function useCode(env: Env, { userId, code }: { userId: string; code: string }) {
  const digits = digitsOf(code)
  if (!/^\d{6}$/.test(digits)) {
    const { meta } = await database(env)
      .delete(recoveryCodes)
      .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.hash, hashOf(userId, code))))
    return meta.changes > 0 ? 'recovery_code' : null
  }
  const row = await findSecret(env, userId)
  const step = row?.enabledAt ? await stepOf(row.secret, digits) : null
  if (step === null) return null
  // Only the first of concurrent sign-ins with the same code succeeds.
  const { meta } = await database(env)
    .update(totpSecrets)
    .set({ lastStep: step })
    .where(
      and(
        eq(totpSecrets.userId, userId),
        or(isNull(totpSecrets.lastStep), lt(totpSecrets.lastStep, step)),
      ),
    )
  return meta.changes > 0 ? 'totp' : null
}

/**
 * Checks the code of a sign-in and ends its challenge, so that one password check gives one session.
 * @returns which kind of code it was; null if it is wrong or was used before
 */
export async function finishSecondFactor(
  env: Env,
  { userId, code, token }: { userId: string; code: string; token: string },
): Promise<'totp' | 'recovery_code' | null> {
  const used = await useCode(env, { userId, code })
  if (!used || !(await endChallenge(env, 'second_factor', token))) return null
  return used
}

/** @throws Error when its encryption key is not set */
export const decryptTotpSecret = (
  env: Env,
  { userId, stored }: { userId: string; stored: string },
): Promise<string> => decrypt(env, { context: contextOf(userId), stored })

async function findSecret(env: Env, userId: string) {
  const row = await database(env)
    .select({ stored: totpSecrets.secret, enabledAt: users.twoFactorEnabledAt })
    .from(totpSecrets)
    .innerJoin(users, eq(users.id, totpSecrets.userId))
    .where(eq(totpSecrets.userId, userId))
    .get()
  return row && { ...row, secret: await decryptTotpSecret(env, { userId, stored: row.stored }) }
}

/** An SQL condition. */
const isNotEnabled = (userId: string) =>
  sql`exists (select 1 from ${users} where ${users.id} = ${userId} and ${isNull(users.twoFactorEnabledAt)})`

/** Apps show `123 456`. */
const digitsOf = (code: string) => code.replaceAll(/\s/g, '')

/** Four groups of four letters and digits, such as `mzxw-6ytb-oi2d-k3lp`. */
const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODE_COUNT }, () => {
    const text = base32(crypto.getRandomValues(new Uint8Array(RECOVERY_CODE_BYTES))).toLowerCase()
    return (text.match(/.{4}/g) ?? []).join('-')
  })

const hashOf = (userId: string, code: string) =>
  sha256(`${userId}:${code.toLowerCase().replaceAll(/[^a-z2-7]/g, '')}`).toString('hex')

function insertRecoveryCodes(env: Env, userId: string, codes: string[], when: SQL) {
  const hashes = JSON.stringify(codes.map((code) => hashOf(userId, code)))
  return database(env)
    .insert(recoveryCodes)
    .select(sql`select value, ${userId} from json_each(${hashes}) where ${when}`)
}

export const reencryptTotpSecrets = reencryption(
  'secrets of authenticator apps',
  async (env, outdated, limit) => {
    const { secret, userId } = totpSecrets
    const rows = await database(env)
      .select({ userId, stored: secret })
      .from(totpSecrets)
      .where(outdated(secret))
      .orderBy(asc(userId))
      .limit(limit)
    for (const row of rows) {
      // One value that cannot be decrypted must not stop the others.
      await reencrypt(env, row).catch(
        logError('secret of an authenticator app not encrypted', { userId: row.userId }),
      )
    }
    return rows.length < limit
  },
)

async function reencrypt(env: Env, { userId, stored }: { userId: string; stored: string }) {
  const text = await decryptTotpSecret(env, { userId, stored })
  const secret = await encrypt(env, { context: contextOf(userId), text })
  await database(env)
    .update(totpSecrets)
    .set({ secret })
    // A concurrent set-up takes precedence.
    .where(and(eq(totpSecrets.userId, userId), eq(totpSecrets.secret, stored)))
}

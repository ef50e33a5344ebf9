// Encrypts stored secrets of authenticator apps with the current ENCRYPTION_KEY, a limited number in each
// cron run, like webhooks/endpoints/reencrypt-secrets.
import { and, asc, eq, like, not, or } from 'drizzle-orm'
import { totpSecrets } from '../platform/db/auth-schema.ts'
import { database } from '../platform/db/database.ts'
import { storedPrefixes } from '../platform/db/encryption.ts'
import { log } from '../platform/log.ts'
import { decryptTotpSecret, encryptTotpSecret } from './two-factor.ts'

/** A check without outdated secrets reads every row, so it does not run each minute. */
const RECHECK_MS = 60 * 60_000

/** When to check again, by the prefix of the current key. */
const recheckAt = new Map<string, number>()

/**
 * Encrypts secrets that are stored in plain text or under ENCRYPTION_KEY_PREVIOUS. Does nothing while
 * ENCRYPTION_KEY is not set.
 * @param limit the maximum number of secrets that one call changes; the next call continues
 */
export async function reencryptTotpSecrets(env: Env, limit = 100): Promise<void> {
  const { current, previous } = await storedPrefixes(env)
  if (!current || (recheckAt.get(current) ?? 0) > Date.now()) return
  const { secret, userId } = totpSecrets
  const rows = await database(env)
    .select({ userId, stored: secret })
    .from(totpSecrets)
    .where(or(not(like(secret, 'enc:%')), previous ? like(secret, `${previous}%`) : undefined))
    .orderBy(asc(userId))
    .limit(limit)
    .catch((error: unknown) => {
      log.error('secrets of authenticator apps not encrypted', error)
      throw error
    })
  for (const row of rows) {
    // One value that cannot be decrypted must not stop the others.
    await reencrypt(env, row).catch((error: unknown) =>
      log.error('secret of an authenticator app not encrypted', error, { userId: row.userId }),
    )
  }
  if (rows.length < limit) recheckAt.set(current, Date.now() + RECHECK_MS)
}

async function reencrypt(env: Env, row: { userId: string; stored: string }): Promise<void> {
  const { userId, stored } = row
  const plain = await decryptTotpSecret(env, row)
  await database(env)
    .update(totpSecrets)
    .set({ secret: await encryptTotpSecret(env, { userId, secret: plain }) })
    // A concurrent set-up takes precedence.
    .where(and(eq(totpSecrets.userId, userId), eq(totpSecrets.secret, stored)))
}

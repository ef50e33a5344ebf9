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
  try {
    await reencryptOutdated(env, limit)
  } catch (error) {
    log.error('secrets of authenticator apps not encrypted', error)
    throw error
  }
}

async function reencryptOutdated(env: Env, limit: number): Promise<void> {
  const { current, previous } = await storedPrefixes(env)
  if (!current || (recheckAt.get(current) ?? 0) > Date.now()) return
  const { secret } = totpSecrets
  const db = database(env)
  const rows = await db
    .select({ userId: totpSecrets.userId, stored: secret })
    .from(totpSecrets)
    .where(or(not(like(secret, 'enc:%')), previous ? like(secret, `${previous}%`) : undefined))
    .orderBy(asc(totpSecrets.userId))
    .limit(limit)
  for (const { userId, stored } of rows) {
    // One value that cannot be decrypted must not stop the others.
    await reencrypt(userId, stored).catch((error: unknown) =>
      log.error('secret of an authenticator app not encrypted', error, { userId }),
    )
  }
  if (rows.length < limit) recheckAt.set(current, Date.now() + RECHECK_MS)

  async function reencrypt(userId: string, stored: string): Promise<void> {
    const plain = await decryptTotpSecret(env, { userId, stored })
    const encrypted = await encryptTotpSecret(env, { userId, secret: plain })
    await db
      .update(totpSecrets)
      .set({ secret: encrypted })
      // A concurrent set-up takes precedence.
      .where(and(eq(totpSecrets.userId, userId), eq(secret, stored)))
  }
}

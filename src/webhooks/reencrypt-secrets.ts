// Encrypts stored webhook secrets with the current ENCRYPTION_KEY, a limited number in each cron run.
import { and, asc, eq, isNull, like, not, or } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { organisations } from '../db/schema.ts'
import { storedPrefixes } from '../db/encryption.ts'
import { log } from '../log.ts'
import { decryptWebhookSecret, encryptWebhookSecret } from './stored-secret.ts'

/** A check without outdated secrets reads every organisation, so it does not run each minute. */
const RECHECK_MS = 60 * 60_000

/** When to check again, by the prefix of the current key. */
const recheckAt = new Map<string, number>()

/**
 * Encrypts secrets that are stored in plain text or under ENCRYPTION_KEY_PREVIOUS. Does nothing while
 * ENCRYPTION_KEY is not set.
 * @param limit the maximum number of organisations that one call changes; the next call continues
 */
export async function reencryptWebhookSecrets(env: Env, limit = 100): Promise<void> {
  try {
    await reencryptOutdated(env, limit)
  } catch (error) {
    log.error('stored secrets not encrypted', error)
    throw error
  }
}

async function reencryptOutdated(env: Env, limit: number): Promise<void> {
  const { current, previous } = await storedPrefixes(env)
  if (!current || (recheckAt.get(current) ?? 0) > Date.now()) return
  const { webhookSecret, webhookSecretPrevious } = organisations
  const outdated = (column: typeof webhookSecret | typeof webhookSecretPrevious) =>
    or(not(like(column, 'enc:%')), previous ? like(column, `${previous}%`) : undefined)
  const isOutdated = (stored: string) =>
    !stored.startsWith('enc:') || (previous !== undefined && stored.startsWith(previous))
  const db = database(env)
  const rows = await db
    .select({ id: organisations.id, webhookSecret, webhookSecretPrevious })
    .from(organisations)
    .where(or(outdated(webhookSecret), outdated(webhookSecretPrevious)))
    .orderBy(asc(organisations.id))
    .limit(limit)
  for (const row of rows) {
    // One value that cannot be decrypted must not stop the others.
    await reencrypt(row).catch((error: unknown) =>
      log.error('stored secret not encrypted', error, { organisationId: row.id }),
    )
  }
  if (rows.length > 0) log.info('stored secrets encrypted', { organisations: rows.length })
  if (rows.length < limit) recheckAt.set(current, Date.now() + RECHECK_MS)

  async function reencrypt(row: (typeof rows)[number]): Promise<void> {
    const organisationId = row.id
    const encrypted = async (stored: string) => {
      if (!isOutdated(stored)) return stored
      const secret = await decryptWebhookSecret(env, { organisationId, stored })
      return encryptWebhookSecret(env, { organisationId, secret })
    }
    const { webhookSecret: secret, webhookSecretPrevious: older } = row
    await db
      .update(organisations)
      .set({
        webhookSecret: await encrypted(secret),
        webhookSecretPrevious: older === null ? null : await encrypted(older),
      })
      .where(
        and(
          eq(organisations.id, organisationId),
          // A concurrent rotation takes precedence.
          eq(webhookSecret, secret),
          older === null ? isNull(webhookSecretPrevious) : eq(webhookSecretPrevious, older),
        ),
      )
  }
}

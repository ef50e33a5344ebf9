// Brings stored secrets under the current ENCRYPTION_KEY, a few at a time (cron).
import { and, asc, eq, isNull, like, not, or } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { organisations } from '../db/schema.ts'
import { storedPrefixes } from '../db/encryption.ts'
import { log } from '../log.ts'
import { decryptWebhookSecret, encryptWebhookSecret } from '../webhooks/stored-secret.ts'

/** Finding that nothing is left reads every organisation, so it is not repeated each minute. */
const RECHECK_MS = 60 * 60_000

/** For each key, by its prefix: when to look again. */
const recheckAt = new Map<string, number>()

/**
 * Encrypts signing secrets that are stored in plain text or under ENCRYPTION_KEY_PREVIOUS. Does
 * nothing while ENCRYPTION_KEY is not set.
 * @param limit of organisations in one call; the next call continues
 */
export async function encryptStoredSecrets(env: Env, limit = 100): Promise<void> {
  try {
    await encryptOutdated(env, limit)
  } catch (error) {
    log.error('stored secrets not encrypted', error)
    throw error
  }
}

async function encryptOutdated(env: Env, limit: number): Promise<void> {
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
    await renew(row).catch((error: unknown) =>
      log.error('stored secret not encrypted', error, { organisationId: row.id }),
    )
  }
  if (rows.length > 0) log.info('stored secrets encrypted', { organisations: rows.length })
  if (rows.length < limit) recheckAt.set(current, Date.now() + RECHECK_MS)

  async function renew(row: (typeof rows)[number]): Promise<void> {
    const renewed = async (stored: string) =>
      isOutdated(stored)
        ? encryptWebhookSecret(env, row.id, await decryptWebhookSecret(env, row.id, stored))
        : stored
    const { webhookSecret: secret, webhookSecretPrevious: older } = row
    await db
      .update(organisations)
      .set({
        webhookSecret: await renewed(secret),
        webhookSecretPrevious: older === null ? null : await renewed(older),
      })
      .where(
        and(
          eq(organisations.id, row.id),
          // A rotation in the meantime takes precedence.
          eq(webhookSecret, secret),
          older === null ? isNull(webhookSecretPrevious) : eq(webhookSecretPrevious, older),
        ),
      )
  }
}

// Encrypts stored webhook secrets with the current ENCRYPTION_KEY, a limited number in each cron run.
import { and, eq, isNull, like, not, or } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { forEachShard, type Database } from '../../platform/db/database.ts'
import { webhookEndpoints, type EndpointRow } from '../../platform/db/webhook-schema.ts'
import { storedPrefixes } from '../../platform/db/encryption.ts'
import { log } from '../../platform/log.ts'
import { decryptWebhookSecret, encryptWebhookSecret } from './secrets.ts'

/** A check without outdated secrets reads every endpoint, so it does not run each minute. */
const RECHECK_MS = 60 * 60_000

/** When to check again, by the prefix of the current key. */
const recheckAt = new Map<string, number>()

/**
 * Encrypts secrets that are stored in plain text or under ENCRYPTION_KEY_PREVIOUS. Does nothing while
 * ENCRYPTION_KEY is not set.
 * @param limit the maximum number of endpoints of a shard that one call changes; the next call continues
 */
export async function reencryptWebhookSecrets(env: Env, limit = 100): Promise<void> {
  const { current, previous } = await storedPrefixes(env)
  if (!current || (recheckAt.get(current) ?? 0) > Date.now()) return
  const counts = await forEachShard(env, 'stored secrets', (db) =>
    reencryptOutdated({ env, db, previous, limit }),
  ).catch((error: unknown) => {
    log.error('stored secrets not encrypted', error)
    throw error
  })
  if (counts.every((count) => count < limit)) recheckAt.set(current, Date.now() + RECHECK_MS)
}

const { organisationId, id, secret, secretPrevious } = webhookEndpoints

/** @returns how many endpoints had outdated secrets */
async function reencryptOutdated({
  env,
  db,
  previous,
  limit,
}: {
  env: Env
  db: Database
  previous: string | undefined
  limit: number
}): Promise<number> {
  const outdated = (column: SQLiteColumn) =>
    or(not(like(column, 'enc:%')), previous ? like(column, `${previous}%`) : undefined)
  const rows = await db
    .select({ organisationId, id, secret, secretPrevious })
    .from(webhookEndpoints)
    .where(or(outdated(secret), outdated(secretPrevious)))
    .limit(limit)
  const isOutdated = (stored: string) =>
    !stored.startsWith('enc:') || (previous !== undefined && stored.startsWith(previous))
  for (const row of rows) {
    // One value that cannot be decrypted must not stop the others.
    await reencrypt({ env, db, row, isOutdated }).catch((error: unknown) =>
      log.error('stored secret not encrypted', error, { organisationId: row.organisationId }),
    )
  }
  if (rows.length > 0) log.info('stored secrets encrypted', { endpoints: rows.length })
  return rows.length
}

/** Encrypts the outdated secrets of an endpoint, unless a concurrent rotation has replaced them. */
async function reencrypt({
  env,
  db,
  row,
  isOutdated,
}: {
  env: Env
  db: Database
  row: Pick<EndpointRow, 'organisationId' | 'id' | 'secret' | 'secretPrevious'>
  isOutdated: (stored: string) => boolean
}): Promise<void> {
  const encrypted = async (stored: string) => {
    if (!isOutdated(stored)) return stored
    const owner = { organisationId: row.organisationId }
    const text = await decryptWebhookSecret(env, { ...owner, stored })
    return encryptWebhookSecret(env, { ...owner, secret: text })
  }
  await db
    .update(webhookEndpoints)
    .set({
      secret: await encrypted(row.secret),
      secretPrevious: row.secretPrevious === null ? null : await encrypted(row.secretPrevious),
    })
    .where(
      and(
        eq(organisationId, row.organisationId),
        eq(id, row.id),
        eq(secret, row.secret),
        row.secretPrevious === null
          ? isNull(secretPrevious)
          : eq(secretPrevious, row.secretPrevious),
      ),
    )
}

// Encrypts stored webhook secrets with the current ENCRYPTION_KEY, a limited number in each cron run.
import { and, asc, eq, isNull, like, not, or } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { database } from '../db/client.ts'
import type { Database } from '../db/client.ts'
import { forEachShard } from '../db/shards.ts'
import { organisations } from '../db/schema.ts'
import { addedWebhookEndpoints } from '../db/webhook-schema.ts'
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
 * @param limit the maximum number of organisations, and of added endpoints of a shard, that one call
 *   changes; the next call continues
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
  const outdated = (column: SQLiteColumn) =>
    or(not(like(column, 'enc:%')), previous ? like(column, `${previous}%`) : undefined)
  const isOutdated = (stored: string) =>
    !stored.startsWith('enc:') || (previous !== undefined && stored.startsWith(previous))
  // A failure of one database must not stop the others.
  const results = await Promise.allSettled([
    reencryptAll(ORGANISATIONS, database(env)).then((count) => [count]),
    forEachShard(env, 'stored secrets', (db) => reencryptAll(ENDPOINTS, db)),
  ])
  const counts = results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
  if (counts.every((count) => count < limit)) recheckAt.set(current, Date.now() + RECHECK_MS)

  async function reencryptAll(source: Source, db: Database): Promise<number> {
    const rows = await source.find(db, { limit, outdated })
    for (const row of rows) {
      // One value that cannot be decrypted must not stop the others.
      await reencrypt(source, db, row).catch((error: unknown) =>
        log.error('stored secret not encrypted', error, { organisationId: row.organisationId }),
      )
    }
    if (rows.length > 0) log.info('stored secrets encrypted', { [source.name]: rows.length })
    return rows.length
  }

  async function reencrypt(source: Source, db: Database, row: StoredSecrets): Promise<void> {
    const { organisationId } = row
    const encrypted = async (stored: string) => {
      if (!isOutdated(stored)) return stored
      const secret = await decryptWebhookSecret(env, { organisationId, stored })
      return encryptWebhookSecret(env, { organisationId, secret })
    }
    await source.replace(db, row, {
      secret: await encrypted(row.secret),
      secretPrevious: row.secretPrevious === null ? null : await encrypted(row.secretPrevious),
    })
  }
}

interface StoredSecrets {
  organisationId: string
  id: string
  secret: string
  secretPrevious: string | null
}

/** A table with secrets. */
interface Source {
  name: string
  find(
    db: Database,
    options: { limit: number; outdated: (column: SQLiteColumn) => ReturnType<typeof or> },
  ): Promise<StoredSecrets[]>
  /** Stores new values, unless a concurrent rotation has replaced the old ones. */
  replace(
    db: Database,
    row: StoredSecrets,
    values: Pick<StoredSecrets, 'secret' | 'secretPrevious'>,
  ): Promise<unknown>
}

const isEqualOrNull = (column: SQLiteColumn, value: string | null) =>
  value === null ? isNull(column) : eq(column, value)

const ORGANISATIONS: Source = {
  name: 'organisations',
  find: (db, { limit, outdated }) =>
    db
      .select({
        organisationId: organisations.id,
        id: organisations.id,
        secret: organisations.webhookSecret,
        secretPrevious: organisations.webhookSecretPrevious,
      })
      .from(organisations)
      .where(
        or(outdated(organisations.webhookSecret), outdated(organisations.webhookSecretPrevious)),
      )
      .orderBy(asc(organisations.id))
      .limit(limit),
  replace: (db, row, { secret, secretPrevious }) =>
    db
      .update(organisations)
      .set({ webhookSecret: secret, webhookSecretPrevious: secretPrevious })
      .where(
        and(
          eq(organisations.id, row.id),
          eq(organisations.webhookSecret, row.secret),
          isEqualOrNull(organisations.webhookSecretPrevious, row.secretPrevious),
        ),
      ),
}

const ENDPOINTS: Source = {
  name: 'endpoints',
  find: (db, { limit, outdated }) =>
    db
      .select({
        organisationId: addedWebhookEndpoints.organisationId,
        id: addedWebhookEndpoints.id,
        secret: addedWebhookEndpoints.secret,
        secretPrevious: addedWebhookEndpoints.secretPrevious,
      })
      .from(addedWebhookEndpoints)
      .where(
        or(outdated(addedWebhookEndpoints.secret), outdated(addedWebhookEndpoints.secretPrevious)),
      )
      .limit(limit),
  replace: (db, row, values) =>
    db
      .update(addedWebhookEndpoints)
      .set(values)
      .where(
        and(
          eq(addedWebhookEndpoints.organisationId, row.organisationId),
          eq(addedWebhookEndpoints.id, row.id),
          eq(addedWebhookEndpoints.secret, row.secret),
          isEqualOrNull(addedWebhookEndpoints.secretPrevious, row.secretPrevious),
        ),
      ),
}

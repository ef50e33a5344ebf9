// Encrypts stored webhook secrets with the current ENCRYPTION_KEY, a limited number in each cron run.
import { and, eq, or, sql } from 'drizzle-orm'
import { forEachShard, type Database } from '../../platform/db/database.ts'
import { webhookEndpoints, type EndpointRow } from '../../platform/db/webhook-schema.ts'
import { reencryption } from '../../platform/db/encryption.ts'
import { log, logError } from '../../platform/log.ts'
import { decryptWebhookSecret, encryptWebhookSecret } from './secrets.ts'

const { organisationId, id, secret, secretPrevious } = webhookEndpoints
type Secrets = Pick<EndpointRow, 'organisationId' | 'id' | 'secret' | 'secretPrevious'>

/** Its limit is that of the endpoints of a shard. */
export const reencryptWebhookSecrets = reencryption(
  'stored secrets',
  async (env, outdated, limit) => {
    const counts = await forEachShard(env, 'stored secrets', async (db) => {
      const rows = await db
        .select({ organisationId, id, secret, secretPrevious })
        .from(webhookEndpoints)
        .where(or(outdated(secret), outdated(secretPrevious)))
        .limit(limit)
      for (const row of rows) {
        // One value that cannot be decrypted must not stop the others.
        await reencrypt(env, db, row).catch(
          logError('stored secret not encrypted', { organisationId: row.organisationId }),
        )
      }
      if (rows.length > 0) log.info('stored secrets encrypted', { endpoints: rows.length })
      return rows.length
    })
    return counts.every((count) => count < limit)
  },
)

/** Encrypts the secrets of an endpoint, unless a concurrent rotation has replaced them. */
async function reencrypt(env: Env, db: Database, row: Secrets): Promise<void> {
  const owner = { organisationId: row.organisationId }
  const encrypted = async (stored: string) => {
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
        sql`${secretPrevious} is ${row.secretPrevious}`,
      ),
    )
}

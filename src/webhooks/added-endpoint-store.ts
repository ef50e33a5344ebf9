// The SQL of added webhook endpoints. Each change is recorded in the audit log.
import { and, asc, eq, sql } from 'drizzle-orm'
import { deletedAmong } from '../access/closed-organisations.ts'
import { recorded } from '../access/audit-log.ts'
import type { AuditEntry } from '../access/audit-log.ts'
import { rowValues } from '../db/client.ts'
import { jobsDatabase } from '../db/shards.ts'
import { addedWebhookEndpoints } from '../db/webhook-schema.ts'
import type { AddedEndpointRow } from '../db/webhook-schema.ts'
import { MAX_ADDED_ENDPOINTS } from '../domain/webhook.ts'

type Key = Pick<AddedEndpointRow, 'organisationId' | 'id'>

const isEndpoint = ({ organisationId, id }: Key) =>
  and(eq(addedWebhookEndpoints.organisationId, organisationId), eq(addedWebhookEndpoints.id, id))

const exists = (key: Key) =>
  sql`exists (select 1 from ${addedWebhookEndpoints} where ${isEndpoint(key)})`

/** The added endpoints of an organisation, oldest first. */
export const addedEndpointsOf = (env: Env, organisationId: string): Promise<AddedEndpointRow[]> =>
  jobsDatabase(env, organisationId)
    .select()
    .from(addedWebhookEndpoints)
    .where(eq(addedWebhookEndpoints.organisationId, organisationId))
    .orderBy(asc(addedWebhookEndpoints.id))

export async function findAddedEndpoint(env: Env, key: Key): Promise<AddedEndpointRow | undefined> {
  const [row] = await jobsDatabase(env, key.organisationId)
    .select()
    .from(addedWebhookEndpoints)
    .where(isEndpoint(key))
  return row
}

/**
 * Inserts an endpoint. A repetition with the same id changes nothing.
 * @returns false when the organisation has the maximum number, or its deletion has started
 */
export async function insertAddedEndpoint(
  env: Env,
  row: AddedEndpointRow,
  entry: AuditEntry,
): Promise<boolean> {
  const { organisationId } = row
  const db = jobsDatabase(env, organisationId)
  const isNew = sql`not ${exists(row)}
    and (select count(*) from ${addedWebhookEndpoints}
      where ${addedWebhookEndpoints.organisationId} = ${organisationId}) < ${MAX_ADDED_ENDPOINTS}`
  if (await findAddedEndpoint(env, row)) return true
  await recorded(env, entry, async () => {
    const { meta } = await db
      .insert(addedWebhookEndpoints)
      .select(sql`select ${rowValues(addedWebhookEndpoints, row)} where ${isNew}`)
    return meta.changes > 0
  })
  // The check comes last: a deletion of the organisation that starts later deletes the row.
  if ((await deletedAmong(env, [organisationId])).length > 0) {
    await db.delete(addedWebhookEndpoints).where(isEndpoint(row))
  }
  return (await findAddedEndpoint(env, row)) !== undefined
}

export const updateAddedEndpointRow = (
  env: Env,
  key: Key,
  change: Partial<AddedEndpointRow>,
  entry: AuditEntry,
): Promise<boolean> =>
  recorded(env, entry, async () => {
    const { meta } = await jobsDatabase(env, key.organisationId)
      .update(addedWebhookEndpoints)
      .set(change)
      .where(isEndpoint(key))
    return meta.changes > 0
  })

/** Replaces the secret; the current one becomes the previous one. */
export const rotateAddedSecret = (
  env: Env,
  key: Key,
  { stored, previousUntil }: { stored: string; previousUntil: Date },
  entry: AuditEntry,
): Promise<boolean> =>
  recorded(env, entry, async () => {
    const { meta } = await jobsDatabase(env, key.organisationId)
      .update(addedWebhookEndpoints)
      .set({
        secret: stored,
        secretPrevious: sql`${addedWebhookEndpoints.secret}`,
        secretPreviousUntil: previousUntil,
      })
      .where(isEndpoint(key))
    return meta.changes > 0
  })

export const deleteAddedEndpointRow = (env: Env, key: Key, entry: AuditEntry): Promise<boolean> =>
  recorded(env, entry, async () => {
    const { meta } = await jobsDatabase(env, key.organisationId)
      .delete(addedWebhookEndpoints)
      .where(isEndpoint(key))
    return meta.changes > 0
  })

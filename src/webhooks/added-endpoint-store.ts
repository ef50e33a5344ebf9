// The SQL of added webhook endpoints. Each change is recorded in the audit log by the same batch.
import { and, asc, eq, sql } from 'drizzle-orm'
import { auditInsert } from '../access/audit-log.ts'
import type { AuditEntry } from '../access/audit-log.ts'
import { database, insertWhere } from '../db/client.ts'
import { organisations } from '../db/schema.ts'
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
  database(env)
    .select()
    .from(addedWebhookEndpoints)
    .where(eq(addedWebhookEndpoints.organisationId, organisationId))
    .orderBy(asc(addedWebhookEndpoints.id))

export async function findAddedEndpoint(env: Env, key: Key): Promise<AddedEndpointRow | undefined> {
  const [row] = await database(env).select().from(addedWebhookEndpoints).where(isEndpoint(key))
  return row
}

/**
 * Inserts an endpoint. A repetition with the same id changes nothing.
 * @returns false when the organisation has the maximum number
 */
export async function insertAddedEndpoint(
  env: Env,
  row: AddedEndpointRow,
  entry: AuditEntry,
): Promise<boolean> {
  const { organisationId } = row
  const isNew = sql`not ${exists(row)}
    and exists (select 1 from ${organisations} where ${organisations.id} = ${organisationId})
    and (select count(*) from ${addedWebhookEndpoints}
      where ${addedWebhookEndpoints.organisationId} = ${organisationId}) < ${MAX_ADDED_ENDPOINTS}`
  const db = database(env)
  const [, , stored] = await db.batch([
    auditInsert(env, entry, isNew),
    insertWhere(env, addedWebhookEndpoints, row, isNew),
    db.select({ id: addedWebhookEndpoints.id }).from(addedWebhookEndpoints).where(isEndpoint(row)),
  ])
  return stored.length > 0
}

export async function updateAddedEndpointRow(
  env: Env,
  key: Key,
  change: Partial<AddedEndpointRow>,
  entry: AuditEntry,
): Promise<boolean> {
  const [, { meta }] = await database(env).batch([
    auditInsert(env, entry, exists(key)),
    database(env).update(addedWebhookEndpoints).set(change).where(isEndpoint(key)),
  ])
  return meta.changes > 0
}

/** Replaces the secret; the current one becomes the previous one. */
export async function rotateAddedSecret(
  env: Env,
  key: Key,
  { stored, previousUntil }: { stored: string; previousUntil: Date },
  entry: AuditEntry,
): Promise<boolean> {
  const [{ meta }] = await database(env).batch([
    database(env)
      .update(addedWebhookEndpoints)
      .set({
        secret: stored,
        secretPrevious: sql`${addedWebhookEndpoints.secret}`,
        secretPreviousUntil: previousUntil,
      })
      .where(isEndpoint(key)),
    auditInsert(env, entry, exists(key)),
  ])
  return meta.changes > 0
}

export async function deleteAddedEndpointRow(
  env: Env,
  key: Key,
  entry: AuditEntry,
): Promise<boolean> {
  const [, { meta }] = await database(env).batch([
    auditInsert(env, entry, exists(key)),
    database(env).delete(addedWebhookEndpoints).where(isEndpoint(key)),
  ])
  return meta.changes > 0
}

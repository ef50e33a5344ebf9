// The SQL of webhook endpoints. Each change is recorded in the audit log.
import { and, asc, eq, ne, sql, type SQLWrapper } from 'drizzle-orm'
import type { SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core'
import { deletedAmong } from '../../organisations/closed-organisations.ts'
import { recorded, type AuditEntry } from '../../organisations/audit-log.ts'
import { rowValues, type Database, jobsDatabase } from '../../platform/db/database.ts'
import { webhookEndpoints, type EndpointRow } from '../../platform/db/webhook-schema.ts'
import { DEFAULT_ENDPOINT, MAX_ADDED_ENDPOINTS } from '../../domain/webhook.ts'

type Key = Pick<EndpointRow, 'organisationId' | 'id'>

const isEndpoint = ({ organisationId, id }: Key) =>
  and(eq(webhookEndpoints.organisationId, organisationId), eq(webhookEndpoints.id, id))

/** The statement that selects the endpoint whose secret signs an event. */
export const selectEndpointOf = (
  db: Database,
  event: { organisationId: SQLWrapper | string; endpointId: SQLWrapper | string | null },
) =>
  db
    .select()
    .from(webhookEndpoints)
    .where(
      and(
        eq(webhookEndpoints.organisationId, event.organisationId),
        eq(webhookEndpoints.id, sql`coalesce(${event.endpointId}, ${DEFAULT_ENDPOINT})`),
      ),
    )

/** An SQL condition: excludes events of deleted endpoints, which cannot be signed. */
export const hasEndpoint = (organisationId: string, endpointId: SQLWrapper) =>
  sql`(${endpointId} is null or exists (select 1 from ${webhookEndpoints}
    where ${webhookEndpoints.organisationId} = ${organisationId}
      and ${webhookEndpoints.id} = ${endpointId}))`

/** The endpoints of an organisation: the default one first, if it is stored, then the oldest. */
export const endpointsOf = (env: Env, organisationId: string): Promise<EndpointRow[]> =>
  jobsDatabase(env, organisationId)
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.organisationId, organisationId))
    .orderBy(asc(webhookEndpoints.id)) // `default` is before `we_…`

export async function findEndpoint(env: Env, key: Key): Promise<EndpointRow | undefined> {
  const [row] = await jobsDatabase(env, key.organisationId)
    .select()
    .from(webhookEndpoints)
    .where(isEndpoint(key))
  return row
}

/**
 * Inserts an added endpoint. A repetition with the same id changes nothing.
 * @returns false when the organisation has the maximum number, or its deletion has started
 */
export async function insertAddedEndpoint(row: EndpointRow, entry: AuditEntry): Promise<boolean> {
  const { env, organisationId } = entry
  const isNew = sql`not exists (select 1 from ${webhookEndpoints} where ${isEndpoint(row)})
    and (select count(*) from ${webhookEndpoints}
      where ${webhookEndpoints.organisationId} = ${organisationId}
        and ${ne(webhookEndpoints.id, DEFAULT_ENDPOINT)}) < ${MAX_ADDED_ENDPOINTS}`
  if (await findEndpoint(env, row)) return true
  await recorded(entry, () =>
    jobsDatabase(env, organisationId)
      .insert(webhookEndpoints)
      .select(sql`select ${rowValues(webhookEndpoints, row)} where ${isNew}`),
  )
  await deleteIfClosed(env, row)
  return (await findEndpoint(env, row)) !== undefined
}

/**
 * Inserts the default endpoint unless stored.
 * @returns the stored row
 */
export async function insertDefaultEndpoint(
  env: Env,
  {
    organisationId,
    ...values
  }: Pick<EndpointRow, 'organisationId' | 'url' | 'secret'> & Partial<EndpointRow>,
): Promise<EndpointRow> {
  const key = { organisationId, id: DEFAULT_ENDPOINT }
  const [row] = await jobsDatabase(env, organisationId)
    .insert(webhookEndpoints)
    .values({ ...key, name: 'Default URL', types: [], createdAt: new Date(), ...values })
    // Changes nothing, but returns the row.
    .onConflictDoUpdate({
      target: [webhookEndpoints.organisationId, webhookEndpoints.id],
      set: { organisationId },
    })
    .returning()
  await deleteIfClosed(env, key)
  if (!row) throw new Error('The inserted endpoint was not returned')
  return row
}

/**
 * Deletes an endpoint that was inserted during the deletion of its organisation. The check comes after the
 * insert: a deletion that starts later deletes the row.
 */
async function deleteIfClosed(env: Env, key: Key): Promise<void> {
  if ((await deletedAmong(env, [key.organisationId])).length === 0) return
  await jobsDatabase(env, key.organisationId).delete(webhookEndpoints).where(isEndpoint(key))
}

/** @returns false when there is no such endpoint */
export const updateEndpointRow = (
  key: Key,
  change: SQLiteUpdateSetSource<typeof webhookEndpoints>,
  entry: AuditEntry,
): Promise<boolean> =>
  recorded(entry, () =>
    jobsDatabase(entry.env, key.organisationId)
      .update(webhookEndpoints)
      .set(change)
      .where(isEndpoint(key)),
  )

export const deleteEndpointRow = (key: Key, entry: AuditEntry): Promise<boolean> =>
  recorded(entry, () =>
    jobsDatabase(entry.env, key.organisationId).delete(webhookEndpoints).where(isEndpoint(key)),
  )

// The SQL of webhook endpoints. Each change is recorded in the audit log.
import { and, asc, eq, ne, sql, type SQLWrapper } from 'drizzle-orm'
import type { SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core'
import { deletedAmong } from '../../organisations/closed-organisations.ts'
import { recorded, type AuditEntry } from '../../organisations/audit-log.ts'
import { hasChanged, rowValues, type Database, jobsDatabase } from '../../platform/db/database.ts'
import { webhookEndpoints, type EndpointRow } from '../../platform/db/webhook-schema.ts'
import { AppError } from '../../domain/errors.ts'
import { DEFAULT_ENDPOINT, MAX_ADDED_ENDPOINTS } from '../../domain/webhook.ts'

interface Key {
  organisationId: string
  endpointId: string
}

const isEndpoint = ({ organisationId, endpointId }: Record<keyof Key, SQLWrapper | string>) =>
  and(eq(webhookEndpoints.organisationId, organisationId), eq(webhookEndpoints.id, endpointId))

/** The id of the endpoint whose secret signs an event, in SQL. */
export const endpointIdOf = ({ endpointId }: { endpointId: SQLWrapper | string | null }) =>
  sql`coalesce(${endpointId}, ${DEFAULT_ENDPOINT})`

/** The statement that selects the endpoint whose secret signs an event. */
export const selectEndpointOf = (
  db: Database,
  event: { organisationId: SQLWrapper | string; endpointId: SQLWrapper | string | null },
) =>
  db
    .select()
    .from(webhookEndpoints)
    .where(isEndpoint({ ...event, endpointId: endpointIdOf(event) }))

/** An SQL condition: excludes events of deleted endpoints, which cannot be signed. */
export const hasEndpoint = (organisationId: string, endpointId: SQLWrapper) =>
  sql`(${endpointId} is null or exists (select 1 from ${webhookEndpoints}
    where ${isEndpoint({ organisationId, endpointId })}))`

/** The endpoints of an organisation: the default one first, if it is stored, then the oldest. */
export const endpointsOf = (env: Env, organisationId: string) =>
  jobsDatabase(env, organisationId)
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.organisationId, organisationId))
    .orderBy(asc(webhookEndpoints.id)) // `default` is before `we_…`

export const findEndpoint = (env: Env, key: Key) =>
  jobsDatabase(env, key.organisationId).select().from(webhookEndpoints).where(isEndpoint(key)).get()

/**
 * Inserts an added endpoint. A repetition with the same id changes nothing.
 * @returns false when the organisation has the maximum number, or its deletion has started
 */
export async function insertAddedEndpoint(row: EndpointRow, entry: AuditEntry): Promise<boolean> {
  const { env, organisationId } = entry
  const key = { organisationId, endpointId: row.id }
  const isNew = sql`not exists (select 1 from ${webhookEndpoints} where ${isEndpoint(key)})
    and (select count(*) from ${webhookEndpoints}
      where ${webhookEndpoints.organisationId} = ${organisationId}
        and ${ne(webhookEndpoints.id, DEFAULT_ENDPOINT)}) < ${MAX_ADDED_ENDPOINTS}`
  if (await findEndpoint(env, key)) return true
  const insert = jobsDatabase(env, organisationId)
    .insert(webhookEndpoints)
    .select(sql`select ${rowValues(webhookEndpoints, row)} where ${isNew}`)
  await recorded(entry, () => hasChanged(insert))
  await deleteIfClosed(env, key)
  return (await findEndpoint(env, key)) !== undefined
}

/** Inserts the default endpoint unless stored. @returns the stored row */
export async function insertDefaultEndpoint(
  env: Env,
  values: Pick<EndpointRow, 'organisationId' | 'url' | 'secret'> & Partial<EndpointRow>,
): Promise<EndpointRow> {
  const { organisationId } = values
  const [row] = await jobsDatabase(env, organisationId)
    .insert(webhookEndpoints)
    .values({
      id: DEFAULT_ENDPOINT,
      name: 'Default URL',
      types: [],
      createdAt: new Date(),
      ...values,
    })
    // Changes nothing, but returns the row.
    .onConflictDoUpdate({
      target: [webhookEndpoints.organisationId, webhookEndpoints.id],
      set: { organisationId },
    })
    .returning()
  await deleteIfClosed(env, { organisationId, endpointId: DEFAULT_ENDPOINT })
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

/** @throws AppError not_found */
export async function updateEndpointRow(
  key: Key,
  change: SQLiteUpdateSetSource<typeof webhookEndpoints>,
  entry: AuditEntry,
): Promise<void> {
  const update = jobsDatabase(entry.env, key.organisationId)
    .update(webhookEndpoints)
    .set(change)
    .where(isEndpoint(key))
  if (!(await recorded(entry, () => hasChanged(update)))) throw new AppError('not_found')
}

export const deleteEndpointRow = (key: Key, entry: AuditEntry): Promise<boolean> =>
  recorded(entry, () =>
    hasChanged(
      jobsDatabase(entry.env, key.organisationId).delete(webhookEndpoints).where(isEndpoint(key)),
    ),
  )

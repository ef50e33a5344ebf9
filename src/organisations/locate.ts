// Finds the organisation of an object by the object's id, for links without the right organisation.
import { eq } from 'drizzle-orm'
import { payments } from '../platform/db/billing-schema.ts'
import { database, isBound, jobsDatabase } from '../platform/db/database.ts'
import { atPrimary } from '../platform/db/read-sessions.ts'
import { jobs } from '../platform/db/schema.ts'
import { webhookEvents } from '../platform/db/webhook-schema.ts'
import { isEventId, isId } from '../platform/ids.ts'

const TABLES = [
  [(id: string) => isId('job', id), jobs, jobsDatabase],
  [isEventId, webhookEvents, jobsDatabase],
  [(id: string) => isId('pay', id), payments, database],
] as const

/**
 * The organisation of a job, webhook event or payment. Does not check the actor: the caller must not
 * reveal an organisation of which the user is not a member.
 */
export async function organisationOf(env: Env, id: string): Promise<string | undefined> {
  const place = TABLES.find(([matches]) => matches(id))
  if (!place || !isBound(env, id)) return undefined
  const [, table, databaseOf] = place
  // Runs when a page was not found. A replica may not have the row yet.
  const [found] = await atPrimary(() =>
    databaseOf(env, id)
      .select({ organisationId: table.organisationId })
      .from(table)
      .where(eq(table.id, id)),
  )
  return found?.organisationId
}

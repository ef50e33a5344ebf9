// Which organisations may process jobs, and which of them pay. Jobs are in another database than
// organisations, so a statement on jobs cannot check it: the caller reads it first.
import { and, eq, exists, gt, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import { payments } from '../platform/db/billing-schema.ts'
import { database, listed } from '../platform/db/database.ts'
import { organisations } from '../platform/db/schema.ts'

/**
 * Reads how an organisation's jobs are treated.
 * @returns `isOpen`: it is not suspended, scheduled for deletion or deleted. `isPaying`: it has a plan with
 *   a fee or has made a payment. Other organisations use free credits.
 */
export async function standingOf(env: Env, organisationId: string) {
  const db = database(env)
  const payment = db
    .select({ id: payments.id })
    .from(payments)
    .where(and(eq(payments.organisationId, organisationId), eq(payments.status, 'paid')))
  const isOpen = and(eq(organisations.status, 'active'), isNull(organisations.deleteAfter))
  const isPaying = or(ne(organisations.plan, 'starter'), exists(payment))
  const [row] = await db
    .select({ isOpen: sql<number>`${isOpen}`, isPaying: sql<number>`${isPaying}` })
    .from(organisations)
    .where(eq(organisations.id, organisationId))
  return { isOpen: row?.isOpen === 1, isPaying: row?.isPaying === 1 }
}

/**
 * Those of the organisations whose rows are deleted, or whose deletion has started, which sets
 * `delete_after` to 0.
 */
export async function deletedAmong(env: Env, organisationIds: string[]): Promise<string[]> {
  const isRemaining = or(
    isNull(organisations.deleteAfter),
    gt(organisations.deleteAfter, new Date(0)),
  )
  const rows = await database(env)
    .select({ id: organisations.id })
    .from(organisations)
    .where(and(inArray(organisations.id, listed(organisationIds)), isRemaining))
  const remaining = new Set(rows.map(({ id }) => id))
  return organisationIds.filter((id) => !remaining.has(id))
}

// Which organisations may not process jobs. Jobs are in another database than organisations, so a
// statement on jobs cannot check it: the caller reads it first.
import { and, eq, gt, inArray, isNull, or } from 'drizzle-orm'
import { database, listed } from '../db/client.ts'
import { organisations } from '../db/schema.ts'

/** Whether an organisation is suspended, scheduled for deletion or deleted. */
export async function isClosed(env: Env, organisationId: string): Promise<boolean> {
  const active = await database(env)
    .select({ id: organisations.id })
    .from(organisations)
    .where(
      and(
        eq(organisations.id, organisationId),
        eq(organisations.status, 'active'),
        isNull(organisations.deleteAfter),
      ),
    )
  return active.length === 0
}

/**
 * Those of the organisations whose rows are deleted, or whose deletion has started, which sets
 * `delete_after` to 0.
 */
export async function deletedAmong(env: Env, organisationIds: string[]): Promise<string[]> {
  const rows = await database(env)
    .select({ id: organisations.id })
    .from(organisations)
    .where(
      and(
        inArray(organisations.id, listed(organisationIds)),
        or(isNull(organisations.deleteAfter), gt(organisations.deleteAfter, new Date(0))),
      ),
    )
  const remaining = new Set(rows.map(({ id }) => id))
  return organisationIds.filter((id) => !remaining.has(id))
}

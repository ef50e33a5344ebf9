// The sweep of webhook events, run by cron: requeues events whose message was lost.
import { and, inArray, lte, sql } from 'drizzle-orm'
import type { Database } from '../platform/db/database.ts'
import { SWEEP_AGAIN_AFTER_MS } from '../platform/db/due.ts'
import { webhookEvents } from '../platform/db/webhook-schema.ts'
import { sendAll } from '../platform/queues/batches.ts'
import { sweepShards } from '../platform/queues/sweep-shards.ts'

/**
 * Requeues the events.
 * @throws when a shard or the queue failed; events without a message are swept again after 15 minutes
 */
export const sweepEvents = (env: Env): Promise<void> =>
  sweepShards(env, 'events', async (db, limit) => {
    const events = await takeSweptEvents(db, limit)
    const messages = events.map(({ id, organisationId }) => ({ eventId: id, organisationId }))
    await sendAll(env.WEBHOOKS, messages)
    return { taken: events.length, sent: events.length }
  })

/**
 * Takes undelivered events of one shard whose `sweepAt` and lease have passed, and postpones `sweepAt`, so
 * that the next sweeps skip them.
 */
async function takeSweptEvents(db: Database, limit: number) {
  const now = Date.now()
  const due = db
    .select({ id: webhookEvents.id, organisationId: webhookEvents.organisationId })
    .from(webhookEvents)
    // SQLite uses the partial index only with literals.
    .where(
      and(
        sql`status in ('pending', 'retrying')`,
        lte(webhookEvents.sweepAt, new Date(now)),
        lte(webhookEvents.dueAt, new Date(now)),
      ),
    )
    .orderBy(webhookEvents.sweepAt)
    .limit(limit)
  const rows = due.as('due')
  const [taken] = await db.batch([
    due,
    db
      .update(webhookEvents)
      .set({ sweepAt: new Date(now + SWEEP_AGAIN_AFTER_MS) })
      .where(inArray(webhookEvents.id, db.select({ id: rows.id }).from(rows))),
  ])
  return taken
}

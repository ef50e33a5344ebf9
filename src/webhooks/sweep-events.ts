import { sendAll } from '../platform/queues/batches.ts'
import { sweepShards } from '../platform/queues/sweep-shards.ts'
import { takeSweptEvents } from './event-store.ts'

/**
 * Requeues webhook events whose message was lost.
 * @throws when a shard or the queue failed; events without a message are swept again after 15 minutes
 */
export const sweepEvents = (env: Env): Promise<void> =>
  sweepShards(env, 'events', async (db, limit) => {
    const events = await takeSweptEvents(db, limit)
    const messages = events.map(({ id, organisationId }) => ({ eventId: id, organisationId }))
    await sendAll(env.WEBHOOKS, messages)
    return { taken: events.length, sent: events.length }
  })

// Sends messages in batches that a queue accepts.

/** The maximum number of messages in one batch of Cloudflare Queues. */
const MAX_MESSAGES = 100

export function* batchesOf<Message>(messages: readonly Message[]): Generator<Message[]> {
  for (let at = 0; at < messages.length; at += MAX_MESSAGES) {
    yield messages.slice(at, at + MAX_MESSAGES)
  }
}

/** Sends one message per body. */
export async function sendAll(queue: Queue, bodies: readonly object[]): Promise<void> {
  for (const batch of batchesOf(bodies)) await queue.sendBatch(batch.map((body) => ({ body })))
}

// The entry points of the Worker: requests, queue messages and cron. The fourth, the alarm, is in
// organisation/organisation.
import { app } from './app.ts'
import { giveUpJob, processJob } from './jobs/process.ts'
import { JobMessage } from './jobs/queue.ts'
import { log } from './log.ts'
import { handleMessage } from './queues/handle-message.ts'
import type { Background, Consumer } from './queues/handle-message.ts'
import { queueName } from './queues/queue-name.ts'
import { runScheduledTasks } from './scheduled.ts'
import { deliverEvent, EventMessage } from './webhooks/deliver.ts'

export { Organisation } from './organisation/organisation.ts'

const consumeJob: Consumer = async (env, body, ackTimer) => {
  const result = await processJob({ env, ...JobMessage.parse(body), ackTimer })
  return result.done ? undefined : result.retryAfterSeconds
}

const CONSUMERS: Record<string, Consumer> = {
  'tryon-jobs': consumeJob,
  'tryon-test-jobs': consumeJob,
  'tryon-jobs-dead': (env, body) => giveUpJob({ env, ...JobMessage.parse(body) }),
  'tryon-webhooks': (env, body, ackTimer) =>
    deliverEvent({ env, ...EventMessage.parse(body), ackTimer }),
  'tryon-webhooks-dead': async (_env, body) => {
    log.warn('webhook message dead-lettered; the sweep sends another', EventMessage.parse(body))
  },
}

export default {
  fetch: app.fetch,

  async queue(batch, env, ctx: Background) {
    const queue = queueName(batch.queue)
    const consume = CONSUMERS[queue]
    if (!consume) throw new Error(`No consumer for the queue ${batch.queue}`)
    await Promise.all(
      batch.messages.map((message) => handleMessage({ consume, queue, message, env, ctx })),
    )
  },

  scheduled: (_controller, env) => runScheduledTasks(env),
} satisfies ExportedHandler<Env>

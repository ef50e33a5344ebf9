// The entry points of the Worker: requests, queue messages and cron. The fourth, the alarm, is in
// organisation-object.
import { app } from './app.ts'
import { catchUpEvents } from './billing/receive-event.ts'
import { giveUpJob, processJob } from './jobs/processing/process.ts'
import { JobMessage } from './jobs/queue.ts'
import { countFinishedDay } from './jobs/reports/daily-statistics.ts'
import { sweepJobs } from './jobs/sweep.ts'
import { evaluateAlerts } from './jobs/monitoring/evaluate-alerts.ts'
import { log } from './platform/log.ts'
import { handleMessage, type Background, type Consumer } from './platform/queues/handle-message.ts'
import { queueName } from './platform/queues/queue-name.ts'
import { inParallel, runTasks, type Task } from './platform/run-tasks.ts'
import { runDeletions } from './privacy/run-deletions.ts'
import { runRetention } from './privacy/run-retention.ts'
import { reencryptTotpSecrets } from './users/two-factor.ts'
import { deliverEvent, EventMessage } from './webhooks/delivery/deliver.ts'
import { reencryptWebhookSecrets } from './webhooks/endpoints/reencrypt-secrets.ts'
import { sweepEvents } from './webhooks/sweep-events.ts'

export { Organisation } from './organisation-object.ts'

const consumeJob: Consumer = (env, body, ackTimer) =>
  processJob({ env, ...JobMessage.parse(body), ackTimer })

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

/** Cron runs them each minute, in this order. Alerts come first, so that no other task delays them. */
const TASKS: Record<string, Task> = {
  evaluateAlerts,
  sweep: inParallel('sweep', sweepJobs, sweepEvents),
  countFinishedDay,
  runRetention,
  runDeletions,
  reencryptWebhookSecrets,
  reencryptTotpSecrets,
  catchUpEvents,
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

  scheduled: (_controller, env) => runTasks(env, TASKS),
} satisfies ExportedHandler<Env>

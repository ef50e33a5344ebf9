// The Worker's doors: requests, queue messages and the clock. The fourth, the alarm, is in
// organisation/organisation. Behind each: parse, call one verb.
import { z } from 'zod'
import { app } from './app.ts'
import { giveUpJob, processJob } from './jobs/process.ts'
import { sweep } from './jobs/sweep.ts'
import { log } from './log.ts'
import { MODES } from './organisation/api-key.ts'
import { runRetention } from './retention/run.ts'
import { deliverEvent } from './webhooks/deliver.ts'

export { Organisation } from './organisation/organisation.ts'

const JobMessage = z.object({
  jobId: z.string(),
  mode: z.enum(MODES).optional(),
  swept: z.boolean().optional(),
})
const EventMessage = z.object({ eventId: z.string() })

/** Handles one message; says in how many seconds it is to come again, or nothing when it is done. */
type Consumer = (env: Env, body: unknown) => Promise<number | void>

const consumeJob: Consumer = async (env, body) => {
  const verdict = await processJob({ env, ...JobMessage.parse(body) })
  return verdict.done ? undefined : verdict.retryAfterSeconds
}

const CONSUMERS: Record<string, Consumer> = {
  'tryon-jobs': consumeJob,
  'tryon-test-jobs': consumeJob,
  'tryon-jobs-dead': (env, body) => giveUpJob({ env, ...JobMessage.parse(body) }),
  'tryon-webhooks': (env, body) => deliverEvent({ env, ...EventMessage.parse(body) }),
  'tryon-webhooks-dead': async (_env, body) => {
    log.warn('webhook message died; the sweep sends another', EventMessage.parse(body))
  },
}

export default {
  fetch: app.fetch,

  async queue(batch, env) {
    const consume = CONSUMERS[batch.queue]
    if (!consume) throw new Error(`No consumer for the queue ${batch.queue}`)
    await Promise.all(
      batch.messages.map(async (message) => {
        try {
          const delaySeconds = await consume(env, message.body)
          if (delaySeconds === undefined) message.ack()
          else message.retry({ delaySeconds })
        } catch (error) {
          log.error('message failed', error, { queue: batch.queue, attempt: message.attempts })
          message.retry({ delaySeconds: Math.min(2 ** message.attempts, 60) })
        }
      }),
    )
  },

  async scheduled(_controller, env) {
    // Both run to their ends, whatever happens to the other.
    const results = await Promise.allSettled([sweep(env), runRetention(env)])
    for (const result of results) if (result.status === 'rejected') throw result.reason
  },
} satisfies ExportedHandler<Env>

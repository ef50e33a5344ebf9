// The Worker's doors: requests, queue messages and the clock. The fourth, the alarm, is in
// organisation/organisation. Behind each: parse, call one verb.
import { z } from 'zod'
import { encryptStoredSecrets } from './accounts/stored-secrets.ts'
import { runDeletions } from './accounts/run-deletions.ts'
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
    // Each is repeated in the next minute; the failure of one does not stop the others.
    const failures: unknown[] = []
    for (const task of [sweep, runRetention, runDeletions, encryptStoredSecrets]) {
      await task(env).catch((error: unknown) => {
        log.error('scheduled task failed', error, { task: task.name })
        failures.push(error)
      })
    }
    if (failures.length > 0) throw failures[0]
  },
} satisfies ExportedHandler<Env>

// The Worker's entry points: requests, queue messages and cron. The fourth, the alarm, is in
// organisation/organisation. Behind each: parse, call one use case.
import { runDeletions } from './accounts/run-deletions.ts'
import { encryptStoredSecrets } from './accounts/stored-secrets.ts'
import { AckTimer } from './ack-timer.ts'
import { app } from './app.ts'
import { giveUpJob, processJob } from './jobs/process.ts'
import { JobMessage } from './jobs/queue.ts'
import { sweep } from './jobs/sweep.ts'
import { log } from './log.ts'
import { runRetention } from './retention/run.ts'
import { deliverEvent, EventMessage } from './webhooks/deliver.ts'

export { Organisation } from './organisation/organisation.ts'

/** Handles one message; returns in how many seconds it is to come again, if at all. */
type Consumer = (env: Env, body: unknown, ackTimer: AckTimer) => Promise<number | void>

const consumeJob: Consumer = async (env, body, ackTimer) => {
  const verdict = await processJob({ env, ...JobMessage.parse(body), ackTimer })
  return verdict.done ? undefined : verdict.retryAfterSeconds
}

const CONSUMERS: Record<string, Consumer> = {
  'tryon-jobs': consumeJob,
  'tryon-test-jobs': consumeJob,
  'tryon-jobs-dead': (env, body) => giveUpJob({ env, ...JobMessage.parse(body) }),
  'tryon-webhooks': (env, body, ackTimer) =>
    deliverEvent({ env, ...EventMessage.parse(body), ackTimer }),
  'tryon-webhooks-dead': async (_env, body) => {
    log.warn('webhook message died; the sweep sends another', EventMessage.parse(body))
  },
}

type Background = Pick<ExecutionContext, 'waitUntil'>

/** Acknowledges or retries a message; acknowledges it before its work ends if that takes long. */
async function handle(
  consume: Consumer,
  queue: string,
  message: Message,
  env: Env,
  ctx: Background,
): Promise<void> {
  const ackTimer = new AckTimer()
  const work = async () => {
    try {
      const delaySeconds = await consume(env, message.body, ackTimer)
      ackTimer.stop()
      if (ackTimer.isExpired) return
      if (delaySeconds === undefined) message.ack()
      else message.retry({ delaySeconds })
    } catch (error) {
      ackTimer.stop()
      log.error('message failed', error, { queue, attempt: message.attempts })
      if (ackTimer.isExpired) return // the sweep sends another
      message.retry({ delaySeconds: Math.min(2 ** message.attempts, 60) })
    }
  }
  const done = work()
  ctx.waitUntil(done)
  await Promise.race([done, ackTimer.expired.then(() => message.ack())])
}

export default {
  fetch: app.fetch,

  async queue(batch, env, ctx: Background) {
    const consume = CONSUMERS[batch.queue]
    if (!consume) throw new Error(`No consumer for the queue ${batch.queue}`)
    await Promise.all(
      batch.messages.map((message) => handle(consume, batch.queue, message, env, ctx)),
    )
  },

  async scheduled(_controller, env) {
    // Each logs its failures and is repeated in the next minute; one does not stop the others.
    const failures: unknown[] = []
    for (const task of [sweep, runRetention, runDeletions, encryptStoredSecrets]) {
      await task(env).catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  },
} satisfies ExportedHandler<Env>

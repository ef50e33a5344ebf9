// Acknowledges or retries one queue message, for every consumer, and writes its log line.
import { z } from 'zod'
import { log, withLogFields } from '../log.ts'
import { record } from '../metrics.ts'
import { AckTimer } from './ack-timer.ts'

/** Handles the body of one message. Returns the delay in seconds of a retry, or nothing. */
export type Consumer = (env: Env, body: unknown, ackTimer: AckTimer) => Promise<number | void>

/** The part of ExecutionContext that this module uses. */
export type Background = Pick<ExecutionContext, 'waitUntil'>

interface Delivery {
  consume: Consumer
  queue: string
  message: Message
  env: Env
  ctx: Background
}

/** The retries of a message. Must match `max_retries` in wrangler.toml. */
const MAX_RETRIES: Partial<Record<string, number>> = {
  'tryon-jobs-dead': 10,
  'tryon-webhooks-dead': 3,
}
const DEFAULT_MAX_RETRIES = 5

/** The part of any message that this module uses: the ids, for the log lines, and `dueAfter`. */
const Body = z
  .object({
    jobId: z.string().optional(),
    eventId: z.string().optional(),
    organisationId: z.string().optional(),
    dueAt: z.number().optional(),
  })
  .catch({})

/**
 * The part of a message's body that a delay adds: ms since 1970. The age of a message at its first delivery,
 * without the delay, says how long the queue is.
 */
export const dueAfter = (delaySeconds: number | undefined): { dueAt?: number } =>
  delaySeconds ? { dueAt: Date.now() + delaySeconds * 1_000 } : {}

/**
 * Runs the consumer, then acknowledges or retries the message. When the ack timer expires first, the
 * message is acknowledged and the work continues in the background. Never throws.
 */
export function handleMessage(delivery: Delivery): Promise<void> {
  const { env, queue, message, ctx } = delivery
  const { dueAt = 0, ...ids } = Body.parse(message.body)
  return withLogFields(ids, async () => {
    const startedAt = Date.now()
    // A retry has the time of the first delivery, so its age says nothing about the queue.
    if (message.attempts === 1) {
      const waitedFrom = Math.max(dueAt, message.timestamp.getTime())
      record(env, 'queue_age', { queue }, Math.max(0, startedAt - waitedFrom))
    }
    const ackTimer = new AckTimer()
    const done = consumeMessage(delivery, ackTimer).then((outcome) => {
      const ms = Date.now() - startedAt
      log.info('message', { queue, outcome, attempts: message.attempts, ms })
      record(env, 'message', { queue, outcome }, ms)
    })
    ctx.waitUntil(done)
    await Promise.race([done, ackTimer.expired.then(() => message.ack())])
  })
}

async function consumeMessage({ consume, queue, message, env }: Delivery, ackTimer: AckTimer) {
  let delaySeconds: number | void
  try {
    delaySeconds = await consume(env, message.body, ackTimer)
  } catch (error) {
    log.error('message failed', error, { queue, attempt: message.attempts })
    delaySeconds = Math.min(2 ** message.attempts, 60)
  }
  ackTimer.stop()
  // After a failure, the sweep sends another message.
  if (ackTimer.isExpired) return 'acked'
  if (delaySeconds === undefined) {
    message.ack()
    return 'acked'
  }
  message.retry({ delaySeconds })
  // No retry is left: the queue moves the message to its dead-letter queue or deletes it.
  const isLast = message.attempts > (MAX_RETRIES[queue] ?? DEFAULT_MAX_RETRIES)
  return isLast ? 'dead' : 'retried'
}

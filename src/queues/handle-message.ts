// Acknowledges or retries one queue message, for every consumer.
import { log } from '../log.ts'
import { AckTimer } from './ack-timer.ts'

/** Handles the body of one message. Returns the delay in seconds of a retry, or nothing. */
export type Consumer = (env: Env, body: unknown, ackTimer: AckTimer) => Promise<number | void>

/** The part of ExecutionContext that this module uses. */
export type Background = Pick<ExecutionContext, 'waitUntil'>

/**
 * Runs the consumer, then acknowledges or retries the message. When the ack timer expires first, the
 * message is acknowledged and the work continues in the background. Never throws.
 */
export async function handleMessage({
  consume,
  queue,
  message,
  env,
  ctx,
}: {
  consume: Consumer
  queue: string
  message: Message
  env: Env
  ctx: Background
}): Promise<void> {
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
      if (ackTimer.isExpired) return // the sweep sends another message
      message.retry({ delaySeconds: Math.min(2 ** message.attempts, 60) })
    }
  }
  const done = work()
  ctx.waitUntil(done)
  await Promise.race([done, ackTimer.expired.then(() => message.ack())])
}

// One attempt at delivering one event, triggered by a message of the queue `tryon-webhooks`. Delivery
// is at least once: after a crash between the response and its record, the next attempt has the same
// webhook-id.
import { z } from 'zod'
import type { WebhookAttemptRow, WebhookEventRow } from '../../platform/db/webhook-schema.ts'
import { hostOf } from '../../domain/host.ts'
import { WEBHOOK_TIMEOUT_MS } from '../../domain/limits.ts'
import { addLogFields, log, logError } from '../../platform/log.ts'
import { record } from '../../platform/metrics.ts'
import { urlPolicy, urlProblem } from '../../platform/net/public-url.ts'
import { retryAfterSeconds } from '../../platform/net/retry-after.ts'
import { AckTimer } from '../../platform/queues/ack-timer.ts'
import { dueAfter } from '../../platform/queues/handle-message.ts'
import { settingsOf } from '../../platform/settings.ts'
import { leaseOrigin, shouldDisable, type Receiver } from '../endpoints/failing-receiver-store.ts'
import { reportDisabledReceiver, reportFailingReceiver } from '../endpoints/failing-receivers.ts'
import { createRequest } from './request.ts'
import { firstBytes, firstHeaders } from './response.ts'
import { SlowDeliveries } from './slow-deliveries.ts'
import { claimEvent, recordAttempt, releaseEvent, type ClaimedEvent } from '../event-store.ts'

const MAX_ERROR_LENGTH = 128
/** Retries of an event before its failure can disable the endpoint. */
const DISABLING_RETRIES = 3
/** The longest delay of a queue, 12 hours. The sweep requeues events that are due later. */
const MAX_DELAY_SECONDS = 43_200

export const EventMessage = z.object({
  eventId: z.string(),
  /** For the log. */
  organisationId: z.string().optional(),
  /** Set when a user requested the attempt, which is then made even if the endpoint is disabled. */
  manual: z.boolean().optional(),
})
type EventMessage = z.infer<typeof EventMessage>

interface DeliveryResult {
  /** What is stored of the attempt. */
  stored: Omit<WebhookAttemptRow, 'eventId' | 'number' | 'at' | 'durationMs'>
  timedOut: boolean
  retryAfterSeconds: number
}

const slowDeliveries = new SlowDeliveries()

/** Makes an attempt if the event is due, and schedules the next one. */
export async function deliverEvent({
  env,
  eventId,
  manual = false,
  ackTimer = new AckTimer(),
}: EventMessage & { env: Env; ackTimer?: AckTimer }): Promise<void> {
  const claimed = await claimEvent(env, eventId)
  if (!claimed) return
  const { event, receiver, job } = claimed
  addLogFields({
    jobId: job.id,
    organisationId: event.organisationId,
    requestId: job.requestId,
    mode: job.mode,
  })
  const skipped = unattemptedReason(claimed, manual)
  if (skipped) {
    await releaseEvent(env, event, { status: 'failed' })
    log.info(`webhook not sent: ${skipped}`, { eventId })
    return
  }
  if (slowDeliveries.postpones(receiver)) return postpone(env, event, manual)

  let busyUntil: Date | undefined
  if (receiver.timesOut) {
    busyUntil = await leaseOrigin(env, receiver)
    if (!busyUntil) return postpone(env, event, manual)
  }
  await withAckTimer(ackTimer, receiver, () => attemptDelivery(env, claimed, busyUntil))
}

/** Why no attempt is made; undefined when one is made. */
function unattemptedReason({ receiver, endpoint }: ClaimedEvent, manual: boolean) {
  // Without the endpoint there is no secret to sign with.
  if (!endpoint) return 'its endpoint was deleted'
  if (!manual && (receiver.row?.disabledAt || !endpoint.enabled)) return 'its endpoint is disabled'
  return undefined
}

/**
 * Postpones an event without an attempt. The delay grows with the age of the event, since an endpoint
 * that times out for hours can have many events.
 */
async function postpone(env: Env, event: WebhookEventRow, manual: boolean): Promise<void> {
  const ageSeconds = (Date.now() - event.createdAt.getTime()) / 1_000
  const delay = Math.min(Math.max(ageSeconds / 4, 5), 15 * 60) * (1 + Math.random() / 5)
  const delaySeconds = Math.ceil(delay)
  const dueAt = new Date(Date.now() + (delaySeconds - 1) * 1_000)
  if (await releaseEvent(env, event, { dueAt })) {
    const { id: eventId, organisationId } = event
    await enqueue(env, { eventId, organisationId, ...(manual && { manual }) }, delaySeconds)
  }
}

async function enqueue(env: Env, message: EventMessage, delaySeconds: number): Promise<void> {
  const delay = Math.min(delaySeconds, MAX_DELAY_SECONDS)
  await env.WEBHOOKS.send({ ...message, ...dueAfter(delay) }, { delaySeconds: delay }).catch(
    logError('attempt not queued', { eventId: message.eventId }),
  )
}

/** Runs an attempt; when the timer acknowledges its message, the delivery counts as slow. */
async function withAckTimer(ackTimer: AckTimer, receiver: Receiver, attempt: () => Promise<void>) {
  let slow: ReturnType<SlowDeliveries['add']> | undefined
  const hasSlow = slowDeliveries.hasSlow(receiver.organisationId)
  ackTimer.start(hasSlow, () => (slow = slowDeliveries.add(receiver)))
  try {
    await attempt()
  } finally {
    ackTimer.stop()
    if (slow) slowDeliveries.remove(slow)
  }
}

async function attemptDelivery(env: Env, claimed: ClaimedEvent, busyUntil: Date | undefined) {
  const { event, job, receiver } = claimed
  const eventId = event.id
  const number = event.attempts + 1
  const at = new Date()
  const baseUrl = settingsOf(env).baseUrl ?? job.baseUrl
  const result = await send(env, claimed, at)
  const durationMs = Date.now() - at.getTime()
  const { responseStatus, error } = result.stored
  const { status, delaySeconds, disables } = outcomeOf(env, receiver, number, result)

  const { leaseHeld, disabled } = await recordAttempt({
    env,
    claimed,
    attempt: { eventId, number, at, durationMs, ...result.stored },
    status,
    dueAt: new Date(Date.now() + (delaySeconds ?? 0) * 1_000),
    timedOut: result.timedOut,
    busyUntil,
    disables,
  })
  const url = URL.parse(event.url)
  log.info('webhook attempt', {
    eventId,
    jobId: job.id,
    organisationId: receiver.organisationId,
    // The path can contain a secret.
    host: url ? hostOf(url) : undefined,
    attempt: number,
    status,
    responseStatus,
    durationMs,
    error,
  })
  record(env, 'webhook', { outcome: status }, durationMs, receiver.organisationId)
  if (leaseHeld && delaySeconds !== null) {
    await enqueue(env, { eventId, organisationId: event.organisationId }, delaySeconds)
  }
  if (disabled) await reportDisabledReceiver(env, claimed, baseUrl)
  else if (status !== 'delivered') await reportFailingReceiver(env, claimed)
}

/**
 * The consequences of an attempt.
 * @returns `delaySeconds`: until the next attempt, null when there is none; `disables`: whether the failure disables
 *   the endpoint
 */
function outcomeOf(
  env: Env,
  receiver: Receiver,
  number: number,
  { stored: { responseStatus: status }, retryAfterSeconds }: DeliveryResult,
) {
  const delays = settingsOf(env).webhookRetryDelaysSeconds
  if (status !== null && status >= 200 && status < 300) {
    return { status: 'delivered', delaySeconds: null, disables: false } as const
  }
  const disables = shouldDisable(receiver, number > Math.min(DISABLING_RETRIES, delays.length))
  // 410 Gone: the receiver requests no further attempts.
  const isLast = status === 410 || Boolean(receiver.row?.disabledAt) || disables
  const delaySeconds = isLast
    ? null
    : nextDelaySeconds(delays, number, Math.random(), retryAfterSeconds)
  return { status: delaySeconds === null ? 'failed' : 'retrying', delaySeconds, disables } as const
}

async function send(env: Env, claimed: ClaimedEvent, at: Date): Promise<DeliveryResult> {
  const { url } = claimed.event
  const problem = urlProblem(url, urlPolicy(env, [claimed.job.baseUrl]))
  if (problem) return noResponse(`the URL ${problem}`)
  // Outside the try block: a secret that cannot be decrypted is not a failure of the receiver.
  const { headers, body, signature } = await createRequest(env, claimed, at)
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(WEBHOOK_TIMEOUT_MS),
      headers,
      body,
    })
    return {
      stored: {
        responseStatus: response.status,
        responseHeaders: firstHeaders(response.headers),
        // Only the status matters: a body that cannot be read is not a failure.
        responseBody: await firstBytes(response).catch(() => null),
        error: null,
        signature,
      },
      timedOut: false,
      retryAfterSeconds: retryAfterSeconds(response.headers) ?? 0,
    }
  } catch (error) {
    if (!(error instanceof Error)) return noResponse(String(error), signature)
    const timedOut = error.name === 'TimeoutError'
    return noResponse(`${error.name}: ${error.message}`, signature, timedOut)
  }
}

const noResponse = (error: string, signature: string | null = null, timedOut = false) => ({
  stored: {
    responseStatus: null,
    responseHeaders: null,
    responseBody: null,
    error: error.slice(0, MAX_ERROR_LENGTH),
    signature,
  },
  timedOut,
  retryAfterSeconds: 0,
})

const JITTER = 0.2

/**
 * Whole seconds until the next attempt: the schedule's delay ± 20 %. A longer Retry-After of the
 * receiver takes precedence, up to twice the delay.
 * @param failedAttempts at least 1
 * @param random in [0, 1)
 * @returns null when there are no retries left
 */
export function nextDelaySeconds(
  delaysSeconds: readonly number[],
  failedAttempts: number,
  random: number,
  retryAfterSeconds = 0,
): number | null {
  const delay = delaysSeconds[failedAttempts - 1]
  if (delay === undefined) return null
  const jittered = delay * (1 - JITTER + 2 * JITTER * random)
  return Math.round(Math.min(Math.max(jittered, retryAfterSeconds), delay * 2))
}

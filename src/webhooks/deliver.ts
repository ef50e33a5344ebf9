// One attempt at delivering one event, driven by messages of the queue `tryon-webhooks`. At least
// once: a crash after the receiver answered leads to another attempt with the same webhook-id.
import { WEBHOOK_TIMEOUT_MS } from '../domain/limits.ts'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import { AckTimer } from '../queues/ack-timer.ts'
import type { OrganisationRow, WebhookEventRow } from '../db/schema.ts'
import { urlPolicy, urlProblem } from '../net/public-url.ts'
import { log } from '../log.ts'
import { retryAfterSeconds } from '../net/retry-after.ts'
import { settingsOf } from '../settings.ts'
import { occupyEndpoint, shallBeDisabled } from './endpoint-store.ts'
import { reportDisabledEndpoint } from './endpoints.ts'
import { webhookBody } from './event.ts'
import { nextDelaySeconds } from './schedule.ts'
import { SlowDeliveries } from './slow-deliveries.ts'
import { claimEvent, recordAttempt, releaseEvent } from './store.ts'
import type { DueEvent } from './store.ts'
import { decryptWebhookSecret } from './stored-secret.ts'

const KEPT_BODY_BYTES = 1_024
const MAX_ERROR_LENGTH = 128
/** Retries of an event before its failure can disable the endpoint. */
const DISABLING_RETRIES = 3
/** A queue holds a message back for 12 hours at most; past that the sweep sends the next attempt. */
const MAX_DELAY_SECONDS = 43_200

/** How long a message waits for its attempt; after that, the attempt goes on without it. */
const ACK_AFTER_MS = 2_000
/** The same while another delivery of its organisation is slow. */
const ACK_NEXT_AFTER_MS = 250
/** An attempt takes less; what is older belonged to an invocation that was killed. */
const SLOW_AT_MOST_MS = 60_000

export const EventMessage = z.object({
  eventId: z.string(),
  /** Set when a person asked for the attempt: then it is made at a disabled endpoint, too. */
  manual: z.boolean().optional(),
})
type EventMessage = z.infer<typeof EventMessage>

interface Answer {
  status: number | null
  body: string | null
  error: string | null
  timedOut: boolean
  retryAfterSeconds: number
}

/** Of this isolate. */
const slowDeliveries = new SlowDeliveries(SLOW_AT_MOST_MS)

/** Makes the attempt that is due, if one is, and plans the next. */
export async function deliverEvent({
  env,
  eventId,
  manual = false,
  ackTimer = new AckTimer(),
}: EventMessage & { env: Env; ackTimer?: AckTimer }): Promise<void> {
  const due = await claimEvent(env, eventId)
  if (!due) return
  const { event, endpoint } = due
  if (endpoint.row?.disabledAt && !manual) {
    await releaseEvent(env, event, { status: 'failed' })
    log.info('webhook not sent: its endpoint is disabled', { eventId })
    return
  }
  if (slowDeliveries.isSlow(endpoint)) return postpone(env, event, manual)
  let busyUntil: Date | undefined
  if (endpoint.row?.timedOut) {
    busyUntil = await occupyEndpoint(env, endpoint)
    if (!busyUntil) return postpone(env, event, manual)
  }
  let slow: ReturnType<SlowDeliveries['add']> | undefined
  const hasSlow = slowDeliveries.hasSlow(endpoint.organisationId)
  const ackAfterMs = hasSlow ? ACK_NEXT_AFTER_MS : ACK_AFTER_MS
  ackTimer.start(ackAfterMs, () => (slow = slowDeliveries.add(endpoint)))
  try {
    await attemptAndRecord(env, due, busyUntil)
  } finally {
    ackTimer.stop()
    if (slow) slowDeliveries.remove(slow)
  }
}

/**
 * Puts an event off without an attempt: for as long as a quarter of its age, so that the many events
 * of an endpoint that hangs for hours cost little.
 */
async function postpone(env: Env, event: WebhookEventRow, manual: boolean): Promise<void> {
  const ageSeconds = (Date.now() - event.createdAt.getTime()) / 1_000
  const delay = Math.min(Math.max(ageSeconds / 4, 5), 15 * 60) * (1 + Math.random() / 5)
  const delaySeconds = Math.ceil(delay)
  const dueAt = new Date(Date.now() + (delaySeconds - 1) * 1_000)
  if (await releaseEvent(env, event, { dueAt })) {
    await sendLater(env, { eventId: event.id, ...(manual && { manual }) }, delaySeconds)
  }
}

const sendLater = (env: Env, message: EventMessage, delaySeconds: number) =>
  env.WEBHOOKS.send(message, { delaySeconds: Math.min(delaySeconds, MAX_DELAY_SECONDS) }).catch(
    (error: unknown) => log.error('attempt left to the sweep', error, { eventId: message.eventId }),
  )

async function attemptAndRecord(
  env: Env,
  due: DueEvent,
  busyUntil: Date | undefined,
): Promise<void> {
  const { event, job, endpoint } = due
  const eventId = event.id
  const at = new Date()
  const number = event.attempts + 1
  const answer = await attempt(env, due, at)
  const durationMs = Date.now() - at.getTime()

  const delivered = answer.status !== null && answer.status >= 200 && answer.status < 300
  const delays = settingsOf(env).webhookRetryDelaysSeconds
  const disables = shallBeDisabled(endpoint, number > Math.min(DISABLING_RETRIES, delays.length))
  const isLast =
    answer.status === 410 || // the receiver wants no more of it
    Boolean(endpoint.row?.disabledAt) ||
    disables
  const delaySeconds =
    delivered || isLast
      ? null
      : nextDelaySeconds(delays, number, Math.random(), answer.retryAfterSeconds)
  const status = delivered ? 'delivered' : delaySeconds === null ? 'failed' : 'retrying'
  const { decides, disabled } = await recordAttempt(
    env,
    due,
    {
      eventId,
      number,
      at,
      responseStatus: answer.status,
      durationMs,
      responseBody: answer.body,
      error: answer.error,
    },
    { status, dueAt: new Date(Date.now() + (delaySeconds ?? 0) * 1_000) },
    { timedOut: answer.timedOut, busyUntil, disables },
  )
  log.info('webhook attempt', {
    eventId,
    attempt: number,
    status,
    responseStatus: answer.status,
    durationMs,
    error: answer.error,
  })
  if (decides && delaySeconds !== null) await sendLater(env, { eventId }, delaySeconds)
  if (disabled) await reportDisabledEndpoint(env, settingsOf(env).baseUrl ?? job.baseUrl, endpoint)
}

async function attempt(
  env: Env,
  { event, job, organisation }: DueEvent,
  at: Date,
): Promise<Answer> {
  const base = settingsOf(env).baseUrl ?? job.baseUrl
  const problem = urlProblem(event.url, urlPolicy(env, [job.baseUrl]))
  if (problem) return noAnswer(`the URL ${problem}`)
  const body = JSON.stringify(webhookBody(env, base, event, job))
  // Outside the try: a secret that cannot be decrypted is our fault, and no failure of the receiver's.
  const signature = await signatures(env, organisation, event.id, at, body)
  try {
    const response = await fetch(event.url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(WEBHOOK_TIMEOUT_MS),
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'try-on/1.0',
        'webhook-id': event.id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': signature,
      },
      body,
    })
    return {
      status: response.status,
      // The status alone decides; a body that breaks off afterwards is no failure.
      body: await firstBytes(response).catch(() => null),
      error: null,
      timedOut: false,
      retryAfterSeconds: retryAfterSeconds(response.headers) ?? 0,
    }
  } catch (error) {
    if (!(error instanceof Error)) return noAnswer(String(error))
    const timedOut = error.name === 'TimeoutError'
    return noAnswer(`${error.name}: ${error.message}`, timedOut)
  }
}

const noAnswer = (error: string, timedOut = false): Answer => ({
  status: null,
  body: null,
  error: error.slice(0, MAX_ERROR_LENGTH),
  timedOut,
  retryAfterSeconds: 0,
})

/** One signature per active secret, so that a receiver can switch to the new one at any time. */
async function signatures(
  env: Env,
  organisation: OrganisationRow,
  id: string,
  at: Date,
  body: string,
): Promise<string> {
  const { webhookSecret, webhookSecretPrevious, webhookSecretPreviousUntil } = organisation
  const stored = [webhookSecret]
  if (webhookSecretPrevious && webhookSecretPreviousUntil && webhookSecretPreviousUntil > at) {
    stored.push(webhookSecretPrevious)
  }
  const secrets = await Promise.all(
    stored.map((secret) => decryptWebhookSecret(env, organisation.id, secret)),
  )
  return secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' ')
}

async function firstBytes(response: Response): Promise<string | null> {
  if (!response.body) return null
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const kept = new Uint8Array(KEPT_BODY_BYTES)
  let length = 0
  while (length < KEPT_BODY_BYTES) {
    const { done, value } = await reader.read()
    if (done) break
    const part = value.subarray(0, KEPT_BODY_BYTES - length)
    kept.set(part, length)
    length += part.byteLength
  }
  await reader.cancel()
  return textWithin(KEPT_BODY_BYTES, kept.subarray(0, length))
}

/** Decoded text that takes at most so many bytes: decoding makes three of each invalid one. */
function textWithin(maxBytes: number, bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes)
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(maxBytes)).read)
}

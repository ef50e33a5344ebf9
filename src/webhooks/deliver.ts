// One attempt at delivering one event, driven by messages of the queue `tryon-webhooks`. At least
// once: a crash after the receiver answered leads to another attempt with the same webhook-id.
import { Webhook } from 'standardwebhooks'
import type { OrganisationRow } from '../db/schema.ts'
import { urlPolicy, urlProblem } from '../images/url.ts'
import { log } from '../log.ts'
import { retryAfterSeconds } from '../retry-after.ts'
import { settingsOf, WEBHOOK_TIMEOUT_MS } from '../settings.ts'
import { webhookBody } from './event.ts'
import { nextDelaySeconds } from './schedule.ts'
import { claimEvent, recordAttempt } from './store.ts'
import type { DueEvent } from './store.ts'
import { decryptWebhookSecret } from './stored-secret.ts'

const KEPT_BODY_BYTES = 1_024
const MAX_ERROR_LENGTH = 128
/** A queue holds a message back for 12 hours at most; past that the sweep sends the next attempt. */
const MAX_DELAY_SECONDS = 43_200

interface Answer {
  status: number | null
  body: string | null
  error: string | null
  retryAfterSeconds: number
}

/** Makes the attempt that is due, if one is, and plans the next. */
export async function deliverEvent({ env, eventId }: { env: Env; eventId: string }): Promise<void> {
  const due = await claimEvent(env, eventId)
  if (!due) return
  const at = new Date()
  const number = due.event.attempts + 1
  const answer = await attempt(env, due, at)
  const durationMs = Date.now() - at.getTime()

  const delivered = answer.status !== null && answer.status >= 200 && answer.status < 300
  const ended = answer.status === 410 // the receiver wants no more of it
  const delaySeconds =
    delivered || ended
      ? null
      : nextDelaySeconds(
          settingsOf(env).webhookRetryDelaysSeconds,
          number,
          Math.random(),
          answer.retryAfterSeconds,
        )
  const status = delivered ? 'delivered' : delaySeconds === null ? 'failed' : 'retrying'
  const decides = await recordAttempt(
    env,
    due.event,
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
  )
  log.info('webhook attempt', {
    eventId,
    attempt: number,
    status,
    responseStatus: answer.status,
    durationMs,
    error: answer.error,
  })
  if (decides && delaySeconds !== null) {
    await env.WEBHOOKS.send(
      { eventId },
      { delaySeconds: Math.min(delaySeconds, MAX_DELAY_SECONDS) },
    ).catch((error: unknown) => log.error('attempt left to the sweep', error, { eventId }))
  }
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
      retryAfterSeconds: retryAfterSeconds(response.headers) ?? 0,
    }
  } catch (error) {
    return noAnswer(error instanceof Error ? `${error.name}: ${error.message}` : String(error))
  }
}

const noAnswer = (error: string): Answer => ({
  status: null,
  body: null,
  error: error.slice(0, MAX_ERROR_LENGTH),
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

// Verifies webhooks: the signature scheme of Standard Webhooks 1.0.
import { WebhookVerificationError } from './errors.ts'
import type { WebhookEvent } from './types.ts'

const DEFAULT_TOLERANCE_SECONDS = 300

/** A received webhook. */
export interface ReceivedWebhook {
  /** The raw body as it was received. A parsed and serialised body has another signature. */
  body: string | Uint8Array | ArrayBuffer
  /** The headers: a `Headers` object, or `request.headers` of Node and Express. */
  headers: Headers | Record<string, string | string[] | undefined>
  /** The webhook secret of your organisation, `whsec_…`. Undefined throws a TypeError. */
  secret: string | undefined
  /** The largest difference between the webhook's time and the clock, in seconds. Default: 300. */
  toleranceSeconds?: number | undefined
}

/**
 * Verifies a webhook.
 * @returns the event
 * @throws WebhookVerificationError when the webhook is not authentic or is too old; respond with 400
 * @throws TypeError for an argument of the wrong form, such as a parsed body
 */
async function verify(webhook: ReceivedWebhook): Promise<WebhookEvent> {
  const { body, headers, secret, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = webhook
  const bytes = bytesOf(body)
  const id = requiredHeader(headers, 'webhook-id')
  const timestamp = requiredHeader(headers, 'webhook-timestamp')
  const signatures = requiredHeader(headers, 'webhook-signature')
  checkTimestamp(timestamp, toleranceSeconds)

  const key = await importSecret(secret)
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  if (!(await matchesAny(key, signatures, signed))) {
    throw new WebhookVerificationError(
      'No signature of the webhook matches. Check the secret, and pass the body as it was received.',
    )
  }
  return parseEvent(new TextDecoder().decode(bytes))
}

/** Functions for webhooks. */
export const webhooks = {
  /**
   * Verifies the signature and the time of a webhook.
   * @returns the event
   * @throws WebhookVerificationError when the webhook is not authentic or is too old; respond with 400
   * @throws TypeError for an argument of the wrong form, such as a parsed body
   */
  verify,
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError('body must be the raw body: a string, Uint8Array or ArrayBuffer.')
}

function requiredHeader(headers: ReceivedWebhook['headers'], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headerOf(headers, name)
  if (!value) throw new WebhookVerificationError(`The header ${name} is missing.`)
  return value
}

function headerOf(headers: Record<string, string | string[] | undefined>, name: string) {
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return Array.isArray(found) ? found[0] : found
}

function checkTimestamp(timestamp: string, toleranceSeconds: number): void {
  if (!/^\d+$/.test(timestamp)) {
    throw new WebhookVerificationError('The header webhook-timestamp is not a number of seconds.')
  }
  const ageSeconds = Math.floor(Date.now() / 1_000) - Number(timestamp)
  // Not `>`, which accepts every age when the tolerance is NaN.
  if (Math.abs(ageSeconds) <= toleranceSeconds) return
  throw new WebhookVerificationError(
    ageSeconds < 0
      ? `The webhook is from the future: ${-ageSeconds} seconds.`
      : `The webhook is too old: ${ageSeconds} seconds.`,
  )
}

function importSecret(secret: string | undefined): Promise<CryptoKey> {
  const bytes = decodeBase64((secret ?? '').trim().replace(/^whsec_/, ''))
  if (!bytes?.length) {
    throw new TypeError('secret must be the webhook secret: whsec_ and a base64 text.')
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Compares each `v1` signature; a rotation of the secret has two. WebCrypto takes constant time. */
async function matchesAny(
  key: CryptoKey,
  header: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const signature of header.split(' ')) {
    const bytes = signature.startsWith('v1,') ? decodeBase64(signature.slice(3)) : null
    if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, signed))) return true
  }
  return false
}

function parseEvent(text: string): WebhookEvent {
  try {
    return JSON.parse(text) as WebhookEvent
  } catch (cause) {
    throw new WebhookVerificationError('The body of the webhook is not JSON.', { cause })
  }
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(one.length + other.length)
  whole.set(one)
  whole.set(other, one.length)
  return whole
}

// Verification of webhooks, signed by the library that the service uses.
import { webhooks, WebhookVerificationError, type ReceivedWebhook } from '../src/index.ts'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'

const SECRET = `whsec_${btoa('a secret of 24 characters')}`
const OTHER = `whsec_${btoa('another secret, also long')}`
const BODY = JSON.stringify({ type: 'job.failed', data: { job_id: 'job_1', name: 'Müller 🧥' } })
const ID = 'evt_1'

const sign = (secret = SECRET, at = new Date(), body = BODY) =>
  new Webhook(secret).sign(ID, at, body)

const headersAt = (at: Date, signature = sign(SECRET, at)) => ({
  'webhook-id': ID,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-signature': signature,
})

const received = (changes: Partial<ReceivedWebhook> = {}): ReceivedWebhook => ({
  body: BODY,
  headers: headersAt(new Date()),
  secret: SECRET,
  ...changes,
})

const expectAccepted = async (changes: Partial<ReceivedWebhook>) =>
  expect(await webhooks.verify(received(changes))).toMatchObject({ type: 'job.failed' })

const ago = (seconds: number) => headersAt(new Date(Date.now() - seconds * 1_000))

describe('webhooks.verify', () => {
  it.each([
    ['a text', BODY],
    ['bytes', new TextEncoder().encode(BODY)],
    ['an ArrayBuffer', new TextEncoder().encode(BODY).buffer as ArrayBuffer],
  ])('returns the event of a body that is %s', async (_, body) => {
    const event = await webhooks.verify(received({ body }))
    expect(event.type).toBe('job.failed')
    expect(event).toEqual(JSON.parse(BODY))
  })

  it('accepts Headers and the headers of Node', async () => {
    const headers = headersAt(new Date())
    const entries = Object.entries(headers)
    const forms = [
      new Headers(headers),
      Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value])),
      Object.fromEntries(entries.map(([name, value]) => [name, [value]])),
      { ...headers, 'x-other': undefined },
    ]
    for (const form of forms) await expectAccepted({ headers: form })
  })

  it('accepts a webhook with several signatures when one matches', async () => {
    const at = new Date()
    const signature = `v1a,AAAA v1,not-base64! ${sign(OTHER, at)} ${sign(SECRET, at)}`
    await expectAccepted({ headers: headersAt(at, signature) })
  })

  it('accepts a secret without its prefix', () =>
    expectAccepted({ secret: SECRET.replace('whsec_', '') }))

  it.each([
    ['another body', { body: BODY.replace('job_1', 'job_2') }, 'No signature'],
    ['another secret', { secret: OTHER }, 'No signature'],
    [
      'another id',
      { headers: { ...headersAt(new Date()), 'webhook-id': 'evt_2' } },
      'No signature',
    ],
    ['no v1 signature', { headers: headersAt(new Date(), 'v2,AAAA') }, 'No signature'],
    ['an empty signature', { headers: headersAt(new Date(), 'v1,') }, 'No signature'],
    ['no headers', { headers: {} }, 'webhook-id is missing'],
    ['an old time', { headers: ago(301) }, 'too old'],
    ['every time when the tolerance is not a number', { toleranceSeconds: Number.NaN }, 'too old'],
    ['a time in the future', { headers: ago(-302) }, 'from the future'],
    [
      'a malformed time',
      { headers: { ...headersAt(new Date()), 'webhook-timestamp': '1e3' } },
      'webhook-timestamp',
    ],
  ])('rejects %s', async (_, changes, message) => {
    const verification = webhooks.verify(received(changes))
    await expect(verification).rejects.toBeInstanceOf(WebhookVerificationError)
    await expect(verification).rejects.toThrow(message)
  })

  it('accepts an old webhook within the tolerance', () =>
    expectAccepted({ headers: ago(3_600), toleranceSeconds: 4_000 }))

  it('rejects a signed body that is not JSON', async () => {
    const headers = headersAt(new Date(), sign(SECRET, new Date(), 'text'))
    await expect(webhooks.verify(received({ headers, body: 'text' }))).rejects.toThrow('not JSON')
  })

  it.each(['whsec_***', 'whsec_', '', undefined])('rejects the secret %j', async (secret) => {
    const verification = webhooks.verify(received({ secret }))
    await expect(verification).rejects.toBeInstanceOf(TypeError)
    await expect(verification).rejects.toThrow(/^secret must be/)
  })

  it('reports a parsed body', async () => {
    // A plain JavaScript caller can pass the `request.body` of Express.
    const body: ReceivedWebhook['body'] = JSON.parse(BODY)
    await expect(webhooks.verify(received({ body }))).rejects.toThrow('body must be the raw body')
  })
})

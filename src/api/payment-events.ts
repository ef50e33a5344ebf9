// Events of payment providers: POST /payments/stripe/events, which Stripe calls.
import { Hono } from 'hono'
import { PaymentError } from '../billing/payment-provider.ts'
import { receiveEvent } from '../billing/receive-event.ts'
import { stripe } from '../billing/stripe/stripe.ts'
import { AppError } from '../domain/errors.ts'
import type { App } from '../http/request-context.ts'
import { log } from '../platform/log.ts'
import { readRequestBody } from '../platform/net/read-limited.ts'
import { settingsOf } from '../platform/settings.ts'

/** Stripe's largest events have some 100 kB. */
const MAX_EVENT_BYTES = 256 * 1_024

export const paymentEvents = new Hono<App>().post('/stripe/events', async (c) => {
  // Also accepted when new payments use another provider: refunds of earlier ones still arrive.
  const { secretKey, webhookSecret } = settingsOf(c.env).stripe
  if (!secretKey || !webhookSecret) throw new AppError('not_found')
  const { headers } = c.req.raw
  const bytes = await readRequestBody(c.req.raw, MAX_EVENT_BYTES)
  if (!bytes) {
    throw new AppError('payload_too_large', 'The request body is too large. The limit is 256 KiB.')
  }
  try {
    // The signature covers the exact bytes, so the body is not parsed before.
    const body = new TextDecoder().decode(bytes)
    const result = await receiveEvent({ env: c.env, provider: stripe(c.env), headers, body })
    log.info('payment event received', { result })
  } catch (error) {
    if (!(error instanceof PaymentError) || error.code !== 'invalid_signature') throw error
    const { message } = error
    return c.json({ error: { code: 'validation_error', message } }, 400)
  }
  // Every other error is a 500, after which Stripe sends the event again.
  return c.json({ received: true })
})

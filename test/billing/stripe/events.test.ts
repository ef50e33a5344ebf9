// Stripe's events over HTTP: POST /payments/stripe/events, and what the service does with them.
import { createExecutionContext } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import { app } from '../../../src/app.ts'
import { buyPack } from '../../../src/billing/buy-pack.ts'
import { changePlan } from '../../../src/billing/change-plan.ts'
import { findPayment } from '../../../src/billing/payments.ts'
import type { PaymentRow } from '../../../src/platform/db/billing-schema.ts'
import { newId } from '../../../src/platform/ids.ts'
import { balanceOf, newShop, organisationOf, type Shop } from '../../support/billing.ts'
import { BASE } from '../../support/client.ts'
import { STRIPE_SECRET_KEY, useFakeStripe, type FakeStripe } from '../../support/fake-stripe.ts'
import type { StripeObject } from '../../support/stripe-contract.ts'
import { signedEvent } from '../../support/stripe-event.ts'
import { checkoutOf, packOf, provider, stripeEnv } from './support.ts'
import { eventsSince } from '../../support/provider-events.ts'

const env = stripeEnv()

const post = (init: RequestInit, vars: Env = env): Promise<Response> =>
  Promise.resolve(
    app.fetch(
      new Request(`${BASE}/payments/stripe/events`, { method: 'POST', ...init }),
      vars,
      createExecutionContext(),
    ),
  )

/** Delivers an event as Stripe does. */
async function deliver(event: StripeObject, signing?: { secret?: string; at?: number }) {
  const response = await post(await signedEvent(event, signing))
  return { status: response.status, body: await response.json<StripeObject>() }
}

const RECEIVED = { status: 200, body: { received: true } }

/** Starts the purchase of 500 credits for 4,000 cents. */
const startPack = ({ request }: Shop): Promise<PaymentRow> =>
  buyPack({ ...request, env, pack: 500, amount: 4_000, currency: 'USD' })

const referenceOf = (payment: PaymentRow): string => payment.providerReference ?? ''

const lastIntent = (stripe: FakeStripe): string => stripe.all('payment_intent')[0]?.['id']

describe('an event about a pack', () => {
  it('grants the credits once when it is repeated', async () => {
    const stripe = useFakeStripe()
    const shop = await newShop()
    const payment = await startPack(shop)
    const event = stripe.pay(referenceOf(payment))
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(await balanceOf(shop.organisationId)).toBe(500)
    const requests = stripe.requests.length
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(stripe.requests).toHaveLength(requests)
    expect(await balanceOf(shop.organisationId)).toBe(500)
    expect(await findPayment(env, payment.id)).toMatchObject({ status: 'paid' })
  })

  it('grants the credits once when several events report the payment', async () => {
    const stripe = useFakeStripe()
    const shop = await newShop()
    stripe.pay(referenceOf(await startPack(shop)))
    const events = stripe.all('event')
    expect(events.length).toBeGreaterThan(1)
    expect(await Promise.all(events.map((event) => deliver(event)))).toEqual(
      events.map(() => RECEIVED),
    )
    expect(await balanceOf(shop.organisationId)).toBe(500)
  })

  it('applies the current state when events are reordered', async () => {
    const stripe = useFakeStripe()
    const shop = await newShop()
    const payment = await startPack(shop)
    stripe.pay(referenceOf(payment), 'declined')
    stripe.pay(referenceOf(payment))
    stripe.refund(lastIntent(stripe), 1_000)
    // Newest first.
    for (const event of stripe.all('event')) expect(await deliver(event)).toEqual(RECEIVED)
    expect(await balanceOf(shop.organisationId)).toBe(375)
    expect(await findPayment(env, payment.id)).toMatchObject({
      status: 'paid',
      amountRefunded: 1_000,
      creditsReversed: 125,
    })
  })

  it('takes the credits back after a lost dispute', async () => {
    const stripe = useFakeStripe()
    const shop = await newShop()
    const payment = await startPack(shop)
    await deliver(stripe.pay(referenceOf(payment)))
    const dispute = stripe.dispute(lastIntent(stripe))
    await deliver(dispute)
    expect(await findPayment(env, payment.id)).toMatchObject({ dispute: 'open' })
    expect(await balanceOf(shop.organisationId)).toBe(500)
    await deliver(stripe.closeDispute(dispute, 'lost'))
    expect(await findPayment(env, payment.id)).toMatchObject({ dispute: 'lost' })
    expect(await balanceOf(shop.organisationId)).toBe(0)
  })

  it('grants nothing when the amount is another one', async () => {
    const stripe = useFakeStripe()
    const shop = await newShop()
    const payment = await startPack(shop)
    stripe.get(referenceOf(payment))['amount_total'] = 1
    expect(await deliver(stripe.pay(referenceOf(payment)))).toEqual(RECEIVED)
    expect(await balanceOf(shop.organisationId)).toBe(0)
    expect(await findPayment(env, payment.id)).toMatchObject({ status: 'failed' })
  })
})

describe('an event about a subscription', () => {
  const startPlan = async ({ request }: Shop): Promise<PaymentRow> => {
    const price = { amount: 4_900, currency: 'USD' }
    const change = await changePlan({ ...request, env, plan: 'growth', ...price })
    if (change.kind !== 'payment') throw new Error(`The change of plan is ${change.kind}`)
    return change.payment
  }

  it('applies the plan and grants the credits of each month', async () => {
    const stripe = useFakeStripe()
    const shop = await newShop()
    stripe.pay(referenceOf(await startPlan(shop)))
    for (const event of stripe.all('event').toReversed()) await deliver(event)
    expect(await organisationOf(shop.organisationId)).toMatchObject({ plan: 'growth' })
    expect(await balanceOf(shop.organisationId)).toBe(750)

    const [subscription] = stripe.all('subscription')
    stripe.renew(subscription?.['id'])
    for (const event of stripe.all('event')) await deliver(event)
    expect(await balanceOf(shop.organisationId)).toBe(1_500)
  })

  it('takes the credits of a refunded renewal back, though its payment has no metadata', async () => {
    const stripe = useFakeStripe()
    const shop = await newShop()
    await deliver(stripe.pay(referenceOf(await startPlan(shop))))
    const [subscription] = stripe.all('subscription')
    stripe.renew(subscription?.['id'])
    stripe.refund(lastIntent(stripe), 4_900)
    await deliver(stripe.all('event')[0] ?? {})
    expect(await balanceOf(shop.organisationId)).toBe(750)
  })

  it.each(['refund', 'lost dispute'])(
    'takes the credits of a renewal back after a %s, though the subscription has ended',
    async (change) => {
      const stripe = useFakeStripe()
      const shop = await newShop()
      await deliver(stripe.pay(referenceOf(await startPlan(shop))))
      const subscriptionId = stripe.all('subscription')[0]?.['id']
      stripe.renew(subscriptionId)
      const renewal = lastIntent(stripe)
      await deliver(stripe.all('event')[0] ?? {})
      stripe.endSubscription(subscriptionId)
      await deliver(stripe.all('event')[0] ?? {})
      expect(await organisationOf(shop.organisationId)).toMatchObject({ plan: 'starter' })
      expect(await balanceOf(shop.organisationId)).toBe(1_500)
      if (change === 'refund') stripe.refund(renewal, 4_900)
      else stripe.closeDispute(stripe.dispute(renewal), 'lost')
      await deliver(stripe.all('event')[0] ?? {})
      expect(await balanceOf(shop.organisationId)).toBe(750)
    },
  )
})

describe('an event', () => {
  const paidEvent = async (stripe: FakeStripe) => {
    const shop = await newShop()
    return { shop, event: stripe.pay(referenceOf(await startPack(shop))) }
  }
  const INVALID = {
    status: 400,
    body: {
      error: { code: 'validation_error', message: 'The signature of the event is not valid.' },
    },
  }

  it('is rejected when it is signed with the secret of another account', async () => {
    const stripe = useFakeStripe()
    const { shop, event } = await paidEvent(stripe)
    expect(await deliver(event, { secret: 'whsec_of_another_account' })).toEqual(INVALID)
    expect(await balanceOf(shop.organisationId)).toBe(0)
  })

  it('is rejected when it was signed more than 5 minutes ago', async () => {
    const stripe = useFakeStripe()
    const { shop, event } = await paidEvent(stripe)
    expect(await deliver(event, { at: Date.now() - 301_000 })).toEqual(INVALID)
    expect(await balanceOf(shop.organisationId)).toBe(0)
  })

  it('is rejected when its body was changed or it has no signature', async () => {
    const stripe = useFakeStripe()
    const { shop, event } = await paidEvent(stripe)
    const { headers, body } = await signedEvent(event)
    expect((await post({ headers, body: `${body} ` })).status).toBe(400)
    expect((await post({ body })).status).toBe(400)
    expect((await post({ body, headers: { 'Stripe-Signature': 't=1,v1=' } })).status).toBe(400)
    expect(await balanceOf(shop.organisationId)).toBe(0)
  })

  it('is ignored when the payment is unknown or belongs to another organisation', async () => {
    const stripe = useFakeStripe()
    const { reference } = await provider().startCheckout(checkoutOf(packOf(100, 800)))
    expect(await deliver(stripe.pay(reference))).toEqual(RECEIVED)
    const { shop, event } = await paidEvent(stripe)
    const other = await newShop()
    event['data'].object.metadata.organisation_id = other.organisationId
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(await balanceOf(shop.organisationId)).toBe(0)
    expect(await balanceOf(other.organisationId)).toBe(0)
  })

  it.each([{}, { organisation_id: 'org_1' }, { organisation_id: newId('org'), payment_id: 'x' }])(
    'is ignored when its object belongs to another system: %j',
    async (metadata) => {
      const stripe = useFakeStripe()
      const { shop, event } = await paidEvent(stripe)
      event['data'].object.metadata = metadata
      const requests = stripe.requests.length
      expect(await deliver(event)).toEqual(RECEIVED)
      expect(stripe.requests).toHaveLength(requests)
      expect(await balanceOf(shop.organisationId)).toBe(0)
    },
  )

  it('is sent again by Stripe when the payment cannot be read', async () => {
    const stripe = useFakeStripe()
    const { shop, event } = await paidEvent(stripe)
    stripe.failNext(3, 503)
    expect(await deliver(event)).toMatchObject({
      status: 500,
      body: { error: { code: 'internal_error' } },
    })
    expect(await deliver(event)).toEqual(RECEIVED)
    expect(await balanceOf(shop.organisationId)).toBe(500)
  })

  it('of more than 256 KiB is rejected', async () => {
    useFakeStripe()
    const response = await post({ body: 'x'.repeat(256 * 1_024 + 1) })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ error: { code: 'payload_too_large' } })
  })

  it('has no address when Stripe is not set up', async () => {
    useFakeStripe()
    const vars = stripeEnv({ PAYMENT_PROVIDER: 'sandbox', STRIPE_WEBHOOK_SECRET: '' })
    expect((await post({ body: '{}' }, vars)).status).toBe(404)
  })
})

describe('the events since an instant', () => {
  it('are those of this service, oldest first, on all pages', async () => {
    const stripe = useFakeStripe()
    const since = new Date(Date.now() - 60_000)
    stripe.emit('charge.refunded', { object: 'charge', metadata: {}, payment_intent: null })
    const expected = await Promise.all(
      Array.from({ length: 101 }, async () => {
        const request = checkoutOf(packOf(100, 800))
        const { reference } = await provider().startCheckout(request)
        stripe.expireSession(reference)
        return request.paymentId
      }),
    )
    const events = await eventsSince(provider(), since)
    expect(new Set(events.map(({ paymentId }) => paymentId))).toEqual(new Set(expected))
    expect(events).toHaveLength(101)
    expect(events[0]).toEqual({
      id: stripe.all('event').at(-2)?.['id'],
      createdAt: expect.any(Date),
      organisationId: expect.stringMatching(/^org_/),
      paymentId: expect.stringMatching(/^pay_/),
      subscriptionId: null,
      reference: null,
    })
    expect(await eventsSince(provider(), new Date(Date.now() + 60_000))).toEqual([])

    const known = new Set(events.slice(1, -2).map(({ id }) => id))
    const request = { since, knownOf: async () => known }
    const missing = await provider().missingEvents({ ...request, limit: 2 })
    expect(missing.map(({ id }) => id)).toEqual([events[0]?.id, events.at(-2)?.id])
  })

  it('are described only when they are read, and without those of other systems', async () => {
    const stripe = useFakeStripe()
    const since = new Date(Date.now() - 60_000)
    const { reference } = await provider().startCheckout(checkoutOf(packOf(100, 800)))
    stripe.pay(reference)
    stripe.dispute(lastIntent(stripe))
    stripe.emit('payment_intent.succeeded', stripe.createIntent({ amount: 1, currency: 'usd' }))
    const requests = stripe.requests.length
    const knownOf = async () => new Set<string>()
    const listed = await provider().missingEvents({ since, limit: 100, knownOf })
    expect(stripe.requests).toHaveLength(requests + 1)
    expect(listed).toHaveLength(stripe.all('event').length - 1)
    stripe.failNext(3, 503)
    await expect(listed.at(-1)?.read()).rejects.toMatchObject({ code: 'unavailable' })
    expect(await listed.at(-1)?.read()).toMatchObject({ organisationId: expect.any(String) })
  })
})

describe('the log', () => {
  it('contains no secret and no page of a customer', async () => {
    const lines = vi.spyOn(console, 'log').mockImplementation(() => {})
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const stripe = useFakeStripe()
    const shop = await newShop()
    const payment = await startPack(shop)
    stripe.failNext(3, 500, {
      type: 'api_error',
      message: `${STRIPE_SECRET_KEY} pi_1_secret_abc https://checkout.stripe.com/c/pay/cs_1`,
    })
    await deliver(stripe.pay(referenceOf(payment)))
    const log = [...lines.mock.calls, ...errors.mock.calls].join('\n')
    expect(log).toContain('sk_test_[REDACTED]')
    expect(log).toContain('_secret_[REDACTED]')
    expect(log).toContain('https://checkout.stripe.com/[REDACTED]')
    expect(log).not.toMatch(/key_of_the_tests|secret_abc|cs_1/)
  })
})

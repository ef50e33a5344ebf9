// Stripe: charges in the customer's absence, refunds, disputes, and a provider that is down.
import { describe, expect, it } from 'vitest'
import { useFakeStripe, type FakeStripe } from '../../support/fake-stripe.ts'
import type { PaymentRequest } from '../../../src/billing/payment-provider.ts'
import { newId } from '../../../src/platform/ids.ts'
import { checkoutOf, find, packOf, planOf, provider, reloadOf, requestOf } from './support.ts'

/** A request to charge a customer who has paid once. */
async function reloadRequest(stripe: FakeStripe): Promise<PaymentRequest> {
  const organisationId = newId('org')
  const first = checkoutOf(packOf(100, 800), { organisationId })
  const { reference, customerId } = await provider().startCheckout(first)
  stripe.pay(reference)
  return requestOf(reloadOf(500, 4_000), { organisationId, customerId, email: null })
}

describe('a charge', () => {
  it('takes the stored payment method without the customer', async () => {
    const stripe = useFakeStripe()
    const request = await reloadRequest(stripe)
    const state = await provider().charge(request)
    expect(state).toMatchObject({
      status: 'paid',
      amount: 4_000,
      currency: 'USD',
      customerId: request.customer.customerId,
      paymentMethod: 'Visa •••• 4242',
      invoiceUrl: expect.stringContaining('https://pay.stripe.com/'),
      actionUrl: null,
    })
    expect(stripe.sent('POST /v1/payment_intents')).toMatchObject([
      {
        idempotencyKey: request.paymentId,
        body: { off_session: true, confirm: true, amount: 4_000, currency: 'usd' },
      },
    ])
    expect(await find(request, { reference: state.reference })).toEqual(state)
  })

  it('prefers the payment method that the customer has chosen in the portal', async () => {
    const stripe = useFakeStripe()
    const request = await reloadRequest(stripe)
    const customer = stripe.get(request.customer.customerId ?? '')
    const chosen = stripe.addCard(customer['id'])
    customer['invoice_settings'].default_payment_method = chosen['id']
    stripe.addCard(customer['id'], 'declined')
    expect(await provider().charge(request)).toMatchObject({ status: 'paid' })
  })

  it.each([
    ['declined', 'The card has insufficient funds.'],
    [
      'authentication_required',
      'The bank asks the cardholder to confirm the payment. Pay on the Billing page.',
    ],
  ] as const)('fails when the card is %s', async (card, failure) => {
    const stripe = useFakeStripe()
    const request = await reloadRequest(stripe)
    stripe.addCard(request.customer.customerId ?? '', card)
    const state = await provider().charge(request)
    expect(state).toMatchObject({ status: 'failed', failure, amount: 4_000 })
    expect(await provider().charge(request)).toMatchObject({ status: 'failed', failure })
    expect(await find(request, { reference: state.reference })).toMatchObject({ status: 'failed' })
  })

  it('is rejected without a stored payment method', async () => {
    useFakeStripe()
    const never = requestOf(reloadOf(100, 800))
    await expect(provider().charge(never)).rejects.toMatchObject({ code: 'rejected' })
    const customer = await provider().startCheckout(checkoutOf(packOf(100, 800)))
    const unpaid = requestOf(reloadOf(100, 800), { customerId: customer.customerId })
    await expect(provider().charge(unpaid)).rejects.toMatchObject({ code: 'rejected' })
  })

  it('charges once when the response is lost and the request repeated', async () => {
    const stripe = useFakeStripe()
    const request = await reloadRequest(stripe)
    // The customer, the payment method, then the charge.
    stripe.passNext(2)
    stripe.loseNextResponse()
    await expect(provider().charge(request)).rejects.toMatchObject({ code: 'unavailable' })
    const { customerId } = request.customer
    expect(await find(request, { customerId })).toMatchObject({ status: 'paid', amount: 4_000 })
    expect(await provider().charge(request)).toMatchObject({ status: 'paid' })
    expect(stripe.all('charge')).toHaveLength(2)
  })

  it('adds the tax that Stripe computes', async () => {
    const stripe = useFakeStripe()
    const request = await reloadRequest(stripe)
    const state = await provider({ STRIPE_AUTOMATIC_TAX: 'true' }).charge(request)
    expect(state).toMatchObject({ status: 'paid', amount: 4_000, tax: 800 })
    expect(stripe.all('charge')[0]).toMatchObject({ amount: 4_800 })
  })
})

describe('a provider that is down', () => {
  it.each([
    [500, {}],
    [503, {}],
    [429, { type: 'invalid_request_error', code: 'rate_limit' }],
    [409, { type: 'idempotency_error', code: 'idempotency_key_in_use' }],
    [401, { type: 'invalid_request_error' }],
    [403, { type: 'invalid_request_error' }],
  ])('is reported as unavailable: status %i', async (status, error) => {
    const stripe = useFakeStripe()
    stripe.failNext(10, status, { message: 'Failed.', type: 'api_error', ...error })
    const failed = find(requestOf(packOf(100, 800)), { reference: 'cs_1' })
    await expect(failed).rejects.toMatchObject({ name: 'PaymentError', code: 'unavailable' })
  })

  it('is asked three times', async () => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    stripe.failNext(1, 503)
    stripe.disconnectNext(1)
    expect(await provider().startCheckout(request)).toMatchObject({ status: 'open' })
    stripe.disconnectNext(3)
    const failed = provider().startCheckout(request)
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('leaves a payment open whose parameters differ from those of an earlier request', async () => {
    useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    await provider().startCheckout(request)
    const other = { ...request, purchase: packOf(500, 4_000) }
    await expect(provider().startCheckout(other)).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('is different from one that rejects the request', async () => {
    const stripe = useFakeStripe()
    stripe.failNext(1, 400, { type: 'invalid_request_error', message: 'Invalid currency.' })
    const failed = provider().startCheckout(checkoutOf(packOf(100, 800)))
    await expect(failed).rejects.toMatchObject({ code: 'rejected', message: 'Invalid currency.' })
  })
})

describe('a refund', () => {
  const paid = async (stripe: FakeStripe, vars?: Record<string, string>) => {
    const request = checkoutOf(packOf(100, 800))
    const { reference } = await provider(vars).startCheckout(request)
    stripe.pay(reference)
    return { request, reference, read: () => find(request, { reference }) }
  }

  it('returns a part of the payment, once per id', async () => {
    const stripe = useFakeStripe()
    const { reference, read } = await paid(stripe)
    await provider().refund({ refundId: 'first', reference, amount: 300 })
    await provider().refund({ refundId: 'first', reference, amount: 300 })
    stripe.forgetIdempotencyKeys()
    await provider().refund({ refundId: 'first', reference, amount: 300 })
    expect(await read()).toMatchObject({ status: 'paid', amountRefunded: 300 })
    await provider().refund({ refundId: 'second', reference, amount: 500 })
    expect(await read()).toMatchObject({ amountRefunded: 800 })
  })

  it('returns the tax in proportion, and the last one exactly the rest', async () => {
    const stripe = useFakeStripe()
    stripe.taxRate = 7
    const { reference, read } = await paid(stripe, { STRIPE_AUTOMATIC_TAX: 'true' })
    for (const [at, amount] of [267, 266, 267].entries()) {
      await provider().refund({ refundId: `refund ${at}`, reference, amount })
    }
    expect(await read()).toMatchObject({ amount: 800, amountRefunded: 800 })
    expect(stripe.all('charge')[0]).toMatchObject({ amount: 856, amount_refunded: 856 })
  })

  it('of more than the rest is rejected', async () => {
    const stripe = useFakeStripe()
    const { reference, read } = await paid(stripe)
    await provider().refund({ refundId: 'first', reference, amount: 500 })
    const second = provider().refund({ refundId: 'second', reference, amount: 301 })
    await expect(second).rejects.toMatchObject({ code: 'rejected' })
    expect(await read()).toMatchObject({ amountRefunded: 500 })
  })

  it('of an unpaid payment is rejected', async () => {
    useFakeStripe()
    const { reference } = await provider().startCheckout(checkoutOf(packOf(100, 800)))
    const refund = provider().refund({ refundId: 'first', reference, amount: 1 })
    await expect(refund).rejects.toMatchObject({ code: 'rejected' })
  })

  it('works for charges and for the invoices of subscriptions', async () => {
    const stripe = useFakeStripe()
    const request = await reloadRequest(stripe)
    const { reference } = await provider().charge(request)
    await provider().refund({ refundId: 'charge', reference, amount: 1_000 })
    expect(await find(request, { reference })).toMatchObject({ amountRefunded: 1_000 })

    const plan = checkoutOf(planOf('growth', 4_900))
    const session = await provider().startCheckout(plan)
    stripe.pay(session.reference)
    await provider().refund({ refundId: 'month', reference: session.reference, amount: 900 })
    expect(await find(plan, session)).toMatchObject({ amountRefunded: 900 })
    const [invoice] = stripe.all('invoice')
    await provider().refund({ refundId: 'rest', reference: invoice?.['id'], amount: 4_000 })
    expect(await find(plan, { reference: invoice?.['id'] })).toMatchObject({
      status: 'paid',
      amountRefunded: 4_900,
    })
  })
})

describe('a dispute', () => {
  it.each([
    ['won', 0],
    ['lost', 800],
  ] as const)('that is %s returns %i', async (outcome, amountRefunded) => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    const { reference } = await provider().startCheckout(request)
    stripe.pay(reference)
    const dispute = stripe.dispute(stripe.all('payment_intent')[0]?.['id'])
    expect(await find(request, { reference })).toMatchObject({ dispute: 'open', amountRefunded: 0 })
    stripe.closeDispute(dispute, outcome)
    expect(await find(request, { reference })).toMatchObject({ dispute: outcome, amountRefunded })
  })

  it('of a payment that was refunded in part does not count more than was paid', async () => {
    const stripe = useFakeStripe()
    const request = checkoutOf(packOf(100, 800))
    const { reference } = await provider().startCheckout(request)
    stripe.pay(reference)
    const intentId = stripe.all('payment_intent')[0]?.['id']
    stripe.refund(intentId, 300)
    stripe.closeDispute(stripe.dispute(intentId), 'lost')
    expect(await find(request, { reference })).toMatchObject({ amountRefunded: 800 })
  })
})

describe('the portal', () => {
  it('offers payment method and address, and neither cancellation nor a change of plan', async () => {
    const stripe = useFakeStripe()
    const { customerId } = await provider().startCheckout(checkoutOf(packOf(100, 800)))
    const returnUrl = 'https://try-on.example/console/billing'
    const open = () => provider().portalUrl({ customerId: customerId ?? '', returnUrl })
    expect(await open()).toBe('https://billing.stripe.com/p/session/test')
    stripe.forgetIdempotencyKeys()
    await open()
    expect(stripe.all('billing_portal.configuration')).toMatchObject([
      {
        features: {
          payment_method_update: { enabled: true },
          subscription_cancel: { enabled: false },
          subscription_update: { enabled: false },
        },
      },
    ])
  })
})

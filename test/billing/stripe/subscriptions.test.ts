// Stripe: subscriptions, upgrades, downgrades and renewals.
import { describe, expect, it, vi } from 'vitest'
import type { PaymentRequest, SubscriptionState } from '../../../src/billing/payment-provider.ts'
import { newId } from '../../../src/platform/ids.ts'
import { useFakeStripe, type FakeStripe } from '../../support/fake-stripe.ts'
import { checkoutOf, find, planOf, provider, requestOf } from './support.ts'

interface Subscribed {
  subscriptionId: string
  request: PaymentRequest
  /** A request to upgrade to `scale`. */
  upgrade: () => PaymentRequest & { subscriptionId: string; at: Date }
  read: () => Promise<SubscriptionState | null>
}

/** An organisation that has bought the plan `growth`. */
async function subscribed(stripe: FakeStripe): Promise<Subscribed> {
  const organisationId = newId('org')
  const request = checkoutOf(planOf('growth', 4_900), { organisationId })
  const { reference, customerId } = await provider().startCheckout(request)
  stripe.pay(reference)
  const state = await find(request, { reference })
  const subscriptionId = state?.subscriptionId ?? ''
  return {
    subscriptionId,
    request,
    upgrade: () => ({
      at: new Date(),
      ...requestOf(planOf('scale', 29_900), { organisationId, customerId }),
      subscriptionId,
    }),
    read: () => provider().findSubscription(subscriptionId),
  }
}

const isWithinMonth = (at: Date | undefined) => {
  const days = ((at?.getTime() ?? 0) - Date.now()) / 86_400_000
  return days > 29 && days <= 30
}

describe('a subscription', () => {
  it('is read with the invoice of the first month', async () => {
    const stripe = useFakeStripe()
    const { read, subscriptionId, request } = await subscribed(stripe)
    const state = await read()
    expect(state).toMatchObject({
      id: subscriptionId,
      organisationId: request.customer.organisationId,
      status: 'active',
      plan: 'growth',
      endsAtPeriodEnd: false,
      invoices: [
        {
          reference: expect.stringMatching(/^in_/),
          paymentId: request.paymentId,
          plan: 'growth',
          status: 'paid',
          amount: 4_900,
          currency: 'USD',
          subscriptionId,
        },
      ],
    })
    expect(isWithinMonth(state?.periodEnd)).toBe(true)
  })

  it('has a renewal without a payment id', async () => {
    const stripe = useFakeStripe()
    const { read, subscriptionId, request } = await subscribed(stripe)
    stripe.renew(subscriptionId)
    const state = await read()
    expect(state).toMatchObject({
      status: 'active',
      invoices: [
        { paymentId: request.paymentId },
        { paymentId: null, status: 'paid', amount: 4_900, plan: 'growth' },
      ],
    })
    expect(isWithinMonth(state?.periodEnd)).toBe(false)
  })

  it.each(['manual', 'subscription_threshold', 'quote_accept', 'upcoming'])(
    'does not count an invoice with the billing reason %s as a renewal',
    async (reason) => {
      const stripe = useFakeStripe()
      const { read, subscriptionId, request } = await subscribed(stripe)
      stripe.addInvoice(subscriptionId, reason)
      const paid = [{ paymentId: request.paymentId, status: 'paid' }]
      expect((await read())?.invoices).toMatchObject(paid)
      stripe.renew(subscriptionId)
      expect((await read())?.invoices).toMatchObject([...paid, { paymentId: null }])
    },
  )

  it('is past due after a failed renewal until the invoice is paid', async () => {
    const stripe = useFakeStripe()
    const { read, subscriptionId } = await subscribed(stripe)
    stripe.changeCard(subscriptionId, 'declined')
    const invoice = stripe.renew(subscriptionId)
    expect(await read()).toMatchObject({
      status: 'past_due',
      invoices: [{}, { status: 'open', actionUrl: expect.stringContaining(invoice['id']) }],
    })
    stripe.payInvoice(invoice['id'])
    expect(await read()).toMatchObject({ status: 'active', invoices: [{}, { status: 'paid' }] })
  })

  it('does not include drafts, which can still change', async () => {
    const stripe = useFakeStripe()
    const { read, subscriptionId } = await subscribed(stripe)
    stripe.renew(subscriptionId)['status'] = 'draft'
    expect((await read())?.invoices).toHaveLength(1)
  })

  it('of another system or that does not exist is not found', async () => {
    const stripe = useFakeStripe()
    const { read, subscriptionId } = await subscribed(stripe)
    stripe.get(subscriptionId)['metadata'] = {}
    expect(await read()).toBeNull()
    expect(await provider().findSubscription('sub_unknown')).toBeNull()
  })

  it('ends once, also when it has ended before', async () => {
    const stripe = useFakeStripe()
    const { read, subscriptionId } = await subscribed(stripe)
    await provider().endSubscription(subscriptionId)
    await provider().endSubscription(subscriptionId)
    await provider().endSubscription('sub_unknown')
    expect(await read()).toMatchObject({ status: 'ended' })
    expect(stripe.all('refund')).toEqual([])
  })

  it('that ends unpaid has no invoice that could still be paid', async () => {
    const stripe = useFakeStripe()
    const { read, subscriptionId } = await subscribed(stripe)
    stripe.changeCard(subscriptionId, 'declined')
    stripe.renew(subscriptionId)
    await provider().endSubscription(subscriptionId)
    expect(await read()).toMatchObject({
      status: 'ended',
      invoices: [{ status: 'paid' }, { status: 'expired', actionUrl: null }],
    })
  })
})

describe('an upgrade', () => {
  it('charges what was quoted, to the second', async () => {
    const stripe = useFakeStripe()
    const { upgrade, subscriptionId } = await subscribed(stripe)
    const request = upgrade()
    const { purchase, customer } = request
    if (purchase.kind !== 'plan') throw new Error('not a plan')
    const { plan, amount } = purchase
    const { currency } = customer
    const { at } = request
    const change = { subscriptionId, plan, amount, currency, at }
    const quote = await provider().quoteUpgrade(change)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * 60_000 })
    expect(await provider().upgrade(request)).toMatchObject({ status: 'paid', amount: quote })
    expect(await provider().paymentMethod(request.customer.customerId ?? '')).toBe('Visa •••• 4242')
    vi.useRealTimers()
  })

  it('changes the plan at once and charges the difference', async () => {
    const stripe = useFakeStripe()
    const { read, upgrade, subscriptionId } = await subscribed(stripe)
    const request = upgrade()
    const state = await provider().upgrade(request)
    expect(state).toMatchObject({ status: 'paid', subscriptionId, currency: 'USD' })
    expect(state.amount).toBeGreaterThan(24_900)
    expect(state.amount).toBeLessThanOrEqual(25_000)
    expect(await find(request, { reference: state.reference })).toEqual(state)
    expect(await read()).toMatchObject({
      plan: 'scale',
      invoices: [{}, { paymentId: request.paymentId, plan: 'scale', reference: state.reference }],
    })
  })

  it('charges once when it is repeated, also after a day', async () => {
    const stripe = useFakeStripe()
    const { upgrade } = await subscribed(stripe)
    const request = upgrade()
    const { reference } = await provider().upgrade(request)
    expect(await provider().upgrade(request)).toMatchObject({ reference })
    stripe.forgetIdempotencyKeys()
    expect(await provider().upgrade(request)).toMatchObject({ reference, status: 'paid' })
    expect(stripe.all('invoice')).toHaveLength(2)
  })

  it('to the current plan is rejected', async () => {
    const stripe = useFakeStripe()
    const { upgrade } = await subscribed(stripe)
    await provider().upgrade(upgrade())
    await expect(provider().upgrade(upgrade())).rejects.toMatchObject({ code: 'rejected' })
    expect(stripe.all('invoice')).toHaveLength(2)
  })

  it.each(['declined', 'authentication_required'] as const)(
    'keeps the plan when the card is %s, until the customer pays the invoice',
    async (card) => {
      const stripe = useFakeStripe()
      const { read, upgrade, subscriptionId } = await subscribed(stripe)
      stripe.changeCard(subscriptionId, card)
      const request = upgrade()
      const state = await provider().upgrade(request)
      expect(state).toMatchObject({
        status: 'open',
        actionUrl: expect.stringContaining('https://invoice.stripe.com/'),
      })
      expect(await read()).toMatchObject({ plan: 'growth', status: 'active' })
      stripe.payInvoice(state.reference)
      expect(await find(request, { reference: state.reference })).toMatchObject({ status: 'paid' })
      expect(await read()).toMatchObject({ plan: 'scale', status: 'active' })
    },
  )

  it('expires when the customer does not pay', async () => {
    const stripe = useFakeStripe()
    const { read, upgrade, subscriptionId } = await subscribed(stripe)
    stripe.changeCard(subscriptionId, 'declined')
    const request = upgrade()
    const { reference } = await provider().upgrade(request)
    stripe.expirePendingUpdate(subscriptionId)
    expect(await find(request, { reference })).toMatchObject({ status: 'expired', actionUrl: null })
    expect(await read()).toMatchObject({ plan: 'growth' })
  })

  it('is found when the response was lost', async () => {
    const stripe = useFakeStripe()
    const { upgrade } = await subscribed(stripe)
    await provider().upgrade(upgrade()) // creates the price
    const { upgrade: other } = await subscribed(stripe)
    const request = other()
    // The subscription, the price, the metadata, then the update.
    stripe.passNext(3)
    stripe.loseNextResponse()
    await expect(provider().upgrade(request)).rejects.toMatchObject({ code: 'unavailable' })
    const { customerId } = request.customer
    const found = await find(request, { customerId })
    expect(found).toMatchObject({ status: 'paid', reference: expect.stringMatching(/^in_/) })
    expect(await provider().upgrade(request)).toMatchObject({ reference: found?.reference })
  })

  it('reverts the end of the subscription once it is paid', async () => {
    const stripe = useFakeStripe()
    const { read, upgrade, subscriptionId } = await subscribed(stripe)
    await provider().setNextPlan({ subscriptionId, plan: 'starter', currency: 'USD' })
    await provider().upgrade(upgrade())
    expect(await read()).toMatchObject({ plan: 'scale', endsAtPeriodEnd: false })
  })

  it('reverts the end of the subscription when it is repeated after a crash', async () => {
    const stripe = useFakeStripe()
    const { read, upgrade, subscriptionId } = await subscribed(stripe)
    const request = upgrade()
    await provider().upgrade(request)
    stripe.get(subscriptionId)['cancel_at_period_end'] = true
    expect(await provider().upgrade(request)).toMatchObject({ status: 'paid' })
    expect(await read()).toMatchObject({ plan: 'scale', endsAtPeriodEnd: false })
  })

  it('is found when another one has replaced the metadata', async () => {
    const stripe = useFakeStripe()
    const { upgrade, subscriptionId } = await subscribed(stripe)
    const request = upgrade()
    const { reference } = await provider().upgrade(request)
    stripe.get(subscriptionId)['metadata'].payment_id = newId('pay')
    stripe.forgetIdempotencyKeys()
    expect(await provider().upgrade(request)).toMatchObject({ reference, status: 'paid' })
  })

  it.each([2, 3])('is charged once when %i are started at once', async (count) => {
    const stripe = useFakeStripe()
    const { read, upgrade, subscriptionId } = await subscribed(stripe)
    const requests = Array.from({ length: count }, upgrade)
    // All read the subscription, then all set the metadata, then all change the plan.
    const path = `/v1/subscriptions/${subscriptionId}`
    stripe.gather('GET', path, count)
    stripe.gather('POST', path, count)
    const results = await Promise.allSettled(requests.map((one) => provider().upgrade(one)))
    const paid = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(paid).toMatchObject([{ status: 'paid' }])
    expect(paid[0]?.amount).toBeGreaterThan(24_900)
    const rejected = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(rejected).toMatchObject(rejected.map(() => ({ code: 'rejected' })))
    expect(rejected).toHaveLength(count - 1)
    expect(stripe.all('invoice')).toHaveLength(2)
    expect((await read())?.invoices).toHaveLength(2)
  })
})

describe('the next plan', () => {
  it('takes effect at the renewal without a payment before', async () => {
    const stripe = useFakeStripe()
    const { read, upgrade, subscriptionId } = await subscribed(stripe)
    await provider().upgrade(upgrade())
    const change = { subscriptionId, plan: 'growth', currency: 'USD' } as const
    await provider().setNextPlan(change)
    await provider().setNextPlan(change)
    expect(stripe.all('invoice')).toHaveLength(2)
    expect(await read()).toMatchObject({ plan: 'growth', endsAtPeriodEnd: false })
    stripe.renew(subscriptionId)
    const state = await read()
    expect(state?.invoices.at(-1)).toMatchObject({ plan: 'growth', amount: 4_900, paymentId: null })
  })

  it('starter ends the subscription at the end of the period, and can be reverted', async () => {
    const stripe = useFakeStripe()
    const { read, subscriptionId } = await subscribed(stripe)
    const currency = 'USD'
    await provider().setNextPlan({ subscriptionId, plan: 'starter', currency })
    expect(await read()).toMatchObject({ status: 'active', endsAtPeriodEnd: true })
    await provider().setNextPlan({ subscriptionId, plan: 'growth', currency })
    expect(await read()).toMatchObject({ plan: 'growth', endsAtPeriodEnd: false })
    await provider().setNextPlan({ subscriptionId, plan: 'starter', currency })
    stripe.renew(subscriptionId)
    expect(await read()).toMatchObject({ status: 'ended', invoices: [{}] })
  })

  it('does not change the price of a customer whose plan has become more expensive', async () => {
    const stripe = useFakeStripe()
    const { subscriptionId } = await subscribed(stripe)
    const [item] = stripe.get(subscriptionId)['items'].data
    item.price.unit_amount = 3_900
    await provider().setNextPlan({ subscriptionId, plan: 'growth', currency: 'USD' })
    expect(stripe.renew(subscriptionId)).toMatchObject({ total: 3_900 })
  })
})

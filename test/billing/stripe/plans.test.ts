// Plans through Stripe, from the purchase to the end: what the organisation has after each event.
import { describe, expect, it } from 'vitest'
import { findBillingAccount, readBilling } from '../../../src/billing/billing-account.ts'
import { PLAN_TERMS, type SelfServicePlan } from '../../../src/billing/plans.ts'
import { receiveEvent } from '../../../src/billing/receive-event.ts'
import {
  balanceOf,
  newShop,
  organisationOf,
  confirmPlan,
  type Shop,
} from '../../support/billing.ts'
import { useFakeStripe, type FakeStripe } from '../../support/fake-stripe.ts'
import { signedEvent } from '../../support/stripe-event.ts'
import { provider, stripeEnv } from './support.ts'

const env = stripeEnv()

/** Delivers all events so far, oldest first. Repeated ones have no effect. */
async function deliverAll(stripe: FakeStripe): Promise<void> {
  for (const event of stripe.all('event').toReversed()) {
    const delivery = await signedEvent(event)
    await receiveEvent({ env, provider: provider(), ...delivery })
  }
}

const choose = ({ request }: Shop, plan: SelfServicePlan) =>
  confirmPlan({
    ...request,
    env,
    plan,
    amount: PLAN_TERMS[plan].monthlyFee.USD,
    currency: 'USD',
  })

const stateOf = async ({ organisationId }: Shop) => ({
  plan: (await organisationOf(organisationId)).plan,
  balance: await balanceOf(organisationId),
})

const lastPayment = async ({ request }: Shop) =>
  (await readBilling({ ...request, env })).payments[0]

/** An organisation that has paid the first month of `growth`. */
async function newSubscriber(stripe: FakeStripe): Promise<Shop & { subscriptionId: string }> {
  const shop = await newShop()
  const change = await choose(shop, 'growth')
  if (change.kind !== 'payment') throw new Error(`The change of plan is ${change.kind}`)
  stripe.pay(change.payment.providerReference ?? '')
  await deliverAll(stripe)
  return { ...shop, subscriptionId: stripe.all('subscription')[0]?.['id'] }
}

describe('a plan that is paid through Stripe', () => {
  it('starts with the first payment', async () => {
    const stripe = useFakeStripe()
    const shop = await newSubscriber(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'growth', balance: 750 })
    expect(await findBillingAccount(env, shop.organisationId)).toMatchObject({
      provider: 'stripe',
      subscriptionId: shop.subscriptionId,
      subscriptionStatus: 'active',
      paymentMethod: 'Visa •••• 4242',
    })
  })

  it('changes at once after an upgrade', async () => {
    const stripe = useFakeStripe()
    const shop = await newSubscriber(stripe)
    expect(await choose(shop, 'scale')).toMatchObject({
      kind: 'payment',
      payment: { status: 'paid', credits: 5_250 },
    })
    await deliverAll(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'scale', balance: 6_000 })
  })

  it('changes when the customer confirms the payment of an upgrade', async () => {
    const stripe = useFakeStripe()
    const shop = await newSubscriber(stripe)
    stripe.changeCard(shop.subscriptionId, 'authentication_required')
    const change = await choose(shop, 'scale')
    expect(change).toMatchObject({
      payment: {
        status: 'open',
        actionUrl: expect.stringContaining('https://invoice.stripe.com/'),
      },
    })
    await deliverAll(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'growth', balance: 750 })
    stripe.payInvoice((await lastPayment(shop))?.providerReference ?? '')
    await deliverAll(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'scale', balance: 6_000 })
  })

  it('remains when the customer does not pay the upgrade', async () => {
    const stripe = useFakeStripe()
    const shop = await newSubscriber(stripe)
    stripe.changeCard(shop.subscriptionId, 'declined')
    await choose(shop, 'scale')
    stripe.expirePendingUpdate(shop.subscriptionId)
    await deliverAll(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'growth', balance: 750 })
    expect(await lastPayment(shop)).toMatchObject({ status: 'expired' })
  })

  it('changes to a cheaper one with the renewal', async () => {
    const stripe = useFakeStripe()
    const shop = await newSubscriber(stripe)
    await choose(shop, 'scale')
    expect(await choose(shop, 'growth')).toMatchObject({ kind: 'scheduled' })
    await deliverAll(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'scale', balance: 6_000 })
    stripe.renew(shop.subscriptionId)
    await deliverAll(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'growth', balance: 6_750 })
    expect(await lastPayment(shop)).toMatchObject({ kind: 'renewal', amount: 4_900 })
  })

  it('ends with the period after a change to starter', async () => {
    const stripe = useFakeStripe()
    const shop = await newSubscriber(stripe)
    await choose(shop, 'starter')
    await deliverAll(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'growth', balance: 750 })
    stripe.renew(shop.subscriptionId)
    await deliverAll(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'starter', balance: 750 })
  })

  it('has a grace period after a failed renewal, which ends with its payment', async () => {
    const stripe = useFakeStripe()
    const shop = await newSubscriber(stripe)
    stripe.changeCard(shop.subscriptionId, 'declined')
    stripe.renew(shop.subscriptionId)
    await deliverAll(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'growth', balance: 750 })
    expect(await findBillingAccount(env, shop.organisationId)).toMatchObject({
      subscriptionStatus: 'past_due',
      graceUntil: expect.any(Date),
    })
    stripe.payInvoice((await lastPayment(shop))?.providerReference ?? '')
    await deliverAll(stripe)
    expect(await stateOf(shop)).toEqual({ plan: 'growth', balance: 1_500 })
    expect(await findBillingAccount(env, shop.organisationId)).toMatchObject({
      subscriptionStatus: 'active',
      graceUntil: null,
    })
  })
})

// A deployment that changes from the sandbox to Stripe.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { findBillingAccount, saveBillingAccount } from '../../src/billing/billing-account.ts'
import { findPayment } from '../../src/billing/payments.ts'
import { refreshPayment } from '../../src/billing/refresh-payment.ts'
import { sandbox } from '../../src/billing/sandbox/sandbox.ts'
import worker from '../../src/index.ts'
import { createExecutionContext } from 'cloudflare:test'
import { accountOf, deliver, newShop, startPack } from '../support/billing.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'
import { paid, planRequest } from '../support/sandbox.ts'

const live = {
  ...env,
  PAYMENT_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: 'k',
  STRIPE_WEBHOOK_SECRET: 's',
}

describe('an organisation that has moved to another provider', () => {
  it('keeps its subscription when an old payment is refunded', async () => {
    const provider = fakePayments()
    const shop = await newShop()
    const { organisationId } = shop
    const { id } = await startPack(shop)
    await deliver(provider, provider.pay(id))
    const moved = {
      provider: 'stripe',
      customerId: 'cus_stripe',
      paymentMethod: 'Visa •••• 1111',
      subscriptionId: 'sub_stripe',
      subscriptionStatus: 'active',
    } as const
    await saveBillingAccount(env, organisationId, moved)
    provider.refundInDashboard(id, 4_000)
    const payment = await findPayment(env, id)
    if (!payment) throw new Error('no payment')
    const refunded = await refreshPayment({ env, account: accountOf(organisationId), payment })
    expect(refunded.creditsReversed).toBe(500)
    expect(await findBillingAccount(env, organisationId)).toMatchObject(moved)
  })

  it('stays at its provider until a payment at the new one is paid', async () => {
    const provider = fakePayments()
    const shop = await newShop()
    const { organisationId } = shop
    const earlier = { provider: 'stripe', customerId: 'cus_stripe' } as const
    await saveBillingAccount(env, organisationId, earlier)
    const { id } = await startPack(shop)
    expect(await findBillingAccount(env, organisationId)).toMatchObject(earlier)
    await deliver(provider, provider.pay(id))
    expect(await findBillingAccount(env, organisationId)).toMatchObject({ provider: 'sandbox' })
  })
})

describe('the sandbox while Stripe is set', () => {
  it('accepts no payment and ends its subscriptions', async () => {
    const { request, state } = await paid('success', planRequest('growth'))
    const subscriptionId = state.subscriptionId ?? ''
    const closed = sandbox(live)
    const rejected = { name: 'PaymentError', code: 'rejected' }
    await expect(
      closed.upgrade({ ...request, subscriptionId, at: new Date() }),
    ).rejects.toMatchObject(rejected)
    await expect(closed.charge(request)).rejects.toMatchObject(rejected)
    const urls = { returnUrl: 'https://try-on.test/a', cancelUrl: 'https://try-on.test/b' }
    await expect(closed.startCheckout({ ...request, ...urls })).rejects.toMatchObject(rejected)
    expect(await closed.findSubscription(subscriptionId)).toMatchObject({ status: 'ended' })
  })

  it('returns 404 for its payment pages', async () => {
    for (const path of ['/sandbox/checkout/ch_1?key=a', '/sandbox/card?key=a']) {
      const request = new Request(`http://localhost${path}`)
      const response = await worker.fetch(request, live, createExecutionContext())
      expect(response.status).toBe(404)
    }
  })
})

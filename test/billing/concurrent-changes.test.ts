// Changes of the plan that run at once, or are confirmed late.
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import { findBillingAccount } from '../../src/billing/billing-account.ts'
import { findPayment, insertPayment } from '../../src/billing/payments.ts'
import { settlePayment } from '../../src/billing/settle-payment.ts'
import { syncSubscription } from '../../src/billing/subscription.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import {
  accountOf,
  balanceOf,
  choosePlan,
  deliver,
  newShop,
  organisationOf,
  shopOnPlan,
} from '../support/billing.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'

let provider: FakePaymentProvider
beforeEach(() => void (provider = fakePayments()))

describe('upgrades', () => {
  it('are charged and granted once when three start at once', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    provider.outcome = 'open'
    const results = await Promise.allSettled([1, 2, 3].map(() => choosePlan(shop, 'scale')))
    const started = results.filter((result) => result.status === 'fulfilled')
    const ids = started.map(({ value }) => value.kind === 'payment' && value.payment.id)
    expect(new Set(ids).size).toBe(1)
    for (const result of results) {
      if (result.status === 'fulfilled') continue
      expect(result.reason).toMatchObject({ code: 'validation_error' })
    }
    await deliver(provider, provider.pay(String(ids[0])))
    expect(await balanceOf(shop.organisationId)).toBe(6_000)
    expect(provider.paidBy(shop.organisationId)).toHaveLength(2)
  })

  it('grant nothing when the provider has charged nothing', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    provider.proration = 0
    expect(await choosePlan(shop, 'scale')).toMatchObject({ payment: { status: 'failed' } })
    expect(await balanceOf(shop.organisationId)).toBe(750)
  })

  it('grant nothing for a charge that belongs to another payment', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    const first = await findPayment(env, shop.paymentId)
    const account = accountOf(shop.organisationId)
    const other = await insertPayment(env, SYSTEM, {
      organisationId: shop.organisationId,
      kind: 'plan',
      plan: 'growth',
      credits: 750,
      amount: 4_900,
      currency: 'USD',
      provider: 'sandbox',
      createdBy: null,
    })
    const state = { ...provider.stateOf(shop.paymentId) }
    expect(state.reference).toBe(first?.providerReference)
    await expect(settlePayment({ env, account, payment: other, state })).rejects.toThrow()
    expect(await balanceOf(shop.organisationId)).toBe(750)
  })

  it('that are confirmed late revert a scheduled downgrade', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    await choosePlan(shop, 'starter')
    provider.outcome = 'open'
    const change = await choosePlan(shop, 'scale')
    if (change.kind !== 'payment') throw new Error(change.kind)
    await deliver(provider, provider.pay(change.payment.id))
    await syncSubscription({
      env,
      account: accountOf(shop.organisationId),
      organisationId: shop.organisationId,
    })
    expect(provider.subscriptionOf(shop.organisationId)?.endsAtPeriodEnd).toBe(false)
    expect(await findBillingAccount(env, shop.organisationId)).toMatchObject({ nextPlan: null })
    expect((await organisationOf(shop.organisationId)).plan).toBe('scale')
  })
})

describe('a slow settlement', () => {
  it('does not replace a subscription that was started since', async () => {
    const shop = await newShop()
    const account = accountOf(shop.organisationId)
    const first = await choosePlan(shop, 'growth')
    const second = await choosePlan(shop, 'scale')
    if (first.kind !== 'payment' || second.kind !== 'payment') throw new Error('no payments')
    const stale = await findPayment(env, first.payment.id)
    if (!stale) throw new Error('no payment')
    await deliver(provider, provider.pay(first.payment.id))
    const state = { ...provider.stateOf(first.payment.id) }
    await deliver(provider, provider.pay(second.payment.id))
    await settlePayment({ env, account, payment: stale, state })
    expect((await organisationOf(shop.organisationId)).plan).toBe('scale')
    const stored = await findBillingAccount(env, shop.organisationId)
    expect(stored?.subscriptionId).toBe(provider.stateOf(second.payment.id).subscriptionId)
    expect(await balanceOf(shop.organisationId)).toBe(6_750)
  })
})

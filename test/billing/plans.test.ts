// Changing the plan: the first plan, upgrades, downgrades, and bad input.
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { applyPlan } from '../../src/billing/apply-plan.ts'
import { findBillingAccount } from '../../src/billing/billing-account.ts'
import { changePlan } from '../../src/billing/change-plan.ts'
import { paymentsOf, findPayment } from '../../src/billing/payments.ts'
import { PLAN_TERMS, SELF_SERVICE_PLANS } from '../../src/billing/plans.ts'
import { refreshPayment } from '../../src/billing/refresh-payment.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { DAY_MS } from '../../src/domain/limits.ts'
import {
  accountOf,
  balanceOf,
  choosePlan,
  deliver,
  newShop,
  newUser,
  organisationOf,
  passTime,
  setPlan,
  shopOnPlan,
  type Shop,
} from '../support/billing.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'
import { PERIOD_MS } from '../support/fake-subscriptions.ts'

const GROWTH = { plan: 'growth', amount: 4_900, currency: 'USD' }

let provider: FakePaymentProvider
beforeEach(() => {
  vi.useRealTimers()
  provider = fakePayments()
})

/** The payment of a change of plan. */
async function paymentOf(change: ReturnType<typeof choosePlan>) {
  const result = await change
  if (result.kind !== 'payment') throw new Error(`The change is ${result.kind}`)
  return result.payment
}

describe('the first plan', () => {
  it('comes into force with its credits and rate limit once it is paid', async () => {
    const shop = await newShop()
    const payment = await paymentOf(choosePlan(shop, 'growth'))
    expect(payment).toMatchObject({ kind: 'plan', plan: 'growth', amount: 4_900, credits: 750 })
    expect(payment.actionUrl).toContain('https://pay.test/')
    expect((await organisationOf(shop.organisationId)).plan).toBe('starter')
    await deliver(provider, provider.pay(payment.id))
    expect(await organisationOf(shop.organisationId)).toEqual({ plan: 'growth', rateLimit: 300 })
    expect(await balanceOf(shop.organisationId)).toBe(750)
    const subscription = provider.subscriptionOf(shop.organisationId)
    expect(await findBillingAccount(env, shop.organisationId)).toMatchObject({
      subscriptionId: subscription?.id,
      subscriptionStatus: 'active',
      periodEnd: subscription?.periodEnd,
      nextPlan: null,
      paymentMethod: 'Visa •••• 4242',
    })
  })

  it('comes into force without an event, when the payment is refreshed', async () => {
    const shop = await newShop()
    const payment = await paymentOf(choosePlan(shop, 'scale'))
    provider.pay(payment.id)
    await refreshPayment({ env, account: accountOf(shop.organisationId), payment })
    expect(await organisationOf(shop.organisationId)).toEqual({ plan: 'scale', rateLimit: 1_200 })
    expect(await balanceOf(shop.organisationId)).toBe(6_000)
  })

  it('is paid once when it is chosen twice', async () => {
    const shop = await newShop()
    const [first, second] = [
      await paymentOf(choosePlan(shop, 'growth')),
      await paymentOf(choosePlan(shop, 'growth')),
    ]
    expect(second.id).toBe(first.id)
    provider.pay(first.id)
    expect(await paymentOf(choosePlan(shop, 'growth'))).toMatchObject({ status: 'paid' })
    expect(await choosePlan(shop, 'growth')).toEqual({ kind: 'unchanged' })
  })

  it('resumes the payment whose response was lost', async () => {
    const shop = await newShop()
    provider.fail('startCheckout', 'after')
    await expect(choosePlan(shop, 'growth')).rejects.toMatchObject({ code: 'unavailable' })
    const payment = await paymentOf(choosePlan(shop, 'growth'))
    provider.pay(payment.id)
    expect(provider.paidBy(shop.organisationId)).toHaveLength(1)
  })

  it('ends the earlier subscription when two payment pages are paid', async () => {
    const shop = await newShop()
    const growth = await paymentOf(choosePlan(shop, 'growth'))
    const scale = await paymentOf(choosePlan(shop, 'scale'))
    await deliver(provider, provider.pay(growth.id))
    const first = provider.subscriptionOf(shop.organisationId)
    await deliver(provider, provider.pay(scale.id))
    expect(first?.status).toBe('ended')
    expect(provider.subscriptionOf(shop.organisationId)).toMatchObject({ status: 'active' })
    for (const event of provider.events) await deliver(provider, event)
    expect((await organisationOf(shop.organisationId)).plan).toBe('scale')
    expect(await balanceOf(shop.organisationId)).toBe(6_750)
  })

  it('does not return after a later change when its payment is refunded', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    await deliver(provider, provider.end(shop.subscriptionId))
    expect((await organisationOf(shop.organisationId)).plan).toBe('starter')
    await deliver(provider, provider.refundInDashboard(shop.paymentId, 4_900))
    expect((await organisationOf(shop.organisationId)).plan).toBe('starter')
    expect(await balanceOf(shop.organisationId)).toBe(0)
  })
})

describe('an upgrade', () => {
  it('is charged at the price of the provider and applies at once', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    const payment = await paymentOf(choosePlan(shop, 'scale'))
    expect(payment).toMatchObject({ status: 'paid', amount: 12_500, credits: 5_250 })
    expect(await organisationOf(shop.organisationId)).toEqual({ plan: 'scale', rateLimit: 1_200 })
    expect(await balanceOf(shop.organisationId)).toBe(6_000)
    await deliver(provider, provider.refundInDashboard(payment.id, 6_250))
    expect(await balanceOf(shop.organisationId)).toBe(6_000 - 2_625)
  })

  it('grants the additional credits only for the rest of the period', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    passTime(20 * DAY_MS)
    const payment = await paymentOf(choosePlan(shop, 'scale'))
    expect(payment.credits).toBe(1_750)
    expect(await balanceOf(shop.organisationId)).toBe(2_500)
  })

  it('leaves the plan unchanged when the card is declined', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    provider.outcome = 'declined'
    expect(await paymentOf(choosePlan(shop, 'scale'))).toMatchObject({
      status: 'failed',
      failure: 'The card was declined.',
    })
    expect((await organisationOf(shop.organisationId)).plan).toBe('growth')
    expect(await balanceOf(shop.organisationId)).toBe(750)
  })

  it('waits for the confirmation of the customer', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    provider.outcome = 'open'
    const payment = await paymentOf(choosePlan(shop, 'scale'))
    expect(payment).toMatchObject({
      status: 'open',
      actionUrl: expect.stringContaining('pay.test'),
    })
    expect((await paymentOf(choosePlan(shop, 'scale'))).id).toBe(payment.id)
    await deliver(provider, provider.pay(payment.id))
    expect((await organisationOf(shop.organisationId)).plan).toBe('scale')
    expect(await findPayment(env, payment.id)).toMatchObject({ status: 'paid', amount: 12_500 })
  })

  it('is charged once when its response is lost', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    provider.fail('upgrade', 'after')
    await expect(choosePlan(shop, 'scale')).rejects.toMatchObject({ code: 'unavailable' })
    await choosePlan(shop, 'scale')
    for (const event of provider.events) await deliver(provider, event)
    expect(provider.paidBy(shop.organisationId)).toHaveLength(2)
    expect(await balanceOf(shop.organisationId)).toBe(6_000)
  })

  it('replaces a scheduled downgrade', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    await choosePlan(shop, 'starter')
    await choosePlan(shop, 'scale')
    expect((await findBillingAccount(env, shop.organisationId))?.nextPlan).toBeNull()
    await deliver(provider, provider.renew(shop.subscriptionId))
    expect((await organisationOf(shop.organisationId)).plan).toBe('scale')
  })

  it('is rejected while a payment is past due', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    provider.renew(shop.subscriptionId, 'failed')
    await expect(choosePlan(shop, 'scale')).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('Update the payment method'),
    })
    expect(provider.calls).not.toContain('upgrade')
  })
})

describe('a downgrade', () => {
  it.each(['growth', 'starter'] as const)(
    'to %s applies at the end of the period',
    async (plan) => {
      const shop = await shopOnPlan(provider, 'scale')
      const periodEnd = provider.subscriptionOf(shop.organisationId)?.periodEnd
      expect(await choosePlan(shop, plan)).toEqual({ kind: 'scheduled', at: periodEnd })
      expect((await findBillingAccount(env, shop.organisationId))?.nextPlan).toBe(plan)
      expect((await organisationOf(shop.organisationId)).plan).toBe('scale')
      expect(await choosePlan(shop, plan)).toEqual({ kind: 'unchanged' })
      passTime(PERIOD_MS)
      await deliver(provider, provider.renew(shop.subscriptionId))
      expect((await organisationOf(shop.organisationId)).plan).toBe(plan)
      expect(await balanceOf(shop.organisationId)).toBe(plan === 'growth' ? 6_750 : 6_000)
      expect((await findBillingAccount(env, shop.organisationId))?.nextPlan).toBeNull()
    },
  )

  it('is reverted by choosing the current plan', async () => {
    const shop = await shopOnPlan(provider, 'scale')
    await choosePlan(shop, 'starter')
    expect(await choosePlan(shop, 'scale')).toEqual({ kind: 'unchanged' })
    expect((await findBillingAccount(env, shop.organisationId))?.nextPlan).toBeNull()
    await deliver(provider, provider.renew(shop.subscriptionId))
    expect((await organisationOf(shop.organisationId)).plan).toBe('scale')
    expect(await balanceOf(shop.organisationId)).toBe(12_000)
  })

  it('is read from the provider when its response was lost', async () => {
    const shop = await shopOnPlan(provider, 'scale')
    provider.fail('setNextPlan', 'after')
    await expect(choosePlan(shop, 'growth')).rejects.toMatchObject({ code: 'unavailable' })
    expect(await choosePlan(shop, 'growth')).toEqual({ kind: 'unchanged' })
    expect((await findBillingAccount(env, shop.organisationId))?.nextPlan).toBe('growth')
  })

  it('applies at once when an operator has set the plan without a subscription', async () => {
    const shop = await newShop()
    await setPlan(shop.organisationId, 'scale')
    expect(await choosePlan(shop, 'starter')).toEqual({ kind: 'changed' })
    expect((await organisationOf(shop.organisationId)).plan).toBe('starter')
    expect(provider.calls).not.toContain('setNextPlan')
  })
})

describe('bad input', () => {
  const rejected: [string, object, string][] = [
    ['an unknown plan', { plan: 'gold' }, 'The plan must be one of starter, growth and scale.'],
    [
      'the plan enterprise',
      { plan: 'enterprise' },
      'The plan must be one of starter, growth and scale.',
    ],
    ['another price', { amount: 0 }, 'The price has changed. Check the new price and try again.'],
    ['another currency', { currency: 'EUR' }, 'The currency of this organisation is USD.'],
  ]
  it.each(rejected)('rejects %s', async (_, change, message) => {
    const shop = await newShop()
    const error = { code: 'validation_error', message }
    await expect(changePlan({ ...shop.request, ...GROWTH, ...change })).rejects.toMatchObject(error)
    expect(await paymentsOf(env, shop.organisationId, { limit: 1 })).toEqual([])
  })

  it('rejects members and owners of other organisations', async () => {
    const [shop, other] = [await newShop(), await newShop()]
    const member = await newUser(shop.organisationId, 'developer')
    for (const actor of [member, other.owner]) {
      const order = { ...shop.request, ...GROWTH, actor }
      await expect(changePlan(order)).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  it('rejects a change of the plan enterprise', async () => {
    const shop = await newShop()
    await setPlan(shop.organisationId, 'enterprise')
    await expect(changePlan({ ...shop.request, ...GROWTH })).rejects.toMatchObject({
      code: 'validation_error',
      message: 'Contact support to change this plan.',
    })
  })
})

describe('applying a plan', () => {
  const apply = (shop: Shop, plan: (typeof SELF_SERVICE_PLANS)[number]) =>
    applyPlan({ env, actor: SYSTEM, organisationId: shop.organisationId, plan })

  it('keeps the rate limit that an operator has set', async () => {
    const shop = await newShop()
    await env.DB.prepare(
      'UPDATE organisations SET rate_limit_overridden = 1, rate_limit_per_minute = 5 WHERE id = ?',
    )
      .bind(shop.organisationId)
      .run()
    await apply(shop, 'scale')
    expect(await organisationOf(shop.organisationId)).toEqual({ plan: 'scale', rateLimit: 5 })
  })

  it('never changes the plan enterprise', async () => {
    const shop = await newShop()
    await setPlan(shop.organisationId, 'enterprise')
    for (const plan of SELF_SERVICE_PLANS) await apply(shop, plan)
    expect(await organisationOf(shop.organisationId)).toEqual({ plan: 'enterprise', rateLimit: 60 })
  })

  it('is recorded in the audit log once', async () => {
    const shop = await newShop()
    for (let n = 0; n < 2; n++) await apply(shop, 'growth')
    const { results } = await env.DB.prepare(
      "SELECT details FROM audit_log WHERE organisation_id = ? AND action = 'plan.changed'",
    )
      .bind(shop.organisationId)
      .all()
    expect(results).toEqual([{ details: '{"plan_old":"starter","plan_new":"growth"}' }])
  })

  it('is rejected for users', async () => {
    const { request } = await newShop()
    await expect(applyPlan({ ...request, plan: 'scale' })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('the table of plans', () => {
  it.each(SELF_SERVICE_PLANS)('has ascending tiers from 1 credit and whole amounts: %s', (plan) => {
    const { tiers, monthlyFee, includedCredits, rateLimitPerMinute } = PLAN_TERMS[plan]
    const sizes = tiers.map(({ fromCredits }) => fromCredits)
    expect(sizes[0]).toBe(1)
    expect(sizes).toEqual([...new Set(sizes)].sort((one, other) => one - other))
    const prices = [monthlyFee, ...tiers.map(({ price }) => price)].flatMap(Object.values)
    for (const number of [...prices, ...sizes, includedCredits, rateLimitPerMinute]) {
      expect(Number.isInteger(number) && number >= 0).toBe(true)
    }
  })
})

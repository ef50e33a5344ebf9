// Renewals, the grace period after a failed renewal, and the end of a subscription.
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { findBillingAccount } from '../../src/billing/billing-account.ts'
import { paymentsOf } from '../../src/billing/payments.ts'
import { syncSubscription } from '../../src/billing/subscription.ts'
import { DAY_MS } from '../../src/domain/limits.ts'
import * as mail from '../../src/mail/send.ts'
import { violationsOf } from '../support/facts.ts'
import {
  accountOf,
  balanceOf,
  deliver,
  newShop,
  organisationOf,
  passTime,
  setPlan,
  shopOnPlan,
} from '../support/billing.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'
import { PERIOD_MS } from '../support/fake-subscriptions.ts'

let provider: FakePaymentProvider
beforeEach(() => {
  vi.useRealTimers()
  provider = fakePayments()
})

const sync = ({ organisationId }: { organisationId: string }) =>
  syncSubscription({ env, account: accountOf(organisationId), organisationId })

const renewalsOf = async (organisationId: string) =>
  (await paymentsOf(env, organisationId, { limit: 100 })).filter(({ kind }) => kind === 'renewal')

const sentEmails = () => vi.spyOn(mail, 'sendEmail').mockResolvedValue(true)

describe('a renewal', () => {
  it('grants the included credits once', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    passTime(PERIOD_MS)
    const event = provider.renew(shop.subscriptionId)
    await deliver(provider, event)
    await deliver(provider, event)
    await sync(shop)
    await Promise.all([sync(shop), sync(shop)])
    expect(await balanceOf(shop.organisationId)).toBe(1_500)
    expect(await renewalsOf(shop.organisationId)).toMatchObject([
      { status: 'paid', plan: 'growth', amount: 4_900, credits: 750, createdBy: null },
    ])
    expect(await violationsOf(shop.organisationId)).toEqual([])
  })

  it('grants each of several renewals whose events were lost', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    for (let month = 0; month < 3; month++) provider.renew(shop.subscriptionId)
    await sync(shop)
    expect(await balanceOf(shop.organisationId)).toBe(4 * 750)
  })

  it('is expected ten minutes after the period, and then once an hour', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    const periodEnd = Number(provider.subscriptionOf(shop.organisationId)?.periodEnd)
    expect(await sync(shop)).toBe(periodEnd + 10 * 60_000)
    vi.useFakeTimers({ toFake: ['Date'], now: periodEnd + 11 * 60_000 })
    expect(await sync(shop)).toBe(Date.now() + 60 * 60_000)
  })

  it('takes the credits back when it is refunded', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    await deliver(provider, provider.renew(shop.subscriptionId))
    const [renewal] = await renewalsOf(shop.organisationId)
    await deliver(provider, provider.refundInDashboard(renewal?.providerReference ?? '', 4_900))
    expect(await balanceOf(shop.organisationId)).toBe(750)
  })

  it('follows the amount of the provider', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    const event = provider.renew(shop.subscriptionId, 'failed')
    await deliver(provider, event)
    const [open] = await renewalsOf(shop.organisationId)
    expect(open).toMatchObject({ status: 'open', amount: 4_900 })
    provider.stateOf(open?.providerReference ?? '').amount = 4_000
    await deliver(provider, provider.payRenewal(shop.subscriptionId))
    expect(await renewalsOf(shop.organisationId)).toMatchObject([{ status: 'paid', amount: 4_000 }])
  })
})

describe('a failed renewal', () => {
  it('keeps the plan for seven days, with emails on days 0, 3 and 6 and at the end', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    const sent = sentEmails()
    passTime(PERIOD_MS)
    const start = Date.now()
    const at = (days: number) => vi.setSystemTime(start + days * DAY_MS)
    await deliver(provider, provider.renew(shop.subscriptionId, 'failed'))
    expect(await findBillingAccount(env, shop.organisationId)).toMatchObject({
      subscriptionStatus: 'past_due',
      graceUntil: new Date(start + 7 * DAY_MS),
    })
    for (const [day, emails, next] of [
      [0, 1, 3],
      [2, 1, 3],
      [3, 2, 6],
      [5, 2, 6],
      [6.5, 3, 7],
    ] as const) {
      at(day)
      for (let n = 0; n < 2; n++) {
        expect(await sync(shop)).toBe(start + next * DAY_MS)
      }
      expect(sent).toHaveBeenCalledTimes(emails)
      expect((await organisationOf(shop.organisationId)).plan).toBe('growth')
    }
    expect(sent.mock.calls[0]?.[0]).toMatchObject({
      to: shop.owner.email,
      email: { subject: expect.stringContaining('Payment failed') },
    })
    at(7)
    expect(await sync(shop)).toBeUndefined()
    expect(await organisationOf(shop.organisationId)).toEqual({ plan: 'starter', rateLimit: 60 })
    expect(provider.subscriptionOf(shop.organisationId)?.status).toBe('ended')
    expect(await findBillingAccount(env, shop.organisationId)).toMatchObject({
      subscriptionId: null,
      subscriptionStatus: null,
      graceUntil: null,
      graceMailDay: null,
    })
    expect(await balanceOf(shop.organisationId)).toBe(750)
    expect(sent).toHaveBeenCalledTimes(4)
    expect(sent.mock.calls[3]?.[0]).toMatchObject({
      to: shop.owner.email,
      email: { subject: expect.stringMatching(/^The plan Growth of .* has ended$/) },
    })
    await sync(shop)
    expect(sent).toHaveBeenCalledTimes(4)
  })

  it('ends the grace period when it is paid', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    await deliver(provider, provider.renew(shop.subscriptionId, 'failed'))
    passTime(4 * DAY_MS)
    await deliver(provider, provider.payRenewal(shop.subscriptionId))
    expect(await findBillingAccount(env, shop.organisationId)).toMatchObject({
      subscriptionStatus: 'active',
      graceUntil: null,
      graceMailDay: null,
    })
    expect(await balanceOf(shop.organisationId)).toBe(1_500)
    passTime(8 * DAY_MS)
    await sync(shop)
    expect((await organisationOf(shop.organisationId)).plan).toBe('growth')
  })

  it('does not apply a scheduled downgrade before it is paid', async () => {
    const shop = await shopOnPlan(provider, 'scale')
    await provider.setNextPlan({ subscriptionId: shop.subscriptionId, plan: 'growth' })
    await deliver(provider, provider.renew(shop.subscriptionId, 'failed'))
    expect((await organisationOf(shop.organisationId)).plan).toBe('scale')
    await deliver(provider, provider.payRenewal(shop.subscriptionId))
    expect((await organisationOf(shop.organisationId)).plan).toBe('growth')
    expect(await balanceOf(shop.organisationId)).toBe(6_750)
  })

  it('ends the plan even if the response of the provider is lost', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    await deliver(provider, provider.renew(shop.subscriptionId, 'failed'))
    passTime(7 * DAY_MS)
    provider.fail('endSubscription', 'after')
    const sent = sentEmails()
    await expect(sync(shop)).rejects.toMatchObject({ code: 'unavailable' })
    expect(sent).not.toHaveBeenCalled()
    await Promise.all([sync(shop), sync(shop)])
    expect(sent).toHaveBeenCalledOnce()
    expect((await organisationOf(shop.organisationId)).plan).toBe('starter')
  })
})

describe('a subscription', () => {
  it('that ends at the provider ends the plan', async () => {
    const shop = await shopOnPlan(provider, 'scale')
    const sent = sentEmails()
    await deliver(provider, provider.end(shop.subscriptionId))
    expect(sent).not.toHaveBeenCalled()
    expect(await organisationOf(shop.organisationId)).toEqual({ plan: 'starter', rateLimit: 60 })
    expect((await findBillingAccount(env, shop.organisationId))?.subscriptionId).toBeNull()
  })

  it('grants renewals but never changes the plan enterprise', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    await setPlan(shop.organisationId, 'enterprise')
    await deliver(provider, provider.renew(shop.subscriptionId))
    expect(await balanceOf(shop.organisationId)).toBe(1_500)
    await deliver(provider, provider.end(shop.subscriptionId))
    expect((await organisationOf(shop.organisationId)).plan).toBe('enterprise')
  })

  it('that the provider does not know changes nothing', async () => {
    const shop = await shopOnPlan(provider, 'growth')
    vi.spyOn(provider, 'findSubscription').mockResolvedValue(null)
    expect(await sync(shop)).toBeGreaterThan(Date.now())
    expect((await organisationOf(shop.organisationId)).plan).toBe('growth')
  })

  it('of another organisation changes nothing', async () => {
    const [shop, other] = [
      await shopOnPlan(provider, 'growth'),
      await shopOnPlan(provider, 'scale'),
    ]
    const state = await provider.findSubscription(other.subscriptionId)
    vi.spyOn(provider, 'findSubscription').mockResolvedValue(state)
    await sync(shop)
    expect((await organisationOf(shop.organisationId)).plan).toBe('growth')
    expect(await balanceOf(shop.organisationId)).toBe(750)
  })

  it('is not read without one', async () => {
    const shop = await newShop()
    const find = vi.spyOn(provider, 'findSubscription')
    expect(await sync(shop)).toBeUndefined()
    expect(find).not.toHaveBeenCalled()
  })
})

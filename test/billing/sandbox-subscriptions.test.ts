// Subscriptions in the sandbox: renewals, upgrades, the next plan, failed renewals.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { addMonths } from '../../src/billing/sandbox/sandbox-state.ts'
import type { PaymentRequest } from '../../src/billing/payment-provider.ts'
import type { SelfServicePlan } from '../../src/billing/plans.ts'
import { newId } from '../../src/platform/ids.ts'
import { newBrowser } from '../support/browser.ts'
import { DAY_MS, fakeClock, pass } from '../support/retention.ts'
import {
  CARDS,
  loseNextResponse,
  paid,
  pathOf,
  pay,
  planRequest,
  provider,
  stateOf,
} from '../support/sandbox.ts'
import { eventsSince } from '../support/provider-events.ts'

fakeClock()

const MONTH_MS = 31 * DAY_MS

/** Subscribes a new organisation to Growth, for $49 a month. */
async function subscribe(card: keyof typeof CARDS = 'success', plan: SelfServicePlan = 'growth') {
  const { request, state } = await paid(card, planRequest(plan))
  const subscriptionId = state.subscriptionId ?? ''
  const { organisationId } = request.customer
  return { request, state, subscriptionId, organisationId, customerId: state.customerId ?? '' }
}

async function read(subscriptionId: string) {
  const subscription = await provider.findSubscription(subscriptionId)
  if (!subscription) throw new Error('The subscription does not exist')
  return subscription
}

/** Moves the clock just past the end of the period. */
async function passPeriod(subscriptionId: string) {
  vi.setSystemTime((await read(subscriptionId)).periodEnd)
}

const upgradeTo = (plan: SelfServicePlan, organisationId: string, subscriptionId: string) => {
  const request: PaymentRequest = planRequest(plan, organisationId)
  return {
    request,
    upgrade: () => provider.upgrade({ ...request, subscriptionId, at: new Date() }),
  }
}

async function changeCard(customerId: string, card: keyof typeof CARDS) {
  const url = await provider.portalUrl({ customerId, returnUrl: 'https://try-on.test/pricing' })
  await pay(url, CARDS[card])
}

describe('first payment', () => {
  it('starts the subscription', async () => {
    const { request, subscriptionId, organisationId, state } = await subscribe()
    expect(await read(subscriptionId)).toEqual({
      id: subscriptionId,
      organisationId,
      status: 'active',
      plan: 'growth',
      periodEnd: new Date(addMonths(Date.now(), 1)),
      endsAtPeriodEnd: false,
      invoices: [
        { ...state, paymentId: request.paymentId, plan: 'growth', createdAt: expect.any(Date) },
      ],
    })
  })

  it('starts it once a late payment has succeeded', async () => {
    const { request, state } = await paid('late', planRequest('growth'))
    expect(state).toMatchObject({ status: 'open', subscriptionId: null })
    pass(20_000)
    const { subscriptionId } = await stateOf(request)
    expect(await read(subscriptionId ?? '')).toMatchObject({ status: 'active' })
  })

  it('is unknown otherwise', async () => {
    expect(await provider.findSubscription('sub_unknown')).toBeNull()
    expect(await provider.findSubscription('cus_unknown')).toBeNull()
  })
})

describe('renewal', () => {
  it('charges the card when the period has ended, once', async () => {
    const { subscriptionId, organisationId } = await subscribe()
    const { periodEnd } = await read(subscriptionId)
    vi.setSystemTime(periodEnd.getTime() - 1)
    expect((await read(subscriptionId)).invoices).toHaveLength(1)
    vi.setSystemTime(periodEnd)
    const reads = await Promise.all([1, 2, 3].map(() => read(subscriptionId)))
    for (const { invoices, status } of reads) {
      expect(status).toBe('active')
      expect(invoices).toHaveLength(2)
      expect(invoices[1]).toMatchObject({
        paymentId: null,
        status: 'paid',
        amount: 4_900,
        currency: 'USD',
        plan: 'growth',
        subscriptionId,
      })
    }
    const events = await eventsSince(provider, periodEnd)
    expect(events.filter((event) => event.organisationId === organisationId)).toEqual([
      expect.objectContaining({ paymentId: null, subscriptionId }),
    ])
  })

  it('is found by its reference', async () => {
    const { subscriptionId } = await subscribe()
    await passPeriod(subscriptionId)
    const [, renewal] = (await read(subscriptionId)).invoices
    const found = await provider.findPayment({
      paymentId: newId('pay'),
      reference: renewal?.reference ?? '',
      customerId: null,
      createdAt: new Date(),
    })
    expect(found).toMatchObject({ status: 'paid', reference: renewal?.reference })
    const { html } = await newBrowser().get(pathOf(found?.invoiceUrl ?? ''))
    expect(html).toMatch(/SB-[0-9A-Z]{10}-2</)
  })

  it('charges each month that has passed', async () => {
    const { subscriptionId } = await subscribe()
    pass(3 * MONTH_MS)
    const { invoices, periodEnd } = await read(subscriptionId)
    expect(invoices.filter(({ paymentId }) => paymentId === null)).toHaveLength(3)
    expect(periodEnd.getTime()).toBeGreaterThan(Date.now())
  })

  it('is applied without being read', async () => {
    const { subscriptionId, organisationId } = await subscribe()
    pass(MONTH_MS)
    const events = await eventsSince(provider, new Date())
    expect(events.filter((event) => event.organisationId === organisationId)).toEqual([
      expect.objectContaining({ paymentId: null, subscriptionId }),
    ])
  })

  it('is past due when the card is declined, and attempted again each day', async () => {
    const { subscriptionId, customerId } = await subscribe('renewalDeclined')
    await passPeriod(subscriptionId)
    const failed = await read(subscriptionId)
    expect(failed).toMatchObject({ status: 'past_due', plan: 'growth' })
    expect(failed.invoices[1]).toMatchObject({
      status: 'failed',
      failure: 'The card was declined.',
    })
    pass(DAY_MS)
    expect(await read(subscriptionId)).toMatchObject({ status: 'past_due' })
    await changeCard(customerId, 'success')
    const recovered = await read(subscriptionId)
    expect(recovered.status).toBe('active')
    expect(recovered.invoices).toHaveLength(2)
    expect(recovered.invoices[1]).toMatchObject({ status: 'paid', failure: null })
  })

  it('ends the subscription when it remains unpaid for a month', async () => {
    const { subscriptionId } = await subscribe('offSessionDeclined')
    await passPeriod(subscriptionId)
    await passPeriod(subscriptionId)
    const { status, invoices } = await read(subscriptionId)
    expect(status).toBe('ended')
    expect(invoices.map((invoice) => invoice.status)).not.toContain('open')
    expect(invoices.filter(({ paymentId }) => paymentId === null)).toHaveLength(1)
  })

  it('needs no confirmation with a card that was confirmed once', async () => {
    const { subscriptionId } = await subscribe('confirmOnce')
    await passPeriod(subscriptionId)
    expect(await read(subscriptionId)).toMatchObject({ status: 'active' })
  })

  it('fails with a card that needs a confirmation each time', async () => {
    const { subscriptionId } = await subscribe('confirmAlways')
    await passPeriod(subscriptionId)
    expect(await read(subscriptionId)).toMatchObject({ status: 'past_due' })
  })

  it('can be refunded, with an event of the subscription', async () => {
    const { subscriptionId, organisationId } = await subscribe()
    await passPeriod(subscriptionId)
    const [, renewal] = (await read(subscriptionId)).invoices
    pass(1_000)
    const since = new Date()
    const reference = renewal?.reference ?? ''
    await provider.refund({ refundId: 'one', reference, amount: 900 })
    expect((await read(subscriptionId)).invoices[1]).toMatchObject({ amountRefunded: 900 })
    const events = await eventsSince(provider, since)
    expect(events.filter((event) => event.organisationId === organisationId)).toEqual([
      expect.objectContaining({ paymentId: null, subscriptionId, reference }),
    ])
  })
})

describe('upgrade', () => {
  it('charges the difference for the days that are left and keeps the period', async () => {
    const { subscriptionId, organisationId } = await subscribe()
    const { periodEnd } = await read(subscriptionId)
    const start = Date.now()
    const days = Math.round((periodEnd.getTime() - start) / DAY_MS)
    pass(10 * DAY_MS)
    const { request, upgrade } = upgradeTo('scale', organisationId, subscriptionId)
    const state = await upgrade()
    expect(state).toMatchObject({
      status: 'paid',
      amount: Math.floor(((29_900 - 4_900) * (days - 10)) / days),
      subscriptionId,
    })
    const { plan, invoices, ...rest } = await read(subscriptionId)
    expect(plan).toBe('scale')
    expect(rest.periodEnd).toEqual(periodEnd)
    expect(invoices[1]).toMatchObject({ paymentId: request.paymentId, plan: 'scale' })
    await passPeriod(subscriptionId)
    expect((await read(subscriptionId)).invoices.at(-1)).toMatchObject({ amount: 29_900 })
  })

  it('charges once when it is repeated, also concurrently', async () => {
    const { subscriptionId, organisationId } = await subscribe()
    const { upgrade } = upgradeTo('scale', organisationId, subscriptionId)
    const states = await Promise.all([upgrade(), upgrade(), upgrade()])
    expect(new Set(states.map(({ reference }) => reference)).size).toBe(1)
    expect(await upgrade()).toEqual(states[0])
    expect((await read(subscriptionId)).invoices).toHaveLength(2)
  })

  it('charges once when the response of the database is lost', async () => {
    const { subscriptionId, organisationId } = await subscribe()
    const { upgrade } = upgradeTo('scale', organisationId, subscriptionId)
    loseNextResponse()
    await expect(upgrade()).rejects.toMatchObject({ code: 'unavailable' })
    expect(await upgrade()).toMatchObject({ status: 'paid' })
    const { plan, invoices } = await read(subscriptionId)
    expect(plan).toBe('scale')
    expect(invoices).toHaveLength(2)
  })

  it('keeps the plan when the card is declined', async () => {
    const { subscriptionId, organisationId } = await subscribe('offSessionDeclined')
    const { upgrade } = upgradeTo('scale', organisationId, subscriptionId)
    const state = await upgrade()
    expect(state).toMatchObject({ status: 'failed', failure: 'The card was declined.' })
    expect(await upgrade()).toEqual(state)
    expect(await read(subscriptionId)).toMatchObject({ plan: 'growth', status: 'active' })
  })

  it('reverts a scheduled end', async () => {
    const { subscriptionId, organisationId } = await subscribe()
    await provider.setNextPlan({ subscriptionId, plan: 'starter', currency: 'USD' })
    await upgradeTo('scale', organisationId, subscriptionId).upgrade()
    expect(await read(subscriptionId)).toMatchObject({ plan: 'scale', endsAtPeriodEnd: false })
  })

  it('rejects a cheaper plan, another customer, and a subscription that has ended', async () => {
    const { subscriptionId, organisationId } = await subscribe('success', 'scale')
    const rejected = { code: 'rejected' }
    const cheaper = upgradeTo('growth', organisationId, subscriptionId).upgrade()
    await expect(cheaper).rejects.toMatchObject(rejected)
    const other = upgradeTo('scale', newId('org'), subscriptionId).upgrade()
    await expect(other).rejects.toMatchObject(rejected)
    await provider.endSubscription(subscriptionId)
    const late = upgradeTo('scale', organisationId, subscriptionId).upgrade()
    await expect(late).rejects.toMatchObject(rejected)
    const unknown = upgradeTo('scale', organisationId, 'sub_unknown').upgrade()
    await expect(unknown).rejects.toMatchObject(rejected)
  })
})

describe('next plan', () => {
  it('applies a downgrade at the renewal', async () => {
    const { subscriptionId } = await subscribe('success', 'scale')
    const change = { subscriptionId, plan: 'growth', currency: 'USD' } as const
    await provider.setNextPlan(change)
    await provider.setNextPlan(change)
    expect(await read(subscriptionId)).toMatchObject({ plan: 'growth', status: 'active' })
    await passPeriod(subscriptionId)
    const { invoices } = await read(subscriptionId)
    expect(invoices[1]).toMatchObject({ plan: 'growth', amount: 4_900, status: 'paid' })
  })

  it('ends the subscription at the end of the period', async () => {
    const { subscriptionId } = await subscribe()
    await provider.setNextPlan({ subscriptionId, plan: 'starter', currency: 'USD' })
    expect(await read(subscriptionId)).toMatchObject({ endsAtPeriodEnd: true, status: 'active' })
    await passPeriod(subscriptionId)
    const { status, invoices } = await read(subscriptionId)
    expect(status).toBe('ended')
    expect(invoices).toHaveLength(1)
  })

  it('reverts to the current plan', async () => {
    const { subscriptionId } = await subscribe()
    await provider.setNextPlan({ subscriptionId, plan: 'starter', currency: 'USD' })
    await provider.setNextPlan({ subscriptionId, plan: 'growth', currency: 'USD' })
    await passPeriod(subscriptionId)
    expect(await read(subscriptionId)).toMatchObject({ status: 'active', endsAtPeriodEnd: false })
  })

  it('cannot be set once the subscription has ended', async () => {
    const { subscriptionId } = await subscribe()
    await provider.endSubscription(subscriptionId)
    const call = provider.setNextPlan({ subscriptionId, plan: 'growth', currency: 'USD' })
    await expect(call).rejects.toMatchObject({ code: 'rejected' })
  })
})

describe('end', () => {
  it('takes effect at once, without a refund, and can be repeated', async () => {
    const { subscriptionId, request } = await subscribe()
    await provider.endSubscription(subscriptionId)
    await provider.endSubscription(subscriptionId)
    await provider.endSubscription('sub_unknown')
    pass(2 * MONTH_MS)
    expect(await read(subscriptionId)).toMatchObject({ status: 'ended' })
    expect(await stateOf(request)).toMatchObject({ status: 'paid', amountRefunded: 0 })
    const rows = await env.DB.prepare(
      'SELECT count(*) AS n FROM sandbox_subscriptions WHERE id = ? AND due_at IS NOT NULL',
    )
      .bind(subscriptionId)
      .first<number>('n')
    expect(rows).toBe(0)
  })
})

describe('months', () => {
  it.each([
    ['2027-01-31', 1, '2027-02-28'],
    ['2027-01-31', 2, '2027-03-31'],
    ['2028-01-31', 1, '2028-02-29'],
    ['2026-11-30', 3, '2027-02-28'],
    ['2026-12-15', 1, '2027-01-15'],
  ])('adds to %s %d months', (from, months, to) => {
    expect(new Date(addMonths(Date.parse(from), months)).toISOString().slice(0, 10)).toBe(to)
  })
})

// Auto-reload: automatic payments that the Organisation's alarm starts. The clock is ahead of the real
// one, so that an alarm runs only when the test runs it.
import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  auditActionsOf,
  billedShop,
  failBatches,
  mailsTo,
  paymentsOf,
  reserve,
  rowOf,
  runDueAlarm,
  setAutoReload,
  type BilledShop,
} from '../support/billed-shop.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'
import { DAY_MS, fakeClock, HOUR_MS, pass } from '../support/retention.ts'
import { ledgerOf, operator } from '../support/world.ts'

const MINUTE_MS = 60_000
const stubOf = ({ orgId }: BilledShop) => env.ORGANISATION.getByName(orgId)

fakeClock()
let provider: FakePaymentProvider
beforeEach(() => {
  provider = fakePayments()
  pass(DAY_MS)
})

/** An organisation whose balance is below the threshold of auto-reload. */
async function shopBelowThreshold(settings: Parameters<typeof setAutoReload>[1] = {}) {
  const shop = await billedShop({ credits: 6 })
  await setAutoReload(shop, settings)
  await runDueAlarm(shop)
  await reserve(shop, 2)
  return shop
}

const statusesOf = async (shop: BilledShop) =>
  (await paymentsOf(shop)).map(({ status }) => status).reverse()

const disabledEntries = async (shop: BilledShop) =>
  (await auditActionsOf(shop)).filter((action) => action === 'auto_reload.disabled').length

describe('a submission that brings the balance below the threshold', () => {
  it('makes the alarm buy the pack once', async () => {
    const shop = await shopBelowThreshold()
    expect(await paymentsOf(shop)).toEqual([])
    expect(await runDueAlarm(shop)).toBe(true)
    expect(await paymentsOf(shop)).toEqual([
      expect.objectContaining({
        kind: 'auto_reload',
        status: 'paid',
        credits: 100,
        amount: 800,
        currency: 'USD',
        createdBy: null,
      }),
    ])
    expect(await ledgerOf(shop)).toMatchObject({ granted: 106, balance: 104 })
    for (let n = 0; n < 3; n++) {
      pass(HOUR_MS)
      await runDueAlarm(shop)
    }
    expect(provider.calls.filter((call) => call === 'charge')).toHaveLength(1)
  })

  it('starts no payment at the threshold itself or while auto-reload is off', async () => {
    const shop = await billedShop({ credits: 6 })
    await setAutoReload(shop)
    await reserve(shop, 1)
    await runDueAlarm(shop)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 5 })
    await setAutoReload(shop, { enabled: false })
    await reserve(shop, 3)
    await runDueAlarm(shop)
    expect(await paymentsOf(shop)).toEqual([])
  })

  it('uses the price of the plan in force and the currency of the region', async () => {
    const shop = await billedShop({ credits: 3, region_code: 'IN' })
    await operator.patch(`/operator/organisations/${shop.orgId}`, { plan: 'growth' })
    await setAutoReload(shop, { pack: 2_000, monthlyMax: 1_040_000 })
    await runDueAlarm(shop)
    expect(await paymentsOf(shop)).toEqual([
      expect.objectContaining({ amount: 2_000 * 520, currency: 'INR', status: 'paid' }),
    ])
  })

  it('uses the defaults when an operator has enabled it', async () => {
    const shop = await billedShop({ credits: 51 })
    await operator.patch(`/operator/organisations/${shop.orgId}`, { auto_reload_enabled: true })
    await reserve(shop, 2)
    await runDueAlarm(shop)
    expect(await paymentsOf(shop)).toEqual([
      expect.objectContaining({ credits: 500, amount: 4_000, status: 'paid' }),
    ])
  })

  it('with a late capture starts a payment too', async () => {
    const shop = await billedShop({ credits: 5 })
    await setAutoReload(shop)
    await runDueAlarm(shop)
    const { job_id: jobId } = await (
      await shop.live.post('/v1/tryon', {
        model_image_url: 'https://cdn.test/model',
        garment_image_url: 'https://cdn.test/garment',
      })
    ).json<{ job_id: string }>()
    await stubOf(shop).release([jobId])
    await runDueAlarm(shop)
    expect(await paymentsOf(shop)).toEqual([])
    await stubOf(shop).capture(jobId)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid'])
  })

  it('starts a payment when it is rejected for lack of credits', async () => {
    const shop = await billedShop({ credits: 0 })
    await operator.patch(`/operator/organisations/${shop.orgId}`, { auto_reload_enabled: true })
    await reserve(shop, 1)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid'])
    expect(await ledgerOf(shop)).toMatchObject({ balance: 500 })
  })

  it('of a suspended or deleted organisation starts none', async () => {
    const suspended = await shopBelowThreshold()
    await operator.patch(`/operator/organisations/${suspended.orgId}`, { status: 'suspended' })
    const deleted = await shopBelowThreshold()
    await env.DB.prepare('UPDATE organisations SET delete_after = ? WHERE id = ?')
      .bind(Date.now() + DAY_MS, deleted.orgId)
      .run()
    for (const shop of [suspended, deleted]) {
      await runDueAlarm(shop)
      pass(2 * HOUR_MS)
      await runDueAlarm(shop)
      expect(await paymentsOf(shop)).toEqual([])
    }
  })
})

describe('a refund', () => {
  it('that lowers the balance starts no payment, but the next submission does', async () => {
    const shop = await shopBelowThreshold()
    await runDueAlarm(shop)
    const [first] = await paymentsOf(shop)
    await stubOf(shop).reverse({ reference: first!.id, credits: 100, reason: 'Refunded' })
    expect(await ledgerOf(shop)).toMatchObject({ balance: 4 })
    pass(2 * HOUR_MS)
    await stubOf(shop).scheduleBilling({ organisationId: shop.orgId, at: Date.now() })
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid'])
    await reserve(shop, 1)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid', 'paid'])
  })
})

describe('a failed attempt', () => {
  it('is followed by the next one after an hour, with an email', async () => {
    const shop = await shopBelowThreshold()
    provider.outcome = 'declined'
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['failed'])
    expect(mailsTo(shop)).toContain('Auto-reload failed for Shop')
    pass(HOUR_MS - MINUTE_MS)
    await reserve(shop, 1)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['failed'])
    provider.outcome = 'paid'
    pass(MINUTE_MS)
    expect(await runDueAlarm(shop)).toBe(true)
    expect(await statusesOf(shop)).toEqual(['failed', 'paid'])
  })

  it('turns auto-reload off after three in a row, with one email and one audit entry', async () => {
    const shop = await shopBelowThreshold()
    provider.outcome = 'declined'
    for (let hour = 0; hour < 6; hour++) {
      await runDueAlarm(shop)
      pass(HOUR_MS)
    }
    expect(await statusesOf(shop)).toEqual(['failed', 'failed', 'failed'])
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: false })
    expect(await (await shop.live.get('/v1/account')).json()).toMatchObject({
      auto_reload_enabled: false,
    })
    const subjects = mailsTo(shop)
    expect(subjects.filter((subject) => subject.startsWith('Auto-reload failed'))).toHaveLength(2)
    expect(subjects.filter((subject) => subject.startsWith('Auto-reload is off'))).toHaveLength(1)
    expect(await disabledEntries(shop)).toBe(1)
  })

  it('is forgotten after a success', async () => {
    const shop = await shopBelowThreshold()
    for (const outcome of ['declined', 'declined', 'paid', 'declined', 'declined'] as const) {
      provider.outcome = outcome
      await runDueAlarm(shop)
      pass(HOUR_MS)
      if (outcome === 'paid') await reserve(shop, 100)
    }
    expect(await statusesOf(shop)).toEqual(['failed', 'failed', 'paid', 'failed', 'failed'])
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: true })
  })

  it('is forgotten when an owner switches auto-reload on again', async () => {
    const shop = await shopBelowThreshold()
    provider.outcome = 'declined'
    for (let hour = 0; hour < 3; hour++) {
      await runDueAlarm(shop)
      pass(HOUR_MS)
    }
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: false })
    await setAutoReload(shop)
    for (let hour = 0; hour < 2; hour++) {
      await runDueAlarm(shop)
      pass(HOUR_MS)
    }
    expect(await statusesOf(shop)).toHaveLength(5)
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: true })
    expect(await disabledEntries(shop)).toBe(1)
  })

  it('without a stored payment method has no payment', async () => {
    const shop = await billedShop({ credits: 3, card: false })
    await operator.patch(`/operator/organisations/${shop.orgId}`, { auto_reload_enabled: true })
    await reserve(shop, 1)
    for (let hour = 0; hour < 4; hour++) {
      await runDueAlarm(shop)
      pass(HOUR_MS)
    }
    expect(await paymentsOf(shop)).toEqual([])
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: false })
    expect(await disabledEntries(shop)).toBe(1)
  })

  it('does not switch auto-reload off while D1 is not available, but does so afterwards', async () => {
    const shop = await shopBelowThreshold()
    provider.outcome = 'declined'
    for (let hour = 0; hour < 2; hour++) {
      await runDueAlarm(shop)
      pass(HOUR_MS)
    }
    const failing = failBatches('auto_reload_enabled')
    await runDueAlarm(shop)
    failing.mockRestore()
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: true })
    pass(MINUTE_MS)
    await runDueAlarm(shop)
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: false })
    expect(await statusesOf(shop)).toEqual(['failed', 'failed', 'failed'])
    expect(mailsTo(shop).filter((subject) => subject.includes('is off'))).toHaveLength(1)
  })
})

describe('a card that needs a confirmation', () => {
  it('counts as one failure and blocks further payments until it is confirmed', async () => {
    const shop = await shopBelowThreshold()
    provider.outcome = 'open'
    await runDueAlarm(shop)
    expect(mailsTo(shop)).toContain('Auto-reload failed for Shop')
    provider.outcome = 'paid'
    for (let hour = 0; hour < 3; hour++) {
      pass(HOUR_MS)
      await reserve(shop, 1)
      await runDueAlarm(shop)
    }
    expect(await statusesOf(shop)).toEqual(['open'])
    expect(mailsTo(shop).filter((subject) => subject.includes('failed'))).toHaveLength(1)
    const [payment] = await paymentsOf(shop)
    provider.pay(payment!.id)
    pass(6 * HOUR_MS)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid'])
    expect(await ledgerOf(shop)).toMatchObject({ granted: 106 })
  })
})

describe('the monthly maximum', () => {
  it('stops payments until the next month, with one email', async () => {
    const shop = await billedShop({ credits: 6 })
    await setAutoReload(shop, { monthlyMax: 1_700 })
    await runDueAlarm(shop)
    const nextMonth = new Date(Date.now())
    nextMonth.setUTCMonth(nextMonth.getUTCMonth() + 1, 1)
    pass(nextMonth.setUTCHours(0, 0, 0, 0) - Date.now())
    await reserve(shop, 2)
    for (let reload = 0; reload < 2; reload++) {
      await runDueAlarm(shop)
      pass(2 * HOUR_MS)
      await reserve(shop, 100)
    }
    await runDueAlarm(shop)
    pass(2 * DAY_MS)
    await reserve(shop, 1)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid', 'paid'])
    expect(mailsTo(shop).filter((subject) => subject.includes('limit'))).toHaveLength(1)
    pass(nextMonth.setUTCMonth(nextMonth.getUTCMonth() + 1) - Date.now() - MINUTE_MS)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toHaveLength(2)
    pass(MINUTE_MS)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid', 'paid', 'paid'])
  })

  it('is applied at once when an owner raises it', async () => {
    const shop = await billedShop({ credits: 6 })
    await setAutoReload(shop, { monthlyMax: 800 })
    await runDueAlarm(shop)
    await reserve(shop, 2)
    await runDueAlarm(shop)
    pass(2 * HOUR_MS)
    await reserve(shop, 100)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid'])
    await setAutoReload(shop, { monthlyMax: 1_600 })
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid', 'paid'])
  })
})

describe('an interrupted attempt', () => {
  it.each(['before', 'after'] as const)(
    'is repeated with the same payment when the provider fails %s the charge',
    async (outage) => {
      const shop = await shopBelowThreshold()
      provider.fail('charge', outage)
      await runDueAlarm(shop)
      expect(await statusesOf(shop)).toEqual(['open'])
      await evictDurableObject(stubOf(shop))
      pass(MINUTE_MS)
      expect(await runDueAlarm(shop)).toBe(true)
      expect(await statusesOf(shop)).toEqual(['paid'])
      expect(provider.paidBy(shop.orgId)).toHaveLength(1)
      expect(await ledgerOf(shop)).toMatchObject({ granted: 106 })
    },
  )

  it('stays open while the provider is down and blocks further payments', async () => {
    const shop = await shopBelowThreshold()
    provider.fail('charge', 'after', 1_000)
    provider.fail('findPayment', 'before', 1_000)
    for (let hour = 0; hour < 5; hour++) {
      await runDueAlarm(shop)
      await evictDurableObject(stubOf(shop))
      pass(HOUR_MS)
      await reserve(shop, 1)
    }
    expect(await statusesOf(shop)).toEqual(['open'])
    provider.recover()
    pass(HOUR_MS)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid'])
    expect(provider.paidBy(shop.orgId)).toHaveLength(1)
    expect(await ledgerOf(shop)).toMatchObject({ granted: 106 })
  })

  it('fails when the provider has never received it', async () => {
    const shop = await shopBelowThreshold()
    provider.fail('charge', 'before', 1_000)
    for (let minute = 0; minute < 30; minute++) {
      await runDueAlarm(shop)
      pass(MINUTE_MS)
    }
    expect(await statusesOf(shop)).toEqual(['failed'])
    expect(mailsTo(shop)).toContain('Auto-reload failed for Shop')
    provider.recover()
    pass(HOUR_MS)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['failed', 'paid'])
    expect(provider.paidBy(shop.orgId)).toHaveLength(1)
  })

  it('is repeated when its payment could not be stored', async () => {
    const shop = await shopBelowThreshold()
    const failing = failBatches('insert into "payments"')
    await runDueAlarm(shop)
    failing.mockRestore()
    expect(await paymentsOf(shop)).toEqual([])
    await evictDurableObject(stubOf(shop))
    pass(MINUTE_MS)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid'])
  })

  it('is not repeated when credits were added in the meantime', async () => {
    const shop = await shopBelowThreshold()
    const failing = failBatches('insert into "payments"')
    await runDueAlarm(shop)
    failing.mockRestore()
    await operator.post(`/operator/organisations/${shop.orgId}/credits`, {
      amount: 100,
      reason: 'Goodwill',
      reference: 'goodwill',
    })
    pass(MINUTE_MS)
    await runDueAlarm(shop)
    expect(await paymentsOf(shop)).toEqual([])
    await reserve(shop, 100)
    pass(HOUR_MS)
    await runDueAlarm(shop)
    expect(await statusesOf(shop)).toEqual(['paid'])
  })
})

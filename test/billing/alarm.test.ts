// The billing tasks of the Organisation's alarm: when they run, and what a failure of one leaves.
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { autoReloadSettings } from '../../src/billing/auto-reload-settings.ts'
import {
  alarmAt,
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
import { baseUrl } from '../support/billing.ts'
import { buyPack } from '../../src/billing/buy-pack.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'
import { DAY_MS, fakeClock, HOUR_MS, pass, runAlarm } from '../support/retention.ts'
import { ledgerOf, newOrganisation, operator, type TestOrganisation } from '../support/world.ts'
import { jobsDb, spyPrepare } from '../support/jobs-database.ts'

const MINUTE_MS = 60_000

fakeClock()
let provider: FakePaymentProvider
beforeEach(() => {
  provider = fakePayments()
  pass(DAY_MS)
})

const stubOf = ({ orgId }: TestOrganisation) => env.ORGANISATION.getByName(orgId)

const schedule = (shop: TestOrganisation, at: number) =>
  stubOf(shop).scheduleBilling({ organisationId: shop.orgId, at })

interface StoredSchedule {
  organisationId: string
  requests: number[]
  nextAt: number | null
  failures: number
}

const storedSchedule = (shop: TestOrganisation) =>
  runInDurableObject(stubOf(shop), (_, { storage }) =>
    storage.kv.get<StoredSchedule>('billing-schedule'),
  )

/** When the tasks run next, ms since 1970. */
async function scheduledAt(shop: TestOrganisation): Promise<number> {
  const { requests = [], nextAt = null } = (await storedSchedule(shop)) ?? {}
  return Math.min(...requests, nextAt ?? Infinity)
}

/** Starts a purchase that the customer has not paid yet. */
const startPurchase = ({ orgId, owner }: BilledShop) =>
  buyPack({
    env,
    actor: owner,
    organisationId: orgId,
    baseUrl,
    pack: 100,
    amount: 800,
    currency: 'USD',
  })

/** The minutes from now at which the provider is asked about payments, with a clock that moves on. */
async function checksWithin(shop: TestOrganisation, minutes: number): Promise<number[]> {
  const checks: number[] = []
  const find = vi.spyOn(provider, 'findPayment')
  for (let minute = 0; minute <= minutes; minute++) {
    find.mockClear()
    await runDueAlarm(shop)
    if (find.mock.calls.length > 0) checks.push(minute)
    pass(MINUTE_MS)
  }
  find.mockRestore()
  return checks
}

describe('the schedule', () => {
  it('runs the tasks at the requested time and not before', async () => {
    const shop = await billedShop({ credits: 10 })
    const { id } = await startPurchase(shop)
    provider.pay(id)
    pass(9 * MINUTE_MS)
    expect(await runDueAlarm(shop)).toBe(false)
    pass(2 * MINUTE_MS)
    expect(await runDueAlarm(shop)).toBe(true)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 110 })
  })

  it('keeps a later request when an earlier one runs', async () => {
    const shop = await billedShop({ credits: 10 })
    const later = Date.now() + 10 * MINUTE_MS
    await schedule(shop, later)
    await schedule(shop, Date.now())
    await runDueAlarm(shop)
    expect(await alarmAt(shop)).toBe(later)
    await evictDurableObject(stubOf(shop))
    pass(10 * MINUTE_MS)
    expect(await runDueAlarm(shop)).toBe(true)
    expect(await scheduledAt(shop)).toBe(Infinity)
  })

  it('keeps requests that arrive during a run, also if the run fails', async () => {
    for (const outage of [false, true]) {
      const shop = await billedShop({ credits: 4 })
      await setAutoReload(shop)
      const requestedAt = Date.now() + 30_000
      provider.intercept = async (name, perform) => {
        if (name === 'provider.charge') await schedule(shop, requestedAt)
        return perform()
      }
      if (outage) provider.fail('charge', 'before')
      await runDueAlarm(shop)
      // After a failure, nothing runs again within a minute.
      expect(await scheduledAt(shop)).toBe(outage ? requestedAt + 30_000 : requestedAt)
    }
  })

  it('repeats a run that was interrupted', async () => {
    const shop = await billedShop({ credits: 4 })
    await setAutoReload(shop)
    const kv = 'billing-schedule'
    await runInDurableObject(stubOf(shop), async (organisation, { storage }) => {
      let stored: unknown
      provider.intercept = async (_, perform) => {
        stored = storage.kv.get(kv)
        return perform()
      }
      await organisation.alarm()
      // What is stored while the provider is called is what a crash would leave.
      expect(stored).toMatchObject({ organisationId: shop.orgId, nextAt: Date.now() + MINUTE_MS })
    })
  })

  it('stores one request for many that are close together', async () => {
    const shop = await newOrganisation()
    const at = Date.now() + MINUTE_MS
    for (let n = 300; n >= 0; n--) await schedule(shop, at + n * 10)
    expect((await storedSchedule(shop))?.requests).toEqual([at + 3_000])
    for (let n = 0; n < 5; n++) await schedule(shop, Date.now())
    expect((await storedSchedule(shop))?.requests).toEqual([at + 3_000, Date.now()])
  })

  it('does not read billing from D1 when nothing is scheduled', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await reserve(shop, 1)
    pass(10 * MINUTE_MS)
    const prepare = spyPrepare()
    expect(await runAlarm(shop)).toBe(true)
    const read = prepare.mock.calls.map(([sql]) => sql)
    expect(read.filter((sql) => /payments|billing_accounts|"organisations"/.test(sql))).toEqual([])
    expect(await ledgerOf(shop)).toMatchObject({ balance: 9 })
  })
})

describe('an open payment', () => {
  it('is checked after 10 minutes and then at doubling intervals of at most 6 hours', async () => {
    const shop = await billedShop({ credits: 10 })
    await startPurchase(shop)
    const checks = await checksWithin(shop, 30 * 60)
    expect(checks.slice(0, 5)).toEqual([10, 20, 40, 80, 160])
    const pauses = checks.map((check, at) => check - (checks[at - 1] ?? 0))
    expect(Math.max(...pauses)).toBeLessThanOrEqual(6 * 60 + 1)
    expect((await paymentsOf(shop)).map(({ status }) => status)).toEqual(['open'])
  }, 60_000)

  it('is checked with a growing pause of at most an hour while the provider is down', async () => {
    const shop = await billedShop({ credits: 10 })
    const { id } = await startPurchase(shop)
    provider.pay(id)
    pass(10 * MINUTE_MS)
    provider.fail('findPayment', 'before', 1_000)
    const checks = await checksWithin(shop, 5 * 60)
    expect(checks).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
    provider.recover()
    pass(HOUR_MS)
    await runDueAlarm(shop)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 110 })
    // One more run, in case that the receipt could not be sent.
    pass(MINUTE_MS)
    await runDueAlarm(shop)
    expect(await scheduledAt(shop)).toBe(Infinity)
  })

  it('that cannot be checked does not stop the other tasks', async () => {
    const shop = await billedShop({ credits: 4 })
    await startPurchase(shop)
    const second = await startPurchase(shop)
    provider.pay(second.id)
    await setAutoReload(shop)
    pass(10 * MINUTE_MS)
    provider.fail('findPayment', 'before')
    await runDueAlarm(shop)
    const found = await paymentsOf(shop)
    expect(found.map(({ kind, status }) => `${kind} ${status}`).sort()).toEqual([
      'pack open',
      'pack paid',
    ])
    expect(await ledgerOf(shop)).toMatchObject({ balance: 104 })
  })
})

describe('a receipt', () => {
  it('that was not sent is sent later, once', async () => {
    const shop = await billedShop({ credits: 10 })
    const { id } = await startPurchase(shop)
    provider.pay(id)
    pass(10 * MINUTE_MS)
    await runDueAlarm(shop)
    await env.DB.prepare('UPDATE payments SET receipt_due_at = ? WHERE id = ?')
      .bind(Date.now() + 10 * MINUTE_MS, id)
      .run()
    await schedule(shop, Date.now())
    await runDueAlarm(shop)
    expect(mailsTo(shop)).toEqual(['Receipt: 100 credits'])
    for (let n = 0; n < 3; n++) {
      pass(10 * MINUTE_MS)
      await runDueAlarm(shop)
    }
    expect(mailsTo(shop)).toEqual(['Receipt: 100 credits', 'Receipt: 100 credits'])
    expect(await scheduledAt(shop)).toBe(Infinity)
  })
})

describe('a failure', () => {
  it('of the reconciliation does not stop the billing tasks', async () => {
    const shop = await billedShop({ credits: 6 })
    await setAutoReload(shop)
    await runDueAlarm(shop)
    await reserve(shop, 2)
    pass(6 * MINUTE_MS)
    const failing = spyPrepare((prepare, sql) => {
      if (sql.includes('from "jobs"')) throw new Error('D1 is unavailable')
      return prepare(sql)
    })
    await runDueAlarm(shop)
    failing.mockRestore()
    expect((await paymentsOf(shop)).map(({ status }) => status)).toEqual(['paid'])
    expect(await alarmAt(shop)).toBe(Date.now() + MINUTE_MS)
  })

  it('of the billing tasks does not stop the reconciliation', async () => {
    const shop = await billedShop({ credits: 6 })
    await setAutoReload(shop)
    await runDueAlarm(shop)
    await reserve(shop, 2)
    await jobsDb(shop.orgId)
      .prepare('DELETE FROM jobs WHERE organisation_id = ?')
      .bind(shop.orgId)
      .run()
    pass(6 * MINUTE_MS)
    const failing = failBatches('"payments"')
    await runDueAlarm(shop)
    failing.mockRestore()
    expect(await ledgerOf(shop)).toEqual({ granted: 6, balance: 6, reserved: 0, consumed: 0 })
  })
})

describe('the included credits of an enterprise plan', () => {
  it('are granted by the alarm each month', async () => {
    const shop = await billedShop({ credits: 0 })
    await env.DB.batch([
      env.DB.prepare("UPDATE organisations SET plan = 'enterprise' WHERE id = ?").bind(shop.orgId),
      env.DB.prepare(
        'UPDATE billing_accounts SET enterprise_terms = ? WHERE organisation_id = ?',
      ).bind(JSON.stringify({ monthlyFee: 0, includedCredits: 1_000, creditPrice: 3 }), shop.orgId),
    ])
    await schedule(shop, Date.now())
    await runDueAlarm(shop)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 1_000 })
    pass(32 * DAY_MS)
    expect(await runDueAlarm(shop)).toBe(true)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 2_000 })
    const terms = { monthlyFee: 0, includedCredits: 1_000, creditPrice: 3 }
    expect(autoReloadSettings(await rowOf(shop), terms)).toMatchObject({ amount: 1_500 })
  })
})

describe('destroying the object', () => {
  it('clears the schedule and the state of auto-reload', async () => {
    const shop = await billedShop({ credits: 4 })
    await setAutoReload(shop)
    await runDueAlarm(shop)
    await schedule(shop, Date.now() + HOUR_MS)
    await stubOf(shop).destroy()
    expect(await alarmAt(shop)).toBeNull()
    expect(await storedKeys(shop)).toEqual([])
  })

  it('during a run leaves nothing behind that the run stores', async () => {
    const shop = await billedShop({ credits: 4 })
    await operator.patch(`/operator/organisations/${shop.orgId}`, { auto_reload_enabled: true })
    await reserve(shop, 1)
    provider.outcome = 'declined'
    provider.intercept = async (_, perform) => {
      await stubOf(shop).destroy()
      return perform()
    }
    await runDueAlarm(shop)
    expect(await storedKeys(shop)).toEqual([])
    expect(await alarmAt(shop)).toBeNull()
  })
})

const storedKeys = (shop: TestOrganisation) =>
  runInDurableObject(stubOf(shop), (_, { storage }) => [...storage.kv.list()].map(([key]) => key))

// An automatic payment, once for each call of the alarm that starts it and each fault of that call.
import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { interceptObject } from '../faults/bindings.ts'
import { FaultInjector, Invocation, type Fault } from '../faults/fault-injector.ts'
import { chosen } from '../faults/test-faults.ts'
import {
  alarmAt,
  auditActionsOf,
  billedShop,
  paymentsOf,
  reserve,
  rowOf,
  runDueAlarm,
  setAutoReload,
  type BilledShop,
} from '../support/billed-shop.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'
import { violationsOf } from '../support/facts.ts'
import { dropMessages } from '../support/live-job.ts'
import { DAY_MS, HOUR_MS, pass, runAlarm } from '../support/retention.ts'
import { ledgerOf } from '../support/world.ts'

const INJECTED = ['request lost', 'response lost', 'killed'] as const satisfies readonly Fault[]
const OUTCOMES = ['paid', 'declined'] as const
type Outcome = (typeof OUTCOMES)[number]

/** Ahead of the real clock, so that an alarm runs only when the test runs it. */
function fakeClock(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  pass(DAY_MS)
}

beforeAll(fakeClock)
afterAll(() => void vi.useRealTimers())

/** Crosses the threshold and runs the alarm with a fault, then runs alarms for less than an hour. */
async function run(outcome: Outcome, fault?: { at: number; fault: Fault }) {
  dropMessages()
  const provider = fakePayments()
  provider.outcome = outcome
  const shop = await billedShop({ credits: 6 })
  await setAutoReload(shop)
  await runDueAlarm(shop)
  await reserve(shop, 2)
  const injector = new FaultInjector((at) => (at === fault?.at ? fault.fault : undefined))
  let invocation: Invocation | undefined = new Invocation(injector, {
    evict: () => Promise.resolve(),
    repeat: () => Promise.resolve(),
  })
  interceptObject({ call: (name, perform) => invocation?.call(name, perform) ?? perform() })
  provider.intercept = (name, perform) => invocation?.call(name, perform) ?? perform()
  await runAlarm(shop)
  invocation = undefined
  const organisation = env.ORGANISATION.getByName(shop.orgId)
  await organisation.totals() // only a running object can be evicted
  await evictDurableObject(organisation)
  const until = Date.now() + HOUR_MS - 1
  for (;;) {
    const at = await alarmAt(shop)
    if (at === null || at > until) break
    vi.setSystemTime(Math.max(at, Date.now()))
    await runAlarm(shop)
  }
  return { shop, provider, calls: injector.calls }
}

async function problemsOf(shop: BilledShop): Promise<string[]> {
  const found = await violationsOf(shop.orgId)
  // The jobs of this test are not processed.
  return found.filter((violation) => !violation.endsWith('is still pending'))
}

const started = async (shop: BilledShop) =>
  (await auditActionsOf(shop)).filter((action) => action === 'payment.started').length

fakeClock()
const recorded = (await run('paid')).calls
vi.useRealTimers()
const cases = chosen(
  OUTCOMES.flatMap((scenario) =>
    recorded
      // What a failed read leaves does not depend on the outcome.
      .map((call, at) => ({ scenario, call, at }))
      .filter(({ call }) => scenario === 'paid' || call !== 'DB.select')
      .flatMap((at) => INJECTED.map((fault) => ({ ...at, fault }))),
  ),
)
const casesOf = (outcome: Outcome) => cases.filter(({ scenario }) => scenario === outcome)

describe(`an automatic payment with ${cases.length} faults`, () => {
  it.each(casesOf('paid'))('is made once, call $at, $call: $fault', async ({ at, fault }) => {
    const { shop, provider } = await run('paid', { at, fault })
    expect(provider.paidBy(shop.orgId)).toHaveLength(1)
    expect((await paymentsOf(shop)).map(({ status }) => status)).toEqual(['paid'])
    expect(await ledgerOf(shop)).toMatchObject({ granted: 106, balance: 104 })
    expect(await started(shop)).toBe(1)
    expect(await problemsOf(shop)).toEqual([])
  })

  it.each(casesOf('declined'))('fails once, call $at, $call: $fault', async ({ at, fault }) => {
    const { shop, provider } = await run('declined', { at, fault })
    expect(provider.paidBy(shop.orgId)).toEqual([])
    expect((await paymentsOf(shop)).map(({ status }) => status)).toEqual(['failed'])
    expect(await ledgerOf(shop)).toMatchObject({ granted: 6, balance: 4 })
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: true })
    expect(await problemsOf(shop)).toEqual([])
  })
})

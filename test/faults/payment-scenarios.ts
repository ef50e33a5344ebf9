// The scenarios of payments and subscriptions for the crash tests. Faults are injected only into `run`.
import { env } from 'cloudflare:workers'
import { buyPack } from '../../src/billing/buy-pack.ts'
import { paymentsOf } from '../../src/billing/payments.ts'
import { PLAN_TERMS, type SelfServicePlan } from '../../src/billing/plans.ts'
import { readPayment } from '../../src/billing/refresh-payment.ts'
import { receiveEvent } from '../../src/billing/receive-event.ts'
import { refundPayment } from '../../src/billing/refund-payment.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { baseUrl, confirmPlan } from '../support/billing.ts'
import type { Harness } from './harness.ts'
import { FaultInjector } from './fault-injector.ts'
import type { Scenario } from './scenarios.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const noFaults = () => new FaultInjector()

const requestOf = (harness: Harness, bindings: Env) => ({
  env: bindings,
  actor: SYSTEM,
  organisationId: harness.shop.orgId,
  baseUrl,
})

async function buy(harness: Harness, faultInjector: FaultInjector): Promise<void> {
  await harness.invoke(faultInjector, (bindings) =>
    buyPack({ ...requestOf(harness, bindings), pack: 500, amount: 4_000, currency: 'USD' }),
  )
}

async function choose(
  harness: Harness,
  faultInjector: FaultInjector,
  plan: SelfServicePlan,
): Promise<void> {
  const amount = PLAN_TERMS[plan].monthlyFee.USD
  await harness.invoke(faultInjector, (bindings) =>
    confirmPlan({ ...requestOf(harness, bindings), plan, amount, currency: 'USD' }),
  )
}

/** Delivers the newest message. */
async function deliverLast(harness: Harness, faultInjector: FaultInjector): Promise<void> {
  const event = harness.payments.events.at(-1)
  if (!event) throw new Error('There is no message')
  await harness.invoke(faultInjector, (bindings) =>
    receiveEvent({
      env: bindings,
      provider: harness.payments,
      ...harness.payments.delivery(event),
    }),
  )
}

/** The customer pays every payment that the provider knows. The messages are lost. */
async function payAll(harness: Harness): Promise<void> {
  for (const { id } of await paymentsOf(env, harness.shop.orgId, { limit: 100 })) {
    if (harness.payments.knownState(id)?.status === 'open') harness.payments.pay(id)
  }
}

/** An open payment of a pack that the customer has paid. @returns its id */
async function paidPage(harness: Harness): Promise<string> {
  await buy(harness, noFaults())
  await payAll(harness)
  const [payment] = await paymentsOf(env, harness.shop.orgId, { limit: 1 })
  return payment?.id ?? ''
}

/** An organisation on a plan. @returns its subscription */
async function subscribed(harness: Harness, plan: SelfServicePlan): Promise<string> {
  await choose(harness, noFaults(), plan)
  await payAll(harness)
  await harness.finishAllWork()
  return harness.payments.subscriptionOf(harness.shop.orgId)?.id ?? ''
}

const refund = (harness: Harness, faultInjector: FaultInjector, paymentId: string) =>
  harness.invoke(faultInjector, (bindings) =>
    refundPayment({
      env: bindings,
      actor: SYSTEM,
      paymentId,
      amount: 1_000,
      reason: 'Goodwill',
      reference: 'case-1',
    }),
  )

async function grants(harness: Harness, expected: number): Promise<string[]> {
  const granted = (await paymentsOf(env, harness.shop.orgId, { limit: 100 }))
    .filter(({ status }) => status === 'paid')
    .reduce((sum, { credits, creditsReversed }) => sum + credits - creditsReversed, 0)
  return granted === expected ? [] : [`${granted} credits were bought instead of ${expected}`]
}

export const PAYMENT_SCENARIOS: Scenario[] = [
  {
    name: 'buy a pack',
    run: (harness, faultInjector) => buy(harness, faultInjector),
    async afterwards(harness) {
      await payAll(harness)
      return []
    },
  },
  {
    name: 'confirm a payment by an event',
    prepare: paidPage,
    run: (harness, faultInjector) => deliverLast(harness, faultInjector),
    afterwards: (harness) => grants(harness, 500),
  },
  {
    name: 'confirm a payment by the return page',
    async prepare(harness) {
      const paymentId = await paidPage(harness)
      harness.advance(3_000)
      return paymentId
    },
    async run(harness, faultInjector, paymentId) {
      await harness.invoke(faultInjector, (bindings) =>
        readPayment({ ...requestOf(harness, bindings), paymentId }),
      )
    },
    afterwards: (harness) => grants(harness, 500),
  },
  {
    name: 'confirm a payment by the alarm',
    async prepare(harness) {
      const paymentId = await paidPage(harness)
      harness.advance(11 * MINUTE_MS)
      return paymentId
    },
    run: (harness) => harness.alarm(),
    afterwards: (harness) => grants(harness, 500),
  },
  {
    name: 'confirm a payment by the list of messages',
    prepare: paidPage,
    run: (harness, faultInjector) => harness.catchUp(faultInjector),
    afterwards: (harness) => grants(harness, 500),
  },
  {
    name: 'refund',
    async prepare(harness) {
      const paymentId = await paidPage(harness)
      await harness.finishAllWork()
      return paymentId
    },
    async run(harness, faultInjector, paymentId) {
      await refund(harness, faultInjector, paymentId)
    },
    async afterwards(harness, _, paymentId) {
      await refund(harness, noFaults(), paymentId)
      return grants(harness, 375)
    },
  },
  {
    name: 'start a plan',
    async prepare(harness) {
      await choose(harness, noFaults(), 'growth')
      await payAll(harness)
      return ''
    },
    run: (harness, faultInjector) => deliverLast(harness, faultInjector),
    afterwards: (harness) => grants(harness, 750),
  },
  {
    name: 'upgrade',
    prepare: (harness) => subscribed(harness, 'growth'),
    run: (harness, faultInjector) => choose(harness, faultInjector, 'scale'),
  },
  {
    name: 'renew',
    async prepare(harness) {
      harness.payments.renew(await subscribed(harness, 'growth'))
      return ''
    },
    run: (harness, faultInjector) => deliverLast(harness, faultInjector),
    afterwards: (harness) => grants(harness, 1_500),
  },
  {
    name: 'end a grace period',
    async prepare(harness) {
      harness.payments.renew(await subscribed(harness, 'growth'), 'failed')
      await deliverLast(harness, noFaults())
      harness.advance(7 * DAY_MS + MINUTE_MS)
      return ''
    },
    run: (harness) => harness.alarm(),
    async afterwards(harness) {
      const status = harness.payments.subscriptionOf(harness.shop.orgId)?.status
      return status === 'ended' ? [] : [`the subscription is ${status}`]
    },
  },
]

// Random sequences of purchases, events, refunds, disputes, alarms and evictions. In any order,
// the ledger must contain the credits of each payment less its refunds, once.
import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { catchUpEvents } from '../../src/billing/receive-event.ts'
import { findPayment } from '../../src/billing/payments.ts'
import { refreshPayment } from '../../src/billing/refresh-payment.ts'
import { refundPayment } from '../../src/billing/refund-payment.ts'
import { creditsReversed } from '../../src/billing/settle-payment.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { organisationStub } from '../../src/credits/organisation-stub.ts'
import { accountOf, balanceOf, deliver, newShop, startPack, type Shop } from '../support/billing.ts'
import { violationsOf } from '../support/facts.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'
import { hasUnfinishedPayments, paymentViolations } from '../support/payment-facts.ts'

const CREDITS = 500
const PRICE = 4_000

interface World {
  shop: Shop
  provider: FakePaymentProvider
  /** The payments, in the order of their start. */
  ids: string[]
  /** Paid amounts less refunds, minor units: the model. */
  refunded: Map<string, number>
}

type Action = [kind: keyof typeof ACTIONS, at: number, amount: number]

const idAt = ({ ids }: World, at: number) => ids[at % Math.max(1, ids.length)]
const isPaid = ({ refunded }: World, id: string | undefined): id is string =>
  id !== undefined && refunded.has(id)

const ACTIONS = {
  async buy(world: World) {
    world.ids.push((await startPack(world.shop)).id)
  },
  pay(world: World, at: number) {
    const id = idAt(world, at)
    if (id === undefined) return
    world.provider.pay(id)
    if (!world.refunded.has(id)) world.refunded.set(id, 0)
  },
  decline(world: World, at: number) {
    const id = idAt(world, at)
    if (id !== undefined && !isPaid(world, id)) world.provider.decline(id)
  },
  /** Any earlier message: a duplicate, a late one or one in the wrong order. */
  async message({ provider }: World, at: number) {
    const event = provider.events[at % Math.max(1, provider.events.length)]
    if (event) await deliver(provider, event)
  },
  async messages(world: World, at: number) {
    await Promise.all([
      ACTIONS.message(world, at),
      ACTIONS.message(world, at),
      ACTIONS.message(world, at + 1),
    ])
  },
  async failedMessage(world: World, at: number) {
    world.provider.fail('findPayment', 'after')
    await ACTIONS.message(world, at).catch(() => {})
    world.provider.recover()
  },
  async refund(world: World, at: number, amount: number) {
    const paymentId = idAt(world, at)
    if (!isPaid(world, paymentId)) return
    const rest = PRICE - (world.refunded.get(paymentId) ?? 0)
    if (rest === 0) return
    const part = 1 + (amount % rest)
    const reference = `case-${amount}-${rest}`
    const order = { env, actor: SYSTEM, paymentId, amount: part, reason: 'Goodwill', reference }
    await Promise.all([refundPayment(order), refundPayment(order)])
    world.refunded.set(paymentId, PRICE - rest + part)
  },
  refundInDashboard(world: World, at: number, amount: number) {
    const id = idAt(world, at)
    if (!isPaid(world, id)) return
    world.provider.refundInDashboard(id, amount)
    world.refunded.set(id, Math.min(PRICE, (world.refunded.get(id) ?? 0) + amount))
  },
  loseDispute(world: World, at: number) {
    const id = idAt(world, at)
    if (!isPaid(world, id)) return
    world.provider.dispute(id, 'lost')
    world.refunded.set(id, PRICE)
  },
  /** As the alarm does. */
  async refresh(world: World, at: number) {
    const payment = await findPayment(env, idAt(world, at) ?? '')
    const account = accountOf(world.shop.organisationId)
    if (payment) await refreshPayment({ env, account, payment })
  },
  async evict({ shop }: World) {
    const stub = organisationStub(env, shop.organisationId)
    await stub.totals() // only a running object can be evicted
    await evictDurableObject(stub)
  },
} satisfies Record<string, (world: World, at: number, amount: number) => unknown>

const action = fc.tuple(
  fc.constantFrom(...(Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]), 'buy', 'pay', 'message'),
  fc.nat(30),
  fc.integer({ min: 1, max: PRICE }),
) as fc.Arbitrary<Action>

describe('payments', () => {
  it('grant what was paid less refunds, once, in any order of messages', async () => {
    const provider = fakePayments()
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 30 }), async (actions) => {
        const shop = await newShop()
        const world: World = { shop, provider, ids: [], refunded: new Map() }
        for (const [kind, at, amount] of [['buy', 0, 1] as Action, ...actions]) {
          await ACTIONS[kind](world, at, amount)
          const limit = world.ids.length * CREDITS
          expect(await balanceOf(shop.organisationId)).toBeLessThanOrEqual(limit)
        }
        await catchUpEvents(env)
        while (await hasUnfinishedPayments(shop.organisationId, provider)) await catchUpEvents(env)
        const expected = [...world.refunded.values()].reduce(
          (sum, amount) =>
            sum + CREDITS - creditsReversed({ credits: CREDITS, amount: PRICE }, amount),
          0,
        )
        expect(await balanceOf(shop.organisationId)).toBe(expected)
        expect(await paymentViolations(shop.organisationId, provider)).toEqual([])
        expect(await violationsOf(shop.organisationId)).toEqual([])
      }),
      { numRuns: 20 },
    )
  }, 120_000)
})

// The events of the payment provider: repeated, reordered, lost, forged and foreign ones.
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { catchUpEvents, receiveEvent } from '../../src/billing/receive-event.ts'
import { findPayment } from '../../src/billing/payments.ts'
import { balanceOf, deliver, newShop, passTime, shopOnPlan, startPack } from '../support/billing.ts'
import { passTime as passGracePeriod, PAST_GRACE_MS, runCron } from '../support/deletion.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'
import { operator } from '../support/world.ts'

const HOUR_MS = 60 * 60_000

let provider: FakePaymentProvider
beforeEach(() => {
  vi.useRealTimers()
  provider = fakePayments()
})

const recordedEvents = async (id: string) =>
  (await env.DB.prepare('SELECT id FROM payment_events WHERE id = ?').bind(id).all()).results.length

describe('an event', () => {
  it('grants the credits once when it is repeated', async () => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    const event = provider.pay(id)
    expect(await deliver(provider, event)).toBe('applied')
    const find = vi.spyOn(provider, 'findPayment')
    expect(await deliver(provider, event)).toBe('duplicate')
    expect(find).not.toHaveBeenCalled()
    expect(await balanceOf(shop.organisationId)).toBe(500)
  })

  it('grants the credits once when it arrives several times at once', async () => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    const event = provider.pay(id)
    const again = provider.pay(id)
    await Promise.all([event, event, again, again].map((one) => deliver(provider, one)))
    expect(await balanceOf(shop.organisationId)).toBe(500)
    expect(await findPayment(env, id)).toMatchObject({ status: 'paid' })
  })

  it('may arrive after a later one', async () => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    const [declined, paid, refunded] = [
      provider.decline(id),
      provider.pay(id),
      provider.refundInDashboard(id, 1_000),
    ]
    for (const event of [refunded, declined, paid]) await deliver(provider, event)
    expect(await findPayment(env, id)).toMatchObject({
      status: 'paid',
      amountRefunded: 1_000,
      creditsReversed: 125,
    })
    expect(await balanceOf(shop.organisationId)).toBe(375)
  })

  it('is applied again when the provider was unavailable', async () => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    const event = provider.pay(id)
    provider.fail('findPayment', 'before')
    await expect(deliver(provider, event)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await recordedEvents(event.id)).toBe(0)
    expect(await deliver(provider, event)).toBe('applied')
    expect(await recordedEvents(event.id)).toBe(1)
    expect(await balanceOf(shop.organisationId)).toBe(500)
  })

  it('with a wrong signature is rejected', async () => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    const request = provider.delivery(provider.pay(id), 'forged')
    await expect(receiveEvent({ env, provider, ...request })).rejects.toMatchObject({
      code: 'invalid_signature',
    })
    expect(await balanceOf(shop.organisationId)).toBe(0)
  })

  it('that does not concern this service is ignored', async () => {
    const request = { ...provider.delivery(provider.events[0]!), body: 'null' }
    expect(await receiveEvent({ env, provider, ...request })).toBe('ignored')
  })

  it('about an unknown payment or subscription is ignored', async () => {
    const { organisationId } = await newShop()
    const event = { id: `ev_${organisationId}`, createdAt: new Date(), organisationId }
    const unknown = { ...event, paymentId: 'pay_x', subscriptionId: 'sub_x', reference: 'in_x' }
    expect(await deliver(provider, unknown)).toBe('ignored')
    expect(await deliver(provider, unknown)).toBe('duplicate')
  })

  it('that names the payment of another organisation is ignored', async () => {
    const [shop, other] = [await newShop(), await newShop()]
    const { id } = await startPack(shop)
    const event = { ...provider.pay(id), organisationId: other.organisationId }
    expect(await deliver(provider, event)).toBe('ignored')
    expect(await balanceOf(shop.organisationId)).toBe(0)
    expect(await balanceOf(other.organisationId)).toBe(0)
  })

  it('that names the subscription of another organisation is ignored', async () => {
    const [shop, other] = [
      await shopOnPlan(provider, 'growth'),
      await shopOnPlan(provider, 'growth'),
    ]
    const event = { ...provider.end(shop.subscriptionId), organisationId: other.organisationId }
    expect(await deliver(provider, event)).toBe('ignored')
  })

  it('about a deleted organisation is ignored', async () => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    await operator.delete(`/operator/organisations/${shop.organisationId}`)
    passGracePeriod(PAST_GRACE_MS)
    await runCron()
    expect(await deliver(provider, provider.pay(id))).toBe('ignored')
    expect(await balanceOf(shop.organisationId)).toBe(0)
  })
})

describe('an event about a renewal', () => {
  it.each(['refund', 'lost dispute'])(
    'takes the credits back after a %s, though the subscription has ended',
    async (change) => {
      const shop = await shopOnPlan(provider, 'growth')
      const renewed = provider.renew(shop.subscriptionId)
      await deliver(provider, renewed)
      await deliver(provider, provider.end(shop.subscriptionId))
      expect(await balanceOf(shop.organisationId)).toBe(1_500)
      const reference = renewed.reference ?? ''
      const event =
        change === 'refund'
          ? provider.refundInDashboard(reference, 4_900)
          : provider.dispute(reference, 'lost')
      expect(event).toMatchObject({ paymentId: null, reference: expect.stringMatching(/^in_/) })
      expect(await deliver(provider, event)).toBe('applied')
      expect(await balanceOf(shop.organisationId)).toBe(750)
    },
  )

  it('is ignored when it names another organisation', async () => {
    const [shop, other] = [await shopOnPlan(provider, 'growth'), await newShop()]
    const renewed = provider.renew(shop.subscriptionId)
    await deliver(provider, renewed)
    await deliver(provider, provider.end(shop.subscriptionId))
    const event = provider.refundInDashboard(renewed.reference ?? '', 4_900)
    const { organisationId } = other
    expect(await deliver(provider, { ...event, organisationId })).toBe('ignored')
    expect(await balanceOf(shop.organisationId)).toBe(1_500)
  })
})

describe('a lost event', () => {
  it('is replaced by the list of events', async () => {
    const shop = await newShop()
    const [paid, refunded] = [await startPack(shop), await startPack(shop)]
    provider.pay(paid.id)
    await deliver(provider, provider.pay(refunded.id))
    provider.refundInDashboard(refunded.id, 4_000)
    await catchUpEvents(env)
    expect(await balanceOf(shop.organisationId)).toBe(500)
    const find = vi.spyOn(provider, 'findPayment')
    await catchUpEvents(env)
    expect(find).not.toHaveBeenCalled()
  })

  it('is found by cron', async () => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    provider.pay(id)
    await runCron()
    expect(await balanceOf(shop.organisationId)).toBe(500)
  })

  it('is applied in a later run when the provider is unavailable', async () => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    const event = provider.pay(id)
    provider.fail('findPayment', 'before')
    await expect(catchUpEvents(env)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await recordedEvents(event.id)).toBe(0)
    await catchUpEvents(env)
    expect(await balanceOf(shop.organisationId)).toBe(500)
  })

  it('does not stop the events after it when it fails', async () => {
    const [broken, shop] = [await newShop(), await newShop()]
    const [first, second] = [await startPack(broken), await startPack(shop)]
    provider.pay(first.id)
    provider.pay(second.id)
    const find = provider.findPayment.bind(provider)
    vi.spyOn(provider, 'findPayment').mockImplementation((payment) =>
      payment.paymentId === first.id ? Promise.reject(new Error('Malformed')) : find(payment),
    )
    await expect(catchUpEvents(env)).rejects.toThrow('Malformed')
    expect(await balanceOf(shop.organisationId)).toBe(500)
  })

  it('does not stop the messages after it when the provider is unavailable', async () => {
    const [broken, shop] = [await newShop(), await newShop()]
    const [first, second] = [await startPack(broken), await startPack(shop)]
    const event = provider.pay(first.id)
    provider.pay(second.id)
    provider.fail('findPayment', 'before')
    await expect(catchUpEvents(env)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await balanceOf(shop.organisationId)).toBe(500)
    expect(await recordedEvents(event.id)).toBe(0)
  })

  it('is not read when three before it could not reach the provider', async () => {
    const shops = await Promise.all(Array.from({ length: 4 }, () => newShop()))
    for (const shop of shops) provider.pay((await startPack(shop)).id)
    provider.fail('findPayment', 'before', 4)
    const find = vi.spyOn(provider, 'findPayment')
    await expect(catchUpEvents(env)).rejects.toMatchObject({ code: 'unavailable' })
    expect(find).toHaveBeenCalledTimes(3)
  })

  it('that does not concern this service is read once', async () => {
    const shop = await newShop()
    const event = provider.pay((await startPack(shop)).id)
    provider.foreign.add(event.id)
    await catchUpEvents(env)
    expect(await recordedEvents(event.id)).toBe(1)
    expect(await balanceOf(shop.organisationId)).toBe(0)
  })

  it('is found for three days', async () => {
    const [shop, other] = [await newShop(), await newShop()]
    provider.pay((await startPack(shop)).id)
    passTime(2 * HOUR_MS)
    provider.pay((await startPack(other)).id)
    passTime(71 * HOUR_MS)
    const find = vi.spyOn(provider, 'findPayment')
    await catchUpEvents(env)
    expect(find).toHaveBeenCalledTimes(1)
    expect(await balanceOf(other.organisationId)).toBe(500)
  })

  it('of a remote provider is looked for once an hour', async () => {
    provider.name = 'stripe'
    const start = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
    let asked = 0
    for (let minute = 0; minute < 60; minute++) {
      passTime(start + minute * 60_000 - Date.now())
      await catchUpEvents(env)
      asked = provider.calls.filter((call) => call === 'missingEvents').length
    }
    expect(asked).toBe(1)
  })
})

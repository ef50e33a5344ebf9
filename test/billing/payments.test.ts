// Buying packs of credits, and reading payments.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { buyPack } from '../../src/billing/buy-pack.ts'
import { openPortal, readBilling } from '../../src/billing/billing-account.ts'
import { findPayment, insertPayment, recordState } from '../../src/billing/payments.ts'
import { readPayment, refreshPayment } from '../../src/billing/refresh-payment.ts'
import { settlePayment } from '../../src/billing/settle-payment.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { newId } from '../../src/platform/ids.ts'
import { violationsOf } from '../support/facts.ts'
import {
  accountOf,
  balanceOf,
  baseUrl,
  deliver,
  newShop,
  newUser,
  passTime,
  startPack,
  type Shop,
} from '../support/billing.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'
import { operator } from '../support/world.ts'

let provider: FakePaymentProvider
beforeEach(() => {
  vi.useRealTimers()
  provider = fakePayments()
})

const auditOf = async (organisationId: string, action: string) => {
  const { results } = await env.DB.prepare(
    'SELECT target, actor_type AS actor, details FROM audit_log WHERE organisation_id = ? AND action = ?',
  )
    .bind(organisationId, action)
    .all<{ target: string; actor: string; details: string }>()
  return results
}

const storedPayments = async (organisationId: string) =>
  (
    await env.DB.prepare('SELECT id FROM payments WHERE organisation_id = ?')
      .bind(organisationId)
      .all()
  ).results

describe('buying a pack', () => {
  it('returns the payment page and stores the payment with its audit entry', async () => {
    const shop = await newShop()
    const payment = await startPack(shop)
    expect(payment).toMatchObject({
      organisationId: shop.organisationId,
      kind: 'pack',
      status: 'open',
      credits: 500,
      amount: 4_000,
      currency: 'USD',
      provider: 'sandbox',
      createdBy: shop.owner.userId,
    })
    const returnUrl = `${baseUrl}/console/${shop.organisationId}/billing/payments/${payment.id}`
    expect(payment.actionUrl).toContain(encodeURIComponent(returnUrl))
    expect(await findPayment(env, payment.id)).toEqual(payment)
    expect(await auditOf(shop.organisationId, 'payment.started')).toHaveLength(1)
    expect(await balanceOf(shop.organisationId)).toBe(0)
  })

  it('is rejected while 20 payments are open', async () => {
    const shop = await newShop()
    for (let count = 0; count < 20; count++) await startPack(shop)
    await expect(startPack(shop)).rejects.toMatchObject({
      code: 'validation_error',
      message: 'There are too many open payments. Complete one, or try again in two hours.',
    })
    expect(await storedPayments(shop.organisationId)).toHaveLength(20)
  })

  it('grants the credits once it is paid, and sends one receipt', async () => {
    const shop = await newShop()
    const emails = vi.spyOn(console, 'log')
    const { id } = await startPack(shop)
    await deliver(provider, provider.pay(id))
    expect(await balanceOf(shop.organisationId)).toBe(500)
    expect(await findPayment(env, id)).toMatchObject({
      status: 'paid',
      actionUrl: null,
      receiptDueAt: null,
      tax: 800,
      paymentMethod: 'Visa •••• 4242',
      invoiceUrl: expect.stringContaining('https://pay.test/invoices/'),
    })
    expect(await auditOf(shop.organisationId, 'payment.paid')).toMatchObject([{ target: id }])
    expect(emails.mock.calls.flat().join()).not.toContain('pay.test')
    expect(await violationsOf(shop.organisationId)).toEqual([])
  })

  it('sets the alarm that asks about it', async () => {
    const shop = await newShop()
    await startPack(shop)
    const stub = env.ORGANISATION.getByName(shop.organisationId)
    const at = await runInDurableObject(stub, (_, { storage }) => storage.getAlarm())
    expect(at).toBeLessThanOrEqual(Date.now() + 10 * 60_000)
  })

  const tampered: [string, object, string][] = [
    [
      'an unknown pack',
      { pack: 501 },
      'The pack must be one of 100, 500, 2,000 and 10,000 credits.',
    ],
    [
      'a negative pack',
      { pack: -500 },
      'The pack must be one of 100, 500, 2,000 and 10,000 credits.',
    ],
    ['another price', { amount: 1 }, 'The price has changed. Check the new price and try again.'],
    ['another currency', { currency: 'INR' }, 'The currency of this organisation is USD.'],
    [
      'a deployment without payments',
      { baseUrl: 'https://try-on.example.com' },
      'Payments are not set up. Contact support.',
    ],
  ]
  it.each(tampered)('rejects %s', async (_, change, message) => {
    const shop = await newShop()
    const order = { ...shop.request, pack: 500, amount: 4_000, currency: 'USD', ...change }
    await expect(buyPack(order)).rejects.toMatchObject({ code: 'validation_error', message })
    expect(await storedPayments(shop.organisationId)).toEqual([])
    expect(provider.calls).toEqual([])
  })

  it.each(['developer', 'stranger', 'owner of another organisation'])(
    'rejects a %s',
    async (who) => {
      const shop = await newShop()
      const other = await newShop()
      const actors = {
        developer: () => newUser(shop.organisationId, 'developer'),
        stranger: () => newUser(shop.organisationId, null),
        'owner of another organisation': () => other.owner,
      }
      const actor = await actors[who as keyof typeof actors]()
      const order = { ...shop.request, actor, pack: 500, amount: 4_000, currency: 'USD' }
      await expect(buyPack(order)).rejects.toMatchObject({ code: 'not_found' })
      expect(await storedPayments(shop.organisationId)).toEqual([])
    },
  )

  it('is rejected while suspended, and while the deletion is scheduled', async () => {
    const shop = await newShop()
    await operator.patch(`/operator/organisations/${shop.organisationId}`, { status: 'suspended' })
    await expect(startPack(shop)).rejects.toThrow('Contact support before you pay')
    await operator.delete(`/operator/organisations/${shop.organisationId}`)
    await expect(startPack(shop)).rejects.toMatchObject({ code: 'deletion_scheduled' })
    expect(await storedPayments(shop.organisationId)).toEqual([])
  })

  it('uses the prices of the plan and of enterprise terms', async () => {
    const shop = await newShop()
    const order = { ...shop.request, pack: 500, currency: 'USD' }
    const setPlan = (plan: string) =>
      env.DB.prepare('UPDATE organisations SET plan = ? WHERE id = ?')
        .bind(plan, shop.organisationId)
        .run()
    await setPlan('growth')
    expect((await buyPack({ ...order, amount: 3_500 })).amount).toBe(3_500)
    await setPlan('enterprise')
    const terms = JSON.stringify({ monthlyFee: 1, includedCredits: 1, creditPrice: 3 })
    await env.DB.prepare(
      'INSERT OR REPLACE INTO billing_accounts (organisation_id, enterprise_terms) VALUES (?, ?)',
    )
      .bind(shop.organisationId, terms)
      .run()
    expect((await buyPack({ ...order, amount: 1_500 })).amount).toBe(1_500)
  })
})

describe('a provider that fails', () => {
  it('leaves the payment open when it is unavailable', async () => {
    const shop = await newShop()
    provider.fail('startCheckout', 'before')
    await expect(startPack(shop)).rejects.toMatchObject({ code: 'unavailable' })
    const [{ id } = { id: '' }] = await storedPayments(shop.organisationId)
    const payment = await findPayment(env, String(id))
    expect(payment?.status).toBe('open')
    passTime(9 * 60_000)
    expect((await refresh(shop, String(id))).status).toBe('open')
    passTime(2 * 60_000)
    expect(await refresh(shop, String(id))).toMatchObject({
      status: 'failed',
      failure: 'The payment was not started. You were not charged.',
    })
    expect(await balanceOf(shop.organisationId)).toBe(0)
  })

  it('finds the payment whose response was lost', async () => {
    const shop = await newShop()
    provider.fail('startCheckout', 'after')
    await expect(startPack(shop)).rejects.toMatchObject({ code: 'unavailable' })
    const [{ id } = { id: '' }] = await storedPayments(shop.organisationId)
    provider.pay(String(id))
    expect((await refresh(shop, String(id))).status).toBe('paid')
    expect(await balanceOf(shop.organisationId)).toBe(500)
  })

  it('fails the payment when it is rejected', async () => {
    const shop = await newShop()
    provider.fail('startCheckout', 'rejected')
    expect(await startPack(shop)).toMatchObject({
      status: 'failed',
      failure: 'The payment could not be started. You were not charged.',
    })
    expect(await auditOf(shop.organisationId, 'payment.failed')).toHaveLength(1)
  })
})

const refresh = async ({ organisationId }: Shop, paymentId: string) => {
  const payment = await findPayment(env, paymentId)
  if (!payment) throw new Error('The payment does not exist')
  return refreshPayment({ env, account: accountOf(organisationId), payment })
}

describe('the state of a payment', () => {
  it('can still become paid after a decline or an expiry', async () => {
    const shop = await newShop()
    const [declined, expired] = [await startPack(shop), await startPack(shop)]
    await deliver(provider, provider.decline(declined.id))
    await deliver(provider, provider.expire(expired.id))
    expect(await findPayment(env, declined.id)).toMatchObject({
      status: 'failed',
      failure: 'The card was declined.',
      actionUrl: null,
    })
    expect((await findPayment(env, expired.id))?.status).toBe('expired')
    await deliver(provider, provider.pay(declined.id))
    await deliver(provider, provider.pay(expired.id))
    expect(await findPayment(env, declined.id)).toMatchObject({ status: 'paid', failure: null })
    expect(await balanceOf(shop.organisationId)).toBe(1_000)
  })

  it.each(['open', 'failed', 'expired'] as const)('stays paid after a stale %s', async (status) => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    await deliver(provider, provider.pay(id))
    const paid = await findPayment(env, id)
    const stale = {
      ...provider.stateOf(id),
      status,
      failure: 'Late',
      actionUrl: 'https://pay.test/',
    }
    await settlePayment({
      env,
      account: accountOf(shop.organisationId),
      payment: paid!,
      state: stale,
    })
    expect(await findPayment(env, id)).toEqual({ ...paid, checkedAt: expect.any(Date) })
    expect(await auditOf(shop.organisationId, 'payment.failed')).toEqual([])
  })

  it('does not return to open', async () => {
    const shop = await newShop()
    const payment = await startPack(shop)
    const open = { ...provider.stateOf(payment.id) }
    await deliver(provider, provider.decline(payment.id))
    expect(await recordState(env, payment, open, 0)).toMatchObject({
      status: 'failed',
      failure: 'The card was declined.',
      actionUrl: null,
    })
  })

  it.each([{ amount: 1 }, { currency: 'INR' as const }])(
    'fails without credits when the provider reports %o',
    async (change) => {
      const shop = await newShop()
      const payment = await startPack(shop)
      Object.assign(provider.stateOf(payment.id), change)
      await deliver(provider, provider.pay(payment.id))
      expect(await findPayment(env, payment.id)).toMatchObject({
        status: 'failed',
        failure: 'The amount or currency does not match the order. Contact support.',
      })
      expect(await balanceOf(shop.organisationId)).toBe(0)
    },
  )

  it('is stored once per id and once per reference of the provider', async () => {
    const shop = await newShop()
    const row = {
      organisationId: shop.organisationId,
      kind: 'renewal',
      plan: 'growth',
      credits: 750,
      amount: 4_900,
      currency: 'USD',
      provider: 'sandbox',
      createdBy: null,
    } as const
    const reference = `in_${shop.organisationId}`
    const first = await insertPayment(env, SYSTEM, { ...row, providerReference: reference })
    expect(await insertPayment(env, SYSTEM, { ...row, providerReference: reference })).toEqual(
      first,
    )
    const id = newId('pay')
    await insertPayment(env, SYSTEM, { ...row, id })
    await insertPayment(env, SYSTEM, { ...row, id })
    expect(await storedPayments(shop.organisationId)).toHaveLength(2)
    expect(await auditOf(shop.organisationId, 'payment.started')).toHaveLength(2)
  })
})

describe('reading', () => {
  it('asks the provider about an open payment, at most each two seconds', async () => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    provider.pay(id)
    const read = () => readPayment({ ...shop.request, paymentId: id })
    expect((await read()).status).toBe('open')
    expect(provider.calls).toEqual(['startCheckout'])
    passTime(2_100)
    expect((await read()).status).toBe('paid')
    expect((await read()).status).toBe('paid')
    expect(provider.calls).toEqual(['startCheckout', 'findPayment'])
    expect(await balanceOf(shop.organisationId)).toBe(500)
  })

  it('asks the provider once for parallel reads', async () => {
    const shop = await newShop()
    const { id } = await startPack(shop)
    provider.pay(id)
    passTime(2_100)
    const read = () => readPayment({ ...shop.request, paymentId: id })
    const states = await Promise.all(Array.from({ length: 20 }, read))
    expect(states.some(({ status }) => status === 'paid')).toBe(true)
    expect(provider.calls).toEqual(['startCheckout', 'findPayment'])
    expect((await read()).status).toBe('paid')
  })

  it('returns the stored payment while the provider is unavailable', async () => {
    const shop = await newShop()
    const payment = await startPack(shop)
    provider.fail('findPayment', 'before')
    passTime(2_100)
    expect(await readPayment({ ...shop.request, paymentId: payment.id })).toEqual(payment)
  })

  it('returns only the payments of the organisation, and only to its owners', async () => {
    const [shop, other] = [await newShop(), await newShop()]
    const { id: paymentId } = await startPack(shop)
    const member = await newUser(shop.organisationId, 'developer')
    const notFound = { code: 'not_found' }
    await expect(readPayment({ ...other.request, paymentId })).rejects.toMatchObject(notFound)
    await expect(readPayment({ ...shop.request, actor: member, paymentId })).rejects.toMatchObject(
      notFound,
    )
    await expect(readBilling({ ...shop.request, actor: member })).rejects.toMatchObject(notFound)
    await expect(openPortal({ ...shop.request, actor: member })).rejects.toMatchObject(notFound)
  })

  it('lists payments by page, newest first, with the billing account', async () => {
    const shop = await newShop()
    expect(await readBilling(shop.request)).toEqual({
      account: undefined,
      payments: [],
      hasMore: false,
      autoReloadSpent: 0,
    })
    const ids: string[] = []
    for (let n = 0; n < 21; n++) {
      const { id } = await startPack(shop)
      ids.unshift(id)
      if (n === 0) await deliver(provider, provider.pay(id)) // only 20 may be open
    }
    const first = await readBilling(shop.request)
    expect(first.payments.map(({ id }) => id)).toEqual(ids.slice(0, 20))
    expect(first.hasMore).toBe(true)
    expect(first.account).toMatchObject({
      provider: 'sandbox',
      customerId: `cus_${shop.organisationId}`,
    })
    const rest = await readBilling({ ...shop.request, beforeId: ids[19] })
    expect(rest.payments.map(({ id }) => id)).toEqual(ids.slice(20))
    expect(rest.hasMore).toBe(false)
  })

  it('opens the portal after the first payment', async () => {
    const shop = await newShop()
    await expect(openPortal(shop.request)).rejects.toMatchObject({ code: 'validation_error' })
    await startPack(shop)
    expect(await openPortal(shop.request)).toBe(
      `https://pay.test/portal/cus_${shop.organisationId}`,
    )
  })
})

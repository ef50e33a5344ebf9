// Refunds by operators and in the provider's dashboard, and disputes.
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { findPayment } from '../../src/billing/payments.ts'
import { refundPayment } from '../../src/billing/refund-payment.ts'
import { creditsReversed } from '../../src/billing/settle-payment.ts'
import { balanceOf, deliver, newShop, paidPack, startPack } from '../support/billing.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'

let provider: FakePaymentProvider
beforeEach(() => void (provider = fakePayments()))

const OPERATOR = { type: 'operator', ipAddress: null } as const

const refund = (paymentId: string, amount?: number, reference = 'case-1') =>
  refundPayment({ env, actor: OPERATOR, paymentId, amount, reason: 'Goodwill', reference })

describe('a refund by an operator', () => {
  it('takes back the same share of the credits, rounded up', async () => {
    const { organisationId, paymentId } = await paidPack(provider)
    expect(await refund(paymentId, 1_001)).toMatchObject({
      status: 'paid',
      amountRefunded: 1_001,
      creditsReversed: 126,
    })
    expect(await balanceOf(organisationId)).toBe(374)
  })

  it('refunds the rest without an amount', async () => {
    const { organisationId, paymentId } = await paidPack(provider)
    await refund(paymentId, 1_000)
    expect(await refund(paymentId, undefined, 'case-2')).toMatchObject({ amountRefunded: 4_000 })
    expect(await balanceOf(organisationId)).toBe(0)
  })

  it.each([1_000, undefined])('is made once per reference, amount %s', async (amount) => {
    const { organisationId, paymentId } = await paidPack(provider)
    const first = await refund(paymentId, amount)
    expect(await refund(paymentId, amount)).toMatchObject({ amountRefunded: first.amountRefunded })
    await Promise.all([refund(paymentId, amount), refund(paymentId, amount)])
    expect(provider.stateOf(paymentId).amountRefunded).toBe(amount ?? 4_000)
    expect(await balanceOf(organisationId)).toBe(amount === undefined ? 0 : 375)
  })

  it('is repeated with its first amount', async () => {
    const { paymentId } = await paidPack(provider)
    provider.fail('refund', 'before')
    await expect(refund(paymentId)).rejects.toMatchObject({ code: 'unavailable' })
    provider.fail('refund', 'after')
    await expect(refund(paymentId, 1)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await refund(paymentId)).toMatchObject({ amountRefunded: 4_000 })
  })

  it('is made once per reference, also after the audit log is deleted', async () => {
    const { organisationId, paymentId } = await paidPack(provider)
    await refund(paymentId, 1_000)
    await env.DB.prepare('DELETE FROM audit_log WHERE organisation_id = ?')
      .bind(organisationId)
      .run()
    const call = vi.spyOn(provider, 'refund')
    expect(await refund(paymentId)).toMatchObject({ amountRefunded: 1_000 })
    // The same request, for which the provider refunds nothing more.
    expect(call).toHaveBeenCalledWith(expect.objectContaining({ amount: 1_000 }))
    expect(provider.stateOf(paymentId).amountRefunded).toBe(1_000)
    expect(await balanceOf(organisationId)).toBe(375)
  })

  it('is completed by a repetition after a crash before the provider was called', async () => {
    const { organisationId, paymentId } = await paidPack(provider)
    vi.spyOn(provider, 'refund').mockRejectedValueOnce(new Error('The Worker has crashed'))
    await expect(refund(paymentId, 1_000)).rejects.toThrow('The Worker has crashed')
    expect(provider.stateOf(paymentId).amountRefunded).toBe(0)
    expect(await refund(paymentId)).toMatchObject({ amountRefunded: 1_000 })
    expect(await balanceOf(organisationId)).toBe(375)
  })

  it('is recorded with its reason', async () => {
    const { organisationId, paymentId } = await paidPack(provider)
    await refund(paymentId, 1_000)
    await refund(paymentId, 1_000)
    const { results } = await env.DB.prepare(
      `SELECT action, actor_type AS actor, details FROM audit_log
       WHERE organisation_id = ? AND action LIKE 'payment.refund%' ORDER BY id`,
    )
      .bind(organisationId)
      .all<{ action: string; actor: string; details: string }>()
    expect(results.map((row) => ({ ...row, details: JSON.parse(row.details) }))).toEqual([
      {
        action: 'payment.refund_requested',
        actor: 'operator',
        details: { amount: 1_000, reason: 'Goodwill', reference: 'case-1' },
      },
      {
        action: 'payment.refunded',
        actor: 'system',
        details: { amount: 1_000, credits: 125, currency: 'USD' },
      },
    ])
  })

  it.each([0, -1, 4_001, 0.5])('rejects the amount %s', async (amount) => {
    const { paymentId } = await paidPack(provider)
    await expect(refund(paymentId, amount)).rejects.toMatchObject({ code: 'validation_error' })
    expect(provider.stateOf(paymentId).amountRefunded).toBe(0)
  })

  it('rejects open and refunded payments, and unknown ones', async () => {
    const { id: openId } = await startPack(await newShop())
    const { paymentId } = await paidPack(provider)
    await refund(paymentId)
    const rejected = { code: 'validation_error' }
    await expect(refund(openId)).rejects.toMatchObject(rejected)
    await expect(refund(paymentId, undefined, 'case-2')).rejects.toMatchObject(rejected)
    await expect(refund('pay_x')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('reports a rejection of the provider', async () => {
    const { organisationId, paymentId } = await paidPack(provider)
    provider.fail('refund', 'rejected')
    await expect(refund(paymentId)).rejects.toMatchObject({ code: 'validation_error' })
    expect(await balanceOf(organisationId)).toBe(500)
  })

  it('is not allowed to owners', async () => {
    const { owner, paymentId } = await paidPack(provider)
    const order = { env, actor: owner, paymentId, amount: 1, reason: '', reference: 'case-1' }
    await expect(refundPayment(order)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a dispute', () => {
  it('takes the credits back when it is lost, also credits that were used', async () => {
    const { organisationId, paymentId } = await paidPack(provider)
    await deliver(provider, provider.dispute(paymentId, 'open'))
    expect(await findPayment(env, paymentId)).toMatchObject({ dispute: 'open' })
    expect(await balanceOf(organisationId)).toBe(500)
    const stub = env.ORGANISATION.getByName(organisationId)
    await stub.capture(`job_${'7'.padEnd(26, 'z')}`)
    await deliver(provider, provider.dispute(paymentId, 'lost'))
    expect(await findPayment(env, paymentId)).toMatchObject({
      dispute: 'lost',
      creditsReversed: 500,
    })
    expect(await balanceOf(organisationId)).toBe(-1)
  })

  it('changes nothing when it is won', async () => {
    const { organisationId, paymentId } = await paidPack(provider)
    await deliver(provider, provider.dispute(paymentId, 'won'))
    expect(await findPayment(env, paymentId)).toMatchObject({ dispute: 'won', amountRefunded: 0 })
    expect(await balanceOf(organisationId)).toBe(500)
  })

  it('takes back only the credits that a refund has left', async () => {
    const { organisationId, paymentId } = await paidPack(provider)
    await refund(paymentId, 1_000)
    await deliver(provider, provider.dispute(paymentId, 'lost'))
    expect(await balanceOf(organisationId)).toBe(0)
  })
})

describe('the share of credits', () => {
  it('never exceeds the credits, and is 0 without a price', () => {
    expect(creditsReversed({ credits: 3, amount: 1_000 }, 1)).toBe(1)
    expect(creditsReversed({ credits: 3, amount: 1_000 }, 2_000)).toBe(3)
    expect(creditsReversed({ credits: 3, amount: 0 }, 5)).toBe(0)
  })
})

// Refunds through /operator. test/billing/refunds.test.ts covers what they do with credits.
import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { organisationStub } from '../../src/credits/organisation-stub.ts'
import { balanceOf, newShop, paidPack, startPack } from '../support/billing.ts'
import { codeOf } from '../support/client.ts'
import { PAST_GRACE_MS, passTime, runCron } from '../support/deletion.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'
import { operator } from '../support/world.ts'

const refund = (paymentId: string, body: object = {}) =>
  operator.post(`/operator/payments/${paymentId}/refund`, {
    reason: 'Asked by the customer',
    reference: 'ticket 1',
    ...body,
  })

describe('POST /operator/payments/{payment_id}/refund', () => {
  it('refunds a part once for each reference, and then the rest', async () => {
    const provider = fakePayments()
    const { paymentId, organisationId } = await paidPack(provider)
    const half = await refund(paymentId, { amount: 2_000 })
    expect(half.status).toBe(200)
    expect(await half.json()).toMatchObject({
      payment_id: paymentId,
      status: 'paid',
      amount: 4_000,
      amount_refunded: 2_000,
      credits_reversed: 250,
    })
    expect((await refund(paymentId, { amount: 2_000 })).status).toBe(200)
    expect(provider.stateOf(paymentId).amountRefunded).toBe(2_000)
    expect(await balanceOf(organisationId)).toBe(250)
    const rest = await refund(paymentId, { reference: 'ticket 2' })
    expect(await rest.json()).toMatchObject({ amount_refunded: 4_000, credits_reversed: 500 })
    expect(await balanceOf(organisationId)).toBe(0)
  })

  it('records the operator with amount, reason and reference', async () => {
    const provider = fakePayments()
    const { paymentId, organisationId } = await paidPack(provider)
    await refund(paymentId, { amount: 1_000 })
    const log = await operator.get(`/operator/organisations/${organisationId}/audit-log`)
    const { entries } = await log.json<{ entries: { action: string; actor: object }[] }>()
    expect(entries).toContainEqual(
      expect.objectContaining({
        action: 'payment.refund_requested',
        target: paymentId,
        actor: { type: 'operator', id: null, email: null },
        details: expect.objectContaining({
          amount: 1_000,
          reason: 'Asked by the customer',
          reference: 'ticket 1',
        }),
      }),
    )
  })

  it('rejects more than what is left of the payment', async () => {
    const provider = fakePayments()
    const { paymentId, organisationId } = await paidPack(provider)
    const response = await refund(paymentId, { amount: 4_001 })
    expect([response.status, await codeOf(response)]).toEqual([422, 'validation_error'])
    await refund(paymentId)
    const again = await refund(paymentId, { amount: 1, reference: 'ticket 2' })
    expect([again.status, await codeOf(again)]).toEqual([422, 'validation_error'])
    expect(provider.stateOf(paymentId).amountRefunded).toBe(4_000)
    expect(await balanceOf(organisationId)).toBe(0)
  })

  it('rejects a payment that is not paid', async () => {
    fakePayments()
    const { id } = await startPack(await newShop())
    const response = await refund(id)
    expect([response.status, await codeOf(response)]).toEqual([422, 'validation_error'])
  })

  it.each(['before', 'after'] as const)(
    'can be repeated when the provider fails: %s',
    async (outage) => {
      const provider = fakePayments()
      const { paymentId, organisationId } = await paidPack(provider)
      provider.fail('refund', outage)
      const failed = await refund(paymentId, { amount: 2_000 })
      expect([failed.status, await codeOf(failed)]).toEqual([503, 'payment_provider_unavailable'])
      expect((await refund(paymentId, { amount: 2_000 })).status).toBe(200)
      expect(provider.stateOf(paymentId).amountRefunded).toBe(2_000)
      expect(await balanceOf(organisationId)).toBe(250)
    },
  )

  it('returns the message of the provider when it rejects the refund', async () => {
    const provider = fakePayments()
    const { paymentId, organisationId } = await paidPack(provider)
    provider.fail('refund', 'rejected')
    const response = await refund(paymentId)
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ error: { code: 'validation_error' } })
    expect(await balanceOf(organisationId)).toBe(500)
  })

  it('refunds a payment of a deleted organisation and grants it nothing', async () => {
    const provider = fakePayments()
    const { paymentId, organisationId } = await paidPack(provider)
    await operator.delete(`/operator/organisations/${organisationId}`)
    onTestFinished(() => void vi.useRealTimers())
    passTime(PAST_GRACE_MS)
    await runCron()
    expect((await operator.get(`/operator/organisations/${organisationId}`)).status).toBe(404)
    const response = await refund(paymentId)
    expect(await response.json()).toMatchObject({ amount_refunded: 4_000, credits_reversed: 500 })
    expect(provider.stateOf(paymentId).amountRefunded).toBe(4_000)
    expect(await organisationStub(env, organisationId).totals()).toMatchObject({ granted: 0 })
    expect(await organisationStub(env, organisationId).entries({ limit: 10 })).toEqual([])
  })

  it('returns 404 for an unknown payment', async () => {
    const response = await refund(newId('pay'))
    expect([response.status, await codeOf(response)]).toEqual([404, 'not_found'])
  })

  it.each([
    { amount: 0 },
    { amount: -1 },
    { amount: 1.5 },
    { amount: '5' },
    { amount: null },
    { reason: '' },
    { reference: '' },
    { reference: 'x'.repeat(101) },
    { credits: 5 },
  ])('rejects %j', async (body) => {
    const response = await refund(newId('pay'), body)
    expect([response.status, await codeOf(response)]).toEqual([422, 'validation_error'])
  })
})

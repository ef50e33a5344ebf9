// What remains of the billing of a deleted organisation.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findBillingAccount } from '../../src/billing/billing-account.ts'
import { sandboxCustomers } from '../../src/platform/db/billing-schema.ts'
import { database } from '../../src/platform/db/database.ts'
import { organisationStub } from '../../src/credits/organisation-stub.ts'
import { findPayment } from '../../src/billing/payments.ts'
import { syncSubscription } from '../../src/billing/subscription.ts'
import { deliver, shopOnPlan } from '../support/billing.ts'
import { PAST_GRACE_MS, passTime, runCron } from '../support/deletion.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'
import { cellsWith, NOTHING_STORED, storedIn } from '../support/traces.ts'
import { operator } from '../support/world.ts'

let provider: FakePaymentProvider
beforeEach(() => void (provider = fakePayments()))
afterEach(() => void vi.useRealTimers())

async function pastGracePeriod() {
  const shop = await shopOnPlan(provider, 'growth')
  const { organisationId } = shop
  const customer = {
    id: `cus_${organisationId}`,
    organisationId,
    name: 'Acme',
    origin: 'https://a.test',
  }
  await database(env).insert(sandboxCustomers).values(customer)
  await operator.delete(`/operator/organisations/${shop.organisationId}`)
  passTime(PAST_GRACE_MS)
  return shop
}

const organisationExists = async (id: string) =>
  (await env.DB.prepare('SELECT 1 FROM organisations WHERE id = ?').bind(id).first()) !== null

describe('the deletion of an organisation', () => {
  it('ends the subscription and leaves only payments and the closing record', async () => {
    const { organisationId, paymentId } = await pastGracePeriod()
    await runCron()
    expect(await organisationExists(organisationId)).toBe(false)
    expect(provider.subscriptionOf(organisationId)?.status).toBe('ended')
    expect(await findPayment(env, paymentId)).toMatchObject({
      status: 'paid',
      amount: 4_900,
      paymentMethod: null,
    })
    expect((await cellsWith(organisationId)).sort()).toEqual([
      'closed_organisations.id',
      'payments.organisation_id',
    ])
  })

  it('ignores events of its subscription', async () => {
    const { organisationId, subscriptionId } = await pastGracePeriod()
    await runCron()
    expect(await deliver(provider, provider.end(subscriptionId))).toBe('ignored')
    expect(await findBillingAccount(env, organisationId)).toBeUndefined()
    expect(await storedIn(organisationId)).toEqual(NOTHING_STORED)
  })

  it('is completed in a later run when the provider is unavailable', async () => {
    const { organisationId } = await pastGracePeriod()
    provider.fail('endSubscription', 'before')
    await expect(runCron()).rejects.toMatchObject({ code: 'unavailable' })
    expect(await organisationExists(organisationId)).toBe(true)
    await runCron()
    expect(await organisationExists(organisationId)).toBe(false)
    expect(provider.subscriptionOf(organisationId)?.status).toBe('ended')
  })
})

describe('a scheduled deletion', () => {
  it('ends the subscription with its period', async () => {
    const { organisationId } = await shopOnPlan(provider, 'growth')
    await operator.delete(`/operator/organisations/${organisationId}`)
    await vi.waitUntil(() => provider.subscriptionOf(organisationId)?.endsAtPeriodEnd)
    await syncSubscription({ env, account: organisationStub(env, organisationId), organisationId })
    expect(await findBillingAccount(env, organisationId)).toMatchObject({ nextPlan: 'starter' })
    expect(provider.calls.filter((call) => call === 'setNextPlan')).toHaveLength(1)
  })
})

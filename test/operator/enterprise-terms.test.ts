// Enterprise terms through /operator.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { saveBillingAccount } from '../../src/billing/billing-account.ts'
import { organisationStub } from '../../src/credits/organisation-stub.ts'
import { grantIncludedCredits } from '../../src/billing/enterprise-terms.ts'
import { newId } from '../../src/platform/ids.ts'
import { BASE, codeOf, request } from '../support/client.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'
import { ledgerOf, newOrganisation, operator } from '../support/world.ts'

const path = (orgId: string, rest = '') => `/operator/organisations/${orgId}${rest}`

const TERMS = {
  monthly_fee: 150_000,
  included_credits: 40_000,
  credit_price: 4,
  rate_limit_per_minute: 5_000,
}

const setTerms = (orgId: string, terms: object = TERMS) =>
  request(path(orgId, '/terms'), {
    method: 'PUT',
    headers: { Authorization: `Bearer ${env.OPERATOR_TOKEN}` },
    body: JSON.stringify(terms),
  })

const auditActions = async (orgId: string): Promise<string[]> => {
  const log = await operator.get(path(orgId, '/audit-log'))
  const { entries } = await log.json<{ entries: { action: string }[] }>()
  return entries.map(({ action }) => action)
}

const monthStart = (months: number) => {
  const now = new Date()
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)
}

describe('PUT /operator/organisations/{org_id}/terms', () => {
  it('sets plan, rate limit and terms, and grants the credits of the month', async () => {
    const shop = await newOrganisation({ credits: 5, region_code: 'IN' })
    const response = await setTerms(shop.orgId)
    expect(response.status).toBe(200)
    const body = await response.json()
    expect(body).toEqual({ org_id: shop.orgId, currency_code: 'INR', ...TERMS })
    expect(await (await operator.get(path(shop.orgId, '/terms'))).json()).toEqual(body)
    const account = await shop.live.get('/v1/account')
    expect(account.headers.get('RateLimit-Policy')).toBe('"default";q=5000;w=60')
    expect(await account.json()).toMatchObject({ plan: 'enterprise', credits: 40_005 })
    expect(await auditActions(shop.orgId)).toContain('enterprise_terms.updated')
  })

  it('changes nothing when it is repeated', async () => {
    const shop = await newOrganisation({ credits: 0 })
    await Promise.all([setTerms(shop.orgId), setTerms(shop.orgId)])
    await setTerms(shop.orgId)
    expect(await ledgerOf(shop)).toMatchObject({ granted: 40_000, balance: 40_000 })
    const actions = await auditActions(shop.orgId)
    await setTerms(shop.orgId)
    expect(await auditActions(shop.orgId)).toEqual(actions)
  })

  it('grants new terms from the next month on', async () => {
    const shop = await newOrganisation({ credits: 0 })
    await setTerms(shop.orgId)
    await setTerms(shop.orgId, { ...TERMS, included_credits: 7 })
    expect(await ledgerOf(shop)).toMatchObject({ granted: 40_000 })
    const grant = (now: number) =>
      grantIncludedCredits({
        env,
        account: organisationStub(env, shop.orgId),
        organisationId: shop.orgId,
        now,
      })
    const nextMonth = monthStart(1)
    expect(await grant(nextMonth - 1)).toBe(nextMonth)
    expect(await ledgerOf(shop)).toMatchObject({ granted: 40_000 })
    expect(await grant(nextMonth)).toBe(monthStart(2))
    expect(await grant(nextMonth + 1)).toBe(monthStart(2))
    expect(await ledgerOf(shop)).toMatchObject({ granted: 40_007 })
  })

  it('grants no credits after the organisation has left the plan', async () => {
    const shop = await newOrganisation({ credits: 0 })
    await setTerms(shop.orgId)
    await operator.patch(path(shop.orgId), { plan: 'starter' })
    const account = organisationStub(env, shop.orgId)
    const organisationId = shop.orgId
    const now = monthStart(1)
    expect(await grantIncludedCredits({ env, account, organisationId, now })).toBeUndefined()
    expect(await ledgerOf(shop)).toMatchObject({ granted: 40_000 })
    expect((await operator.get(path(shop.orgId, '/terms'))).status).toBe(404)
  })

  it('grants nothing when the terms include no credits', async () => {
    const shop = await newOrganisation({ credits: 3 })
    expect((await setTerms(shop.orgId, { ...TERMS, included_credits: 0 })).status).toBe(200)
    expect(await ledgerOf(shop)).toMatchObject({ granted: 3 })
  })

  it('can be repeated after the database has failed', async () => {
    const shop = await newOrganisation({ credits: 0 })
    const batch = env.DB.batch.bind(env.DB)
    vi.spyOn(env.DB, 'batch').mockImplementation((statements) =>
      statements.length > 2 ? Promise.reject(new Error('D1 failed')) : batch(statements),
    )
    expect((await setTerms(shop.orgId)).status).toBe(500)
    vi.restoreAllMocks()
    expect(await (await operator.get(path(shop.orgId))).json()).toMatchObject({ plan: 'starter' })
    expect(await ledgerOf(shop)).toMatchObject({ granted: 0 })
    expect((await setTerms(shop.orgId)).status).toBe(200)
    expect(await ledgerOf(shop)).toMatchObject({ granted: 40_000 })
  })

  describe('with a subscription', () => {
    async function subscribed() {
      const provider = fakePayments()
      const shop = await newOrganisation({ credits: 0, plan: 'growth' })
      const paymentId = newId('pay')
      await provider.startCheckout({
        paymentId,
        customer: {
          organisationId: shop.orgId,
          organisationName: 'Shop',
          currency: 'USD',
          customerId: null,
          email: null,
        },
        purchase: { kind: 'plan', plan: 'growth', amount: 4_900 },
        returnUrl: BASE,
      })
      provider.pay(paymentId)
      const { subscriptionId } = provider.stateOf(paymentId)
      await saveBillingAccount(env, shop.orgId, { provider: 'sandbox', subscriptionId })
      return { provider, shop }
    }

    it('ends the subscription with its period', async () => {
      const { provider, shop } = await subscribed()
      expect((await setTerms(shop.orgId)).status).toBe(200)
      expect(provider.subscriptionOf(shop.orgId)).toMatchObject({
        status: 'active',
        endsAtPeriodEnd: true,
      })
      expect(await (await operator.get(path(shop.orgId))).json()).toMatchObject({
        plan: 'enterprise',
      })
    })

    it.each([
      ['before', 503, 'payment_provider_unavailable'],
      ['after', 503, 'payment_provider_unavailable'],
      ['rejected', 422, 'validation_error'],
    ] as const)('changes nothing when the provider fails: %s', async (outage, status, code) => {
      const { provider, shop } = await subscribed()
      provider.fail('setNextPlan', outage)
      const response = await setTerms(shop.orgId)
      expect([response.status, await codeOf(response)]).toEqual([status, code])
      expect(await (await operator.get(path(shop.orgId))).json()).toMatchObject({
        plan: 'growth',
        ledger: { granted: 0 },
      })
      expect((await setTerms(shop.orgId)).status).toBe(200)
      expect(await ledgerOf(shop)).toMatchObject({ granted: 40_000 })
    })
  })

  it.each([
    {},
    { ...TERMS, monthly_fee: -1 },
    { ...TERMS, monthly_fee: 1.5 },
    { ...TERMS, included_credits: '5' },
    { ...TERMS, included_credits: -1 },
    { ...TERMS, credit_price: 0 },
    { ...TERMS, rate_limit_per_minute: 0 },
    { ...TERMS, rate_limit_per_minute: null },
    { ...TERMS, currency_code: 'EUR' },
  ])('rejects %j', async (terms) => {
    const shop = await newOrganisation({ credits: 0 })
    const response = await setTerms(shop.orgId, terms)
    expect([response.status, await codeOf(response)]).toEqual([422, 'validation_error'])
    expect(await ledgerOf(shop)).toMatchObject({ granted: 0 })
  })

  it('returns 404 for an unknown organisation and one without terms', async () => {
    expect((await setTerms(newId('org'))).status).toBe(404)
    const shop = await newOrganisation()
    expect((await operator.get(path(shop.orgId, '/terms'))).status).toBe(404)
  })
})

// Rate limits of plans, billing and payments through /operator.
import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { insertPayment, type NewPayment } from '../../src/billing/payments.ts'
import { saveBillingAccount } from '../../src/billing/billing-account.ts'
import { database } from '../../src/platform/db/database.ts'
import { payments } from '../../src/platform/db/billing-schema.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { newId } from '../../src/platform/ids.ts'
import { codeOf, request } from '../support/client.ts'
import { newOrganisation, operator, type TestOrganisation } from '../support/world.ts'

const path = (orgId: string, rest = '') => `/operator/organisations/${orgId}${rest}`

describe('the rate limit of an organisation', () => {
  const rateLimitOf = async (orgId: string) =>
    (await (await operator.get(path(orgId))).json<{ rate_limit_per_minute: number }>())
      .rate_limit_per_minute
  const created = async (options: object) => {
    const response = await operator.post('/operator/organisations', { name: 'Shop', ...options })
    return response.json<{ org_id: string; rate_limit_per_minute: number }>()
  }

  it.each([
    ['starter', 60],
    ['growth', 300],
    ['scale', 1_200],
    ['enterprise', 1_200],
  ])('is that of the plan %s unless it is given', async (plan, rate_limit_per_minute) => {
    expect(await created({ plan })).toMatchObject({ plan, rate_limit_per_minute })
    const overridden = await created({ plan, rate_limit_per_minute: 7 })
    expect(overridden).toMatchObject({ plan, rate_limit_per_minute: 7 })
  })

  it('follows the plan until an operator overrides it, and again after null', async () => {
    const { org_id } = await created({})
    const change = async (body: object) => {
      expect((await operator.patch(path(org_id), body)).status).toBe(200)
      return rateLimitOf(org_id)
    }
    expect(await change({ plan: 'growth' })).toBe(300)
    expect(await change({ rate_limit_per_minute: 300 })).toBe(300)
    expect(await change({ plan: 'scale' })).toBe(300)
    expect(await change({ rate_limit_per_minute: null })).toBe(1_200)
    expect(await change({ plan: 'growth' })).toBe(300)
    expect(await change({ plan: 'scale', rate_limit_per_minute: 9 })).toBe(9)
    expect(await change({ plan: 'starter', rate_limit_per_minute: null })).toBe(60)
    expect(await change({ status: 'suspended' })).toBe(60)
  })
})

describe('GET /operator/organisations/{org_id}/billing', () => {
  it('shows an organisation without payments', async () => {
    const shop = await newOrganisation()
    expect(await (await operator.get(path(shop.orgId, '/billing'))).json()).toEqual({
      org_id: shop.orgId,
      plan: 'starter',
      currency_code: 'USD',
      rate_limit_overridden: true,
      customer: null,
      subscription: null,
      auto_reload: {
        enabled: false,
        threshold: 50,
        pack: 500,
        pack_price: 4_000,
        monthly_max: 16_000,
        ceiling: 500_000,
      },
    })
  })

  it('shows the customer and the subscription', async () => {
    const shop = await newOrganisation({ plan: 'growth' })
    await saveBillingAccount(env, shop.orgId, {
      provider: 'sandbox',
      customerId: 'cus_1',
      paymentMethod: 'Visa •••• 4242',
      subscriptionId: 'sub_1',
      subscriptionStatus: 'past_due',
      nextPlan: 'starter',
      periodEnd: new Date('2026-12-01T00:00:00Z'),
      graceUntil: new Date('2026-12-08T00:00:00Z'),
    })
    expect(await (await operator.get(path(shop.orgId, '/billing'))).json()).toMatchObject({
      plan: 'growth',
      customer: { provider: 'sandbox', id: 'cus_1', payment_method: 'Visa •••• 4242' },
      subscription: {
        id: 'sub_1',
        status: 'past_due',
        next_plan: 'starter',
        period_end: '2026-12-01T00:00:00.000Z',
        grace_until: '2026-12-08T00:00:00.000Z',
      },
    })
  })

  it('returns 404 for an unknown organisation', async () => {
    expect((await operator.get(path(newId('org'), '/billing'))).status).toBe(404)
    expect((await operator.get(path(newId('org'), '/payments'))).status).toBe(404)
  })
})

const isPayment = (id: string) => eq(payments.id, id)

const addPayment = ({ orgId }: TestOrganisation, fields: Partial<NewPayment> = {}) =>
  insertPayment(env, SYSTEM, {
    organisationId: orgId,
    kind: 'pack',
    plan: null,
    credits: 500,
    amount: 4_000,
    currency: 'USD',
    provider: 'sandbox',
    createdBy: null,
    ...fields,
  })

interface PaymentsPage {
  payments: { payment_id: string; org_id: string; status: string }[]
  next_cursor: string | null
  has_more: boolean
}

describe('GET /operator/payments', () => {
  it('lists the payments of an organisation in pages, newest first', async () => {
    const shop = await newOrganisation()
    await addPayment(await newOrganisation())
    const ids: string[] = []
    for (let count = 0; count < 3; count++) ids.unshift((await addPayment(shop)).id)
    const page = async (query: string) =>
      (await operator.get(path(shop.orgId, `/payments${query}`))).json<PaymentsPage>()
    const first = await page('?limit=2')
    expect(first.payments.map(({ payment_id }) => payment_id)).toEqual(ids.slice(0, 2))
    expect(first).toMatchObject({ has_more: true, next_cursor: ids[1] })
    const second = await page(`?limit=2&cursor=${first.next_cursor}`)
    expect(second.payments.map(({ payment_id }) => payment_id)).toEqual(ids.slice(2))
    expect(second).toMatchObject({ has_more: false, next_cursor: null })
  })

  it('lists the payments of all organisations by status', async () => {
    const [one, two] = [await newOrganisation(), await newOrganisation()]
    const open = await addPayment(one)
    const failed = await addPayment(two)
    await database(env).update(payments).set({ status: 'failed' }).where(isPayment(failed.id))
    const idsOf = async (query: string) => {
      const response = await operator.get(`/operator/payments?limit=100${query}`)
      return (await response.json<PaymentsPage>()).payments.map(({ payment_id }) => payment_id)
    }
    expect(await idsOf('')).toEqual(expect.arrayContaining([open.id, failed.id]))
    expect(await idsOf('&status=open')).toContain(open.id)
    expect(await idsOf('&status=open')).not.toContain(failed.id)
    expect(await idsOf('&status=failed')).toContain(failed.id)
    expect(await idsOf(`&cursor=${failed.id}`)).not.toContain(failed.id)
  })

  it.each(['limit=0', 'limit=101', 'cursor=x', 'status=closed', 'status=open&status=paid'])(
    'rejects %s',
    async (query) => {
      const response = await operator.get(`/operator/payments?${query}`)
      expect([response.status, await codeOf(response)]).toEqual([422, 'validation_error'])
    },
  )

  it.each([
    ['the newest', '', 'sqlite_autoindex_payments_1'],
    ['those of a status', "WHERE status = 'failed' AND id < 'pay_z'", 'payments_by_status'],
    [
      'those of an organisation',
      "WHERE organisation_id = 'org' AND id < 'pay_z'",
      'payments_by_organisation',
    ],
  ])('reads only the rows of a page: %s', async (_, condition, index) => {
    const { results } = await env.DB.prepare(
      `EXPLAIN QUERY PLAN SELECT * FROM payments ${condition} ORDER BY id DESC LIMIT 21`,
    ).all<{ detail: string }>()
    const plan = results.map(({ detail }) => detail).join('; ')
    expect(plan).toContain(index)
    expect(plan).not.toContain('TEMP B-TREE')
  })

  it('shows a payment without the URL of its payment page', async () => {
    const shop = await newOrganisation()
    const { id } = await addPayment(shop)
    await database(env)
      .update(payments)
      .set({ actionUrl: 'https://pay.test/secret' })
      .where(isPayment(id))
    const response = await operator.get(`/operator/payments/${id}`)
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({
      payment_id: id,
      org_id: shop.orgId,
      kind: 'pack',
      status: 'open',
      credits: 500,
      credits_reversed: 0,
      amount: 4_000,
      amount_refunded: 0,
      currency_code: 'USD',
      dispute: null,
      provider: 'sandbox',
      paid_at: null,
    })
    expect(text).not.toContain('pay.test')
  })

  it.each([newId('pay'), 'pay_x', 'x'])('returns 404 for %s', async (id) => {
    const response = await operator.get(`/operator/payments/${id}`)
    expect([response.status, await codeOf(response)]).toEqual([404, 'not_found'])
  })

  it('requires the operator token', async () => {
    expect((await request('/operator/payments')).status).toBe(401)
  })
})

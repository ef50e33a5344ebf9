// Billing in the API for staff: enterprise terms, payments and refunds.
import { Hono } from 'hono'
import { findBillingAccount } from '../billing/billing-account.ts'
import { setEnterpriseTerms } from '../billing/enterprise-terms.ts'
import { PaymentError } from '../billing/payment-provider.ts'
import { allPayments, findPayment, paymentsOf } from '../billing/payments.ts'
import { refundPayment } from '../billing/refund-payment.ts'
import { AppError, invalid } from '../domain/errors.ts'
import { pageOf } from '../domain/page.ts'
import { nextPage } from '../http/pagination.ts'
import { validBody, validQuery } from '../http/validation.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { log } from '../platform/log.ts'
import { existingOrganisation, type OperatorApp } from './authenticate-operator.ts'
import { presentBilling, presentPayment, presentTerms } from './present-operator.ts'
import { pageQuery, PaymentsQuery, Refund, Terms } from './requests.ts'

export const billing = new Hono<OperatorApp>()
  .get('/organisations/:orgId/billing', existingOrganisation, async (c) => {
    const { organisation } = c.var
    return c.json(presentBilling(organisation, await findBillingAccount(c.env, organisation.id)))
  })

  .get('/organisations/:orgId/terms', existingOrganisation, async (c) => {
    const { organisation } = c.var
    const terms = (await findBillingAccount(c.env, organisation.id))?.enterpriseTerms
    if (!terms || organisation.plan !== 'enterprise') {
      throw new AppError('not_found', 'This organisation has no enterprise terms.')
    }
    return c.json(presentTerms(organisation, terms))
  })
  .put('/organisations/:orgId/terms', existingOrganisation, validBody(Terms), async (c) => {
    const body = c.req.valid('json')
    const terms = {
      monthlyFee: body.monthly_fee,
      includedCredits: body.included_credits,
      creditPrice: body.credit_price,
    }
    const rateLimitPerMinute = body.rate_limit_per_minute
    await callingProvider(() => setEnterpriseTerms({ ...c.var.request, terms, rateLimitPerMinute }))
    return c.json(presentTerms({ ...c.var.organisation, rateLimitPerMinute }, terms))
  })

  .get(
    '/organisations/:orgId/payments',
    existingOrganisation,
    validQuery(pageQuery('pay')),
    async (c) => {
      const { cursor, limit } = c.req.valid('query')
      const page = { limit: limit + 1, beforeId: cursor }
      return c.json(presentPage(await paymentsOf(c.env, c.var.organisation.id, page), limit))
    },
  )
  .get('/payments', validQuery(PaymentsQuery), async (c) => {
    const { cursor, limit, status } = c.req.valid('query')
    const page = { limit: limit + 1, beforeId: cursor, status }
    return c.json(presentPage(await allPayments(c.env, page), limit))
  })
  .get('/payments/:paymentId', async (c) => {
    const payment = await findPayment(c.env, c.req.param('paymentId'))
    if (!payment) throw new AppError('not_found', 'No payment with this id.')
    return c.json(presentPayment(payment))
  })
  .post('/payments/:paymentId/refund', validBody(Refund), async (c) => {
    const paymentId = c.req.param('paymentId')
    const { amount, ...refund } = c.req.valid('json')
    const payment = await callingProvider(() =>
      refundPayment({ ...c.var.staff, paymentId, amount, ...refund }),
    )
    return c.json(presentPayment(payment))
  })

/** @param found up to `limit + 1` payments */
function presentPage(found: PaymentRow[], limit: number) {
  const page = pageOf(found, limit)
  return { payments: page.rows.map(presentPayment), ...nextPage(page) }
}

/**
 * Runs a use case that calls the payment provider. Shows the provider's message to staff.
 * @throws AppError validation_error when the provider rejects the request, and
 * payment_provider_unavailable when it cannot be reached
 */
async function callingProvider<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error
    log.error('payment provider failed', error)
    if (error.code !== 'rejected') throw new AppError('payment_provider_unavailable')
    throw invalid(error.message)
  }
}

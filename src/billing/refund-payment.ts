// Refunds a payment at the request of an operator.
import { and, eq } from 'drizzle-orm'
import { organisationStub } from '../credits/organisation-stub.ts'
import type { Actor } from '../domain/actor.ts'
import { AppError, invalid } from '../domain/errors.ts'
import { auditInsert } from '../organisations/audit-log.ts'
import { requireOperator } from '../organisations/authorisation.ts'
import { refundRequests, type PaymentRow } from '../platform/db/billing-schema.ts'
import { database, IF_CHANGED } from '../platform/db/database.ts'
import { log } from '../platform/log.ts'
import { providerNamed } from './choose-provider.ts'
import { PaymentError } from './payment-provider.ts'
import { findPayment } from './payments.ts'
import { refreshPayment } from './refresh-payment.ts'

interface Refund {
  env: Env
  actor: Actor
  paymentId: string
  amount: number | undefined
  reason: string
  reference: string
}

/**
 * Refunds a part of a paid payment and takes back the same share of its credits. For operators.
 * @param amount minor units; undefined refunds the rest
 * @param reference repeating it with the same payment refunds once, the amount of the first call
 * @throws AppError not_found, or validation_error when it is not paid or less than `amount` is left
 * @throws PaymentError `unavailable`: repeat it with the same reference
 */
export async function refundPayment(request: Refund): Promise<PaymentRow> {
  const { env, actor, paymentId, reference } = request
  requireOperator(actor)
  const stored = await findPayment(env, paymentId)
  if (!stored) throw new AppError('not_found')
  const account = organisationStub(env, stored.organisationId)
  const payment = await refreshPayment({ env, account, payment: stored })
  if (payment.status !== 'paid' || payment.providerReference === null) {
    throw invalid('Only a paid payment can be refunded.')
  }
  const [earlier] = await selectRequest(env, paymentId, reference)
  const amount = earlier?.amount ?? (await recordRequest(request, payment))
  try {
    await providerNamed(env, payment.provider).refund({
      refundId: `${paymentId}:${reference}`,
      reference: payment.providerReference,
      amount,
    })
  } catch (error) {
    if (!(error instanceof PaymentError) || error.code !== 'rejected') throw error
    log.error('refund rejected', error, { paymentId })
    throw invalid('The payment provider has rejected the refund.')
  }
  return refreshPayment({ env, account, payment })
}

/** The statement that selects the first request with this reference, whose amount a repeated one refunds. */
const selectRequest = (env: Env, paymentId: string, reference: string) =>
  database(env)
    .select({ amount: refundRequests.amount })
    .from(refundRequests)
    .where(and(eq(refundRequests.paymentId, paymentId), eq(refundRequests.reference, reference)))

/**
 * Stores a request, with its audit entry.
 * @returns the amount of the request that was first
 * @throws AppError validation_error
 */
async function recordRequest(request: Refund, payment: PaymentRow): Promise<number> {
  const { env, actor, paymentId, reason, reference } = request
  const rest = payment.amount - payment.amountRefunded
  if (rest <= 0) throw invalid('This payment is already refunded.')
  const { amount = rest } = request
  if (!Number.isSafeInteger(amount) || amount <= 0 || amount > rest) {
    throw invalid(`The amount must be 1 to ${rest}.`)
  }
  const details = { amount, reason, reference }
  const { organisationId } = payment
  const entry = { env, organisationId, actor, target: paymentId, details }
  const [, , [stored]] = await database(env).batch([
    database(env)
      .insert(refundRequests)
      .values({ paymentId, reference, amount, createdAt: new Date() })
      .onConflictDoNothing(),
    auditInsert({ ...entry, action: 'payment.refund_requested' }, IF_CHANGED),
    selectRequest(env, paymentId, reference),
  ])
  return stored?.amount ?? amount
}

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

/**
 * Refunds a part of a paid payment and takes back the same share of its credits. For operators.
 * @param amount minor units; undefined refunds the rest
 * @param reference repeating it with the same payment refunds once, the amount of the first call
 * @throws AppError not_found, or validation_error when it is not paid or less than `amount` is left
 * @throws PaymentError `unavailable`: repeat it with the same reference
 */
export async function refundPayment(request: {
  env: Env
  actor: Actor
  paymentId: string
  amount: number | undefined
  reason: string
  reference: string
}): Promise<PaymentRow> {
  const { env, actor, paymentId, reason, reference } = request
  requireOperator(actor)
  const stored = await findPayment(env, paymentId)
  if (!stored) throw new AppError('not_found')
  const account = organisationStub(env, stored.organisationId)
  const payment = await refreshPayment({ env, account, payment: stored })
  if (payment.status !== 'paid' || payment.providerReference === null) {
    throw invalid('Only a paid payment can be refunded.')
  }
  let amount = await requestedAmount(env, paymentId, reference)
  if (amount === undefined) {
    const details = { amount: refundable(payment, request.amount), reason, reference }
    amount = await recordRequest(env, actor, payment, details)
  }
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

/** @throws AppError validation_error */
function refundable(payment: PaymentRow, amount: number | undefined): number {
  const rest = payment.amount - payment.amountRefunded
  if (rest <= 0) throw invalid('This payment is already refunded.')
  if (amount !== undefined && (!Number.isSafeInteger(amount) || amount <= 0 || amount > rest)) {
    throw invalid(`The amount must be 1 to ${rest}.`)
  }
  return amount ?? rest
}

/** The amount of the first request with this reference, which a repeated one refunds. */
async function requestedAmount(env: Env, paymentId: string, reference: string) {
  const stored = await database(env)
    .select({ amount: refundRequests.amount })
    .from(refundRequests)
    .where(and(eq(refundRequests.paymentId, paymentId), eq(refundRequests.reference, reference)))
    .get()
  return stored?.amount
}

/** Stores a request, with its audit entry. @returns the amount of the request that was first */
async function recordRequest(
  env: Env,
  actor: Actor,
  { organisationId, id: paymentId }: PaymentRow,
  details: { amount: number; reason: string; reference: string },
): Promise<number> {
  const { amount, reference } = details
  const entry = { env, organisationId, actor, target: paymentId, details }
  const [inserted] = await database(env).batch([
    database(env)
      .insert(refundRequests)
      .values({ paymentId, reference, amount, createdAt: new Date() })
      .onConflictDoNothing()
      .returning({ amount: refundRequests.amount }),
    auditInsert({ ...entry, action: 'payment.refund_requested' }, IF_CHANGED),
  ])
  return inserted[0]?.amount ?? (await requestedAmount(env, paymentId, reference)) ?? amount
}

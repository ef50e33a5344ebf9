// Refunds a payment at the request of an operator.
import { and, eq, gte, sql } from 'drizzle-orm'
import { auditInsert } from '../access/audit-log.ts'
import { requireOperator } from '../access/authorisation.ts'
import { database } from '../db/client.ts'
import { auditLog } from '../db/schema.ts'
import type { PaymentRow } from '../db/billing-schema.ts'
import type { Actor } from '../domain/actor.ts'
import { AppError } from '../domain/errors.ts'
import { firstIdSince } from '../ids.ts'
import { log } from '../log.ts'
import { providerNamed } from './choose.ts'
import { creditAccountOf } from './credit-account.ts'
import { findPayment } from './payments.ts'
import { PaymentError } from './provider.ts'
import { refreshPayment } from './refresh-payment.ts'

/**
 * Refunds a part of a paid payment and takes back the same share of its credits. For operators.
 * @param amount minor units; undefined refunds the rest
 * @param reference repeating it with the same payment refunds once, the amount of the first call
 * @returns the payment after it
 * @throws AppError not_found, or validation_error when it is not paid or less than `amount` is left
 * @throws PaymentError `unavailable`: repeat it with the same reference
 */
export async function refundPayment({
  env,
  actor,
  paymentId,
  amount,
  reason,
  reference,
}: {
  env: Env
  actor: Actor
  paymentId: string
  amount: number | undefined
  reason: string
  reference: string
}): Promise<PaymentRow> {
  requireOperator(actor)
  const stored = await findPayment(env, paymentId)
  if (!stored) throw new AppError('not_found')
  const account = creditAccountOf(env, stored.organisationId)
  const payment = await refreshPayment({ env, account, payment: stored })
  if (payment.status !== 'paid' || payment.providerReference === null) {
    throw new AppError('validation_error', 'Only a paid payment can be refunded.')
  }
  let requested = await requestedAmount(env, payment, reference)
  if (requested === undefined) {
    requested = refundable(payment, amount)
    const details = { amount: requested, reason, reference }
    await recordRequest(env, actor, payment, details)
    // A concurrent call with this reference may have recorded its request first.
    requested = (await requestedAmount(env, payment, reference)) ?? requested
  }
  try {
    await providerNamed(env, payment.provider).refund({
      refundId: `${paymentId}:${reference}`,
      reference: payment.providerReference,
      amount: requested,
    })
  } catch (error) {
    if (!(error instanceof PaymentError) || error.code !== 'rejected') throw error
    log.error('refund rejected', error, { paymentId })
    throw new AppError('validation_error', 'The payment provider has rejected the refund.')
  }
  return refreshPayment({ env, account, payment })
}

/** @throws AppError validation_error */
function refundable(payment: PaymentRow, amount: number | undefined): number {
  const rest = payment.amount - payment.amountRefunded
  if (rest <= 0) throw new AppError('validation_error', 'This payment is already refunded.')
  if (amount !== undefined && (!Number.isSafeInteger(amount) || amount <= 0 || amount > rest)) {
    throw new AppError('validation_error', `The amount must be 1 to ${rest}.`)
  }
  return amount ?? rest
}

const isRequest = ({ organisationId, id, createdAt }: PaymentRow, reference: string) =>
  and(
    eq(auditLog.organisationId, organisationId),
    gte(auditLog.id, firstIdSince('aud', createdAt.getTime())),
    eq(auditLog.action, 'payment.refund_requested'),
    eq(auditLog.target, id),
    sql`json_extract(${auditLog.details}, '$.reference') = ${reference}`,
  )

/** The audit log contains the requests, so that a repeated one has the same amount. */
async function requestedAmount(
  env: Env,
  payment: PaymentRow,
  reference: string,
): Promise<number | undefined> {
  const [entry] = await database(env)
    .select({ details: auditLog.details })
    .from(auditLog)
    .where(isRequest(payment, reference))
    .orderBy(auditLog.id)
    .limit(1)
  return entry && Number(entry.details?.['amount'])
}

async function recordRequest(
  env: Env,
  actor: Actor,
  payment: PaymentRow,
  details: { amount: number; reason: string; reference: string },
): Promise<void> {
  const { organisationId, id: target } = payment
  await auditInsert(
    env,
    { organisationId, actor, action: 'payment.refund_requested', target, details },
    sql`not exists (select 1 from ${auditLog} where ${isRequest(payment, details.reference)})`,
  )
}

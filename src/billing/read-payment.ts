// Reads one payment.
import { requirePermission } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import type { PaymentRow } from '../db/billing-schema.ts'
import { AppError } from '../domain/errors.ts'
import { log } from '../log.ts'
import { creditAccountOf } from './credit-account.ts'
import { findPayment } from './payments.ts'
import { PaymentError } from './provider.ts'
import { refreshPayment } from './refresh-payment.ts'

/** The page that waits for a confirmation reads the payment more often than this. */
const REFRESH_AFTER_MS = 2_000

/**
 * Reads a payment. Asks the provider about an open one. For the permission `billing`.
 * @returns the stored payment when the provider cannot be reached
 * @throws AppError not_found
 */
export async function readPayment({
  env,
  actor,
  organisationId,
  paymentId,
}: OrganisationRequest & { paymentId: string }): Promise<PaymentRow> {
  await requirePermission({ env, actor, organisationId }, 'billing')
  const payment = await findPayment(env, paymentId)
  if (payment?.organisationId !== organisationId) throw new AppError('not_found')
  const isRecent = Date.now() - payment.checkedAt.getTime() <= REFRESH_AFTER_MS
  if (payment.status !== 'open' || isRecent) return payment
  try {
    return await refreshPayment({ env, account: creditAccountOf(env, organisationId), payment })
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error
    log.warn('payment not refreshed', { paymentId, reason: error.message })
    return payment
  }
}

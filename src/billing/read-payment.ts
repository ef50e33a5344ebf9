// Reads one payment.
import { requirePermission } from '../organisations/authorisation.ts'
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { AppError } from '../domain/errors.ts'
import { log } from '../platform/log.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { claimCheck, findPayment } from './payments.ts'
import { PaymentError } from './payment-provider.ts'
import { refreshPayment } from './refresh-payment.ts'

/** The page that waits for a confirmation reads the payment more often than this, also in several windows. */
const REFRESH_AFTER_MS = 2_000

/**
 * Reads a payment. Asks the provider about an open one, one reader at a time. For the permission `billing`.
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
  if (payment.status !== 'open' || !(await claimCheck(env, payment, REFRESH_AFTER_MS))) {
    return payment
  }
  try {
    return await refreshPayment({ env, account: organisationStub(env, organisationId), payment })
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error
    log.warn('payment not refreshed', { paymentId, reason: error.message })
    return payment
  }
}

// Discards a payment that the customer has started and not completed.
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { providerNamed } from './choose-provider.ts'
import { hasProviderAmount } from './payments.ts'
import { readPayment } from './read-payment.ts'
import { refreshPayment } from './refresh-payment.ts'

/** Whether a payment waits on a page for the customer, which can be closed. An upgrade has an invoice. */
export const isDiscardable = (payment: PaymentRow): boolean =>
  payment.status === 'open' && payment.actionUrl !== null && !hasProviderAmount(payment)

/**
 * Closes the page of an open payment, which is then expired. A payment that was paid meanwhile stays paid.
 * For the permission `billing`.
 * @throws AppError not_found
 * @throws PaymentError
 */
export async function discardPayment(
  request: OrganisationRequest & { paymentId: string },
): Promise<void> {
  const payment = await readPayment(request)
  const { providerReference: reference } = payment
  if (!isDiscardable(payment) || reference === null) return
  const { env, organisationId } = request
  await providerNamed(env, payment.provider).expireCheckout(reference)
  await refreshPayment({ env, account: organisationStub(env, organisationId), payment })
}

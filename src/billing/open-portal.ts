// Opens the provider's page for payment method, billing address and tax id, and reads the payment method
// afterwards.
import { requirePermission } from '../organisations/authorisation.ts'
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import { AppError } from '../domain/errors.ts'
import { findBillingAccount, saveBillingAccount } from './billing-account.ts'
import { billingPage } from './buyer.ts'
import { providerNamed } from './choose-provider.ts'

/**
 * Creates a link to the provider's portal. It signs the user in there: never store or log it. For the permission `billing`.
 * @throws AppError not_found, or validation_error before the first payment
 * @throws PaymentError
 */
export async function openPortal({
  env,
  actor,
  organisationId,
  baseUrl,
}: OrganisationRequest & { baseUrl: string }): Promise<string> {
  await requirePermission({ env, actor, organisationId }, 'billing')
  const account = await findBillingAccount(env, organisationId)
  if (!account?.provider || account.customerId === null) {
    throw new AppError(
      'validation_error',
      'Billing details can be changed after the first payment.',
    )
  }
  return providerNamed(env, account.provider).portalUrl({
    customerId: account.customerId,
    returnUrl: `${billingPage(baseUrl, organisationId)}/portal/return`,
  })
}

/**
 * Reads the stored payment method from the provider, which may have changed in its portal. For the
 * permission `billing`.
 * @throws AppError not_found
 * @throws PaymentError
 */
export async function refreshPaymentMethod(request: OrganisationRequest): Promise<void> {
  await requirePermission(request, 'billing')
  const { env, organisationId } = request
  const account = await findBillingAccount(env, organisationId)
  if (!account?.provider || account.customerId === null) return
  const paymentMethod = await providerNamed(env, account.provider).paymentMethod(account.customerId)
  await saveBillingAccount(env, organisationId, { paymentMethod })
}

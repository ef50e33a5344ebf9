// Opens the provider's page for payment method, billing address and tax id.
import { requirePermission } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { AppError } from '../domain/errors.ts'
import { findBillingAccount } from './billing-account.ts'
import { billingPage } from './buyer.ts'
import { providerNamed } from './choose.ts'

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
    returnUrl: billingPage(baseUrl, organisationId),
  })
}

// Buys a pack of credits through the provider's payment page.
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { AppError } from '../domain/errors.ts'
import { findBillingAccount } from './billing-account.ts'
import { openCheckout, requireBuyer, requireCurrentPrice } from './buyer.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { isPack, PACK_CHOICES, packPriceFor } from './plans.ts'
import { startPayment } from './start-payment.ts'

/**
 * Starts the purchase of a pack. For the permission `billing`.
 * @param pack its size, credits
 * @param amount the price that the page showed, minor units
 * @returns the payment; its `actionUrl` is the page where the customer pays
 * @throws AppError not_found, deletion_scheduled or validation_error
 * @throws PaymentError `unavailable`
 */
export async function buyPack({
  env,
  actor,
  organisationId,
  baseUrl,
  pack,
  amount,
  currency,
}: OrganisationRequest & {
  baseUrl: string
  pack: number
  amount: number
  currency: string
}): Promise<PaymentRow> {
  const { organisation, provider } = await requireBuyer({ env, actor, organisationId, baseUrl })
  if (!isPack(pack)) {
    throw new AppError('validation_error', `The pack must be one of ${PACK_CHOICES} credits.`)
  }
  const billing = await findBillingAccount(env, organisationId)
  const price = packPriceFor(organisation, billing?.enterpriseTerms, pack)
  requireCurrentPrice(organisation, { amount, currency }, price)
  return startPayment({
    env,
    account: organisationStub(env, organisationId),
    actor,
    organisation,
    provider,
    purchase: { kind: 'pack', pack, amount: price },
    credits: pack,
    start: (request) => openCheckout(provider, baseUrl, request),
  })
}

// Buys a pack of credits through the provider's payment page.
import type { OrganisationRequest } from '../access/authorisation.ts'
import type { PaymentRow } from '../db/billing-schema.ts'
import { AppError } from '../domain/errors.ts'
import { findBillingAccount } from './billing-account.ts'
import { checkoutUrls, requireBuyer, requireCurrentPrice } from './buyer.ts'
import { creditAccountOf } from './credit-account.ts'
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
    account: creditAccountOf(env, organisationId),
    actor,
    organisation,
    provider,
    purchase: { kind: 'pack', pack, amount: price },
    credits: pack,
    start: (request) =>
      provider.startCheckout({
        ...request,
        ...checkoutUrls(baseUrl, { organisationId: organisation.id, ...request }),
      }),
  })
}

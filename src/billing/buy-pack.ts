// Buys a pack of credits through the provider's payment page.
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { AppError } from '../domain/errors.ts'
import { findBillingAccount, billingPage, findBillableOrganisation } from './billing-account.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { isPack, PACK_CHOICES, packPriceFor, isSelfServicePlan, PLAN_TERMS } from './plans.ts'
import { startPayment } from './start-payment.ts'
import { requirePermission } from '../organisations/authorisation.ts'
import type { OrganisationRow } from '../platform/db/schema.ts'
import type { EnterpriseTerms } from '../domain/billing.ts'
import { currencyOf } from '../domain/organisation.ts'
import { providerFor } from './choose-provider.ts'
import { unfinishedPayments } from './payments.ts'
import type { PaymentProvider, PaymentRequest } from './payment-provider.ts'

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

/** The maximum number of open payments of an organisation. Each stays open for two hours at most. */
const MAX_OPEN_PAYMENTS = 20

/** Creates the page where the customer pays. The provider redirects to the payment, or else to Billing. */
export function openCheckout(provider: PaymentProvider, baseUrl: string, request: PaymentRequest) {
  const cancelUrl = billingPage(baseUrl, request.customer.organisationId)
  const returnUrl = `${cancelUrl}/payments/${request.paymentId}`
  return provider.startCheckout({ ...request, returnUrl, cancelUrl })
}

/** Why an organisation cannot pay; null when it can. */
export function paymentProblem({
  status,
  deleteAfter,
}: Pick<OrganisationRow, 'status' | 'deleteAfter'>): AppError | null {
  if (deleteAfter !== null) return new AppError('deletion_scheduled', PROBLEMS.deletion)
  return status === 'suspended' ? new AppError('validation_error', PROBLEMS.suspension) : null
}
const PROBLEMS = {
  deletion: 'This organisation is scheduled for deletion. Cancel the deletion to buy credits.',
  suspension: 'This organisation is suspended. Contact support before you pay.',
}

/** Whether an open payment still has the price of what it is for. */
export function hasCurrentPrice(
  { kind, plan, credits, amount, currency }: PaymentRow,
  organisation: OrganisationRow,
  terms: EnterpriseTerms | null | undefined,
): boolean {
  if (kind === 'plan') {
    // The provider computes the price of an upgrade.
    const isUpgrade = amount === 0
    return (
      isUpgrade ||
      !plan ||
      !isSelfServicePlan(plan) ||
      amount === PLAN_TERMS[plan].monthlyFee[currency]
    )
  }
  return !isPack(credits) || amount === packPriceFor(organisation, terms, credits)
}

/**
 * Checks that the actor may buy for the organisation. For the permission `billing`.
 * @returns the organisation, and the provider of new payments
 * @throws AppError not_found, deletion_scheduled, or validation_error if it is suspended, without a provider or with too
 * many open payments
 */
export async function requireBuyer({
  baseUrl,
  ...request
}: OrganisationRequest & { baseUrl: string }): Promise<{
  organisation: OrganisationRow
  provider: PaymentProvider
}> {
  await requirePermission(request, 'billing')
  const organisation = await findBillableOrganisation(request.env, request.organisationId)
  if (!organisation) throw new AppError('not_found')
  const problem = paymentProblem(organisation)
  if (problem) throw problem
  const provider = providerFor(request.env, baseUrl)
  if (!provider) {
    throw new AppError('validation_error', 'Payments are not set up. Contact support.')
  }
  const unfinished = await unfinishedPayments(request.env, request.organisationId)
  if (unfinished.filter(({ status }) => status === 'open').length >= MAX_OPEN_PAYMENTS) {
    throw new AppError(
      'validation_error',
      'There are too many open payments. Complete one, or try again in two hours.',
    )
  }
  return { organisation, provider }
}

/**
 * Checks the price and the currency that the page showed.
 * @param shown what the page sent back; `amount` in minor units
 * @param price the current price, minor units
 * @throws AppError validation_error
 */
export function requireCurrentPrice(
  { regionCode }: Pick<OrganisationRow, 'regionCode'>,
  shown: { amount: number; currency: string },
  price: number,
): void {
  const currency = currencyOf(regionCode)
  if (shown.currency !== currency) {
    throw new AppError('validation_error', `The currency of this organisation is ${currency}.`)
  }
  if (shown.amount !== price) {
    throw new AppError(
      'validation_error',
      'The price has changed. Check the new price and try again.',
    )
  }
}

// Buys a pack of credits through the provider's payment page, and what every purchase checks first.
import { organisationStub } from '../credits/organisation-stub.ts'
import type { EnterpriseTerms } from '../domain/billing.ts'
import { AppError, invalid } from '../domain/errors.ts'
import { currencyOf } from '../domain/organisation.ts'
import { requirePermission, type OrganisationRequest } from '../organisations/authorisation.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import type { OrganisationRow } from '../platform/db/schema.ts'
import { billingPage, findBillableOrganisation, findBillingAccount } from './billing-account.ts'
import { providerFor } from './choose-provider.ts'
import type { PaymentProvider, PaymentRequest } from './payment-provider.ts'
import { unfinishedPayments } from './payments.ts'
import { isPack, isSelfServicePlan, PACK_CHOICES, packPriceFor, PLAN_TERMS } from './plans.ts'
import { startPayment } from './start-payment.ts'

/** A purchase on a page of the console. */
export type PurchaseRequest = OrganisationRequest & {
  baseUrl: string
  /** The price that the page showed, minor units. */
  amount: number
  currency: string
}

/**
 * Starts the purchase of a pack. For the permission `billing`.
 * @param request.pack its size, credits
 * @returns the payment; its `actionUrl` is the page where the customer pays
 * @throws AppError not_found, deletion_scheduled or validation_error
 * @throws PaymentError `unavailable`
 */
export async function buyPack(request: PurchaseRequest & { pack: number }): Promise<PaymentRow> {
  const { env, actor, organisationId, baseUrl, pack } = request
  const { organisation, provider } = await requireBuyer(request)
  if (!isPack(pack)) throw invalid(`The pack must be one of ${PACK_CHOICES} credits.`)
  const billing = await findBillingAccount(env, organisationId)
  const price = packPriceFor(organisation, billing?.enterpriseTerms, pack)
  requireCurrentPrice(request, organisation, price)
  return startPayment({
    env,
    account: organisationStub(env, organisationId),
    actor,
    organisation,
    provider,
    purchase: { kind: 'pack', pack, amount: price },
    credits: pack,
    start: (started) => openCheckout(provider, baseUrl, started),
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
export function paymentProblem({ status, deleteAfter }: OrganisationRow): AppError | null {
  if (deleteAfter !== null) {
    return new AppError(
      'deletion_scheduled',
      'This organisation is scheduled for deletion. Cancel the deletion to buy credits.',
    )
  }
  if (status !== 'suspended') return null
  return invalid('This organisation is suspended. Contact support before you pay.')
}

/** Whether an open payment still has the price of what it is for. */
export function hasCurrentPrice(
  { kind, plan, credits, amount, currency }: PaymentRow,
  organisation: OrganisationRow,
  terms: EnterpriseTerms | null | undefined,
): boolean {
  if (kind === 'plan') {
    // The provider computes the price of an upgrade, which has the amount 0.
    if (amount === 0 || !plan || !isSelfServicePlan(plan)) return true
    return amount === PLAN_TERMS[plan].monthlyFee[currency]
  }
  return !isPack(credits) || amount === packPriceFor(organisation, terms, credits)
}

/**
 * Checks that the actor may buy for the organisation. For the permission `billing`.
 * @returns the organisation, and the provider of new payments
 * @throws AppError not_found, deletion_scheduled, or validation_error if it is suspended, without a provider or with too
 * many open payments
 */
export async function requireBuyer(request: PurchaseRequest) {
  await requirePermission(request, 'billing')
  const { env, organisationId, baseUrl } = request
  const organisation = await findBillableOrganisation(env, organisationId)
  if (!organisation) throw new AppError('not_found')
  const problem = paymentProblem(organisation)
  if (problem) throw problem
  const provider = providerFor(env, baseUrl)
  if (!provider) throw invalid('Payments are not set up. Contact support.')
  const unfinished = await unfinishedPayments(env, organisationId)
  if (unfinished.filter(({ status }) => status === 'open').length >= MAX_OPEN_PAYMENTS) {
    throw invalid('There are too many open payments. Complete one, or try again in two hours.')
  }
  return { organisation, provider }
}

/**
 * Checks the price and the currency that the page showed.
 * @param price the current price, minor units
 * @throws AppError validation_error
 */
export function requireCurrentPrice(
  shown: Pick<PurchaseRequest, 'amount' | 'currency'>,
  { regionCode }: OrganisationRow,
  price: number,
): void {
  const currency = currencyOf(regionCode)
  if (shown.currency !== currency)
    throw invalid(`The currency of this organisation is ${currency}.`)
  if (shown.amount !== price)
    throw invalid('The price has changed. Check the new price and try again.')
}

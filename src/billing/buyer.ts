// What every purchase checks first.
import { and, eq } from 'drizzle-orm'
import { requirePermission } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { organisationExists } from '../access/organisation-exists.ts'
import { database } from '../db/client.ts'
import { organisations } from '../db/schema.ts'
import type { OrganisationRow } from '../db/schema.ts'
import { consolePath } from '../domain/console-path.ts'
import { AppError } from '../domain/errors.ts'
import { currencyOf } from '../domain/organisation.ts'
import { providerFor } from './choose.ts'
import { unfinishedPayments } from './payment-lists.ts'
import type { PaymentProvider } from './provider.ts'

/** The maximum number of open payments of an organisation. Each stays open for two hours at most. */
const MAX_OPEN_PAYMENTS = 20

/** The address of the page Billing. */
export const billingPage = (baseUrl: string, organisationId: string): string =>
  `${baseUrl}${consolePath(organisationId, '/billing')}`

/** Where the provider sends the customer after a payment, and without one. */
export const checkoutUrls = (
  baseUrl: string,
  { organisationId, paymentId }: { organisationId: string; paymentId: string },
): { returnUrl: string; cancelUrl: string } => ({
  returnUrl: `${billingPage(baseUrl, organisationId)}/payments/${paymentId}`,
  cancelUrl: billingPage(baseUrl, organisationId),
})

/**
 * Reads an organisation that can be billed.
 * @returns undefined when it does not exist or its deletion has started
 */
export async function findBillableOrganisation(
  env: Env,
  organisationId: string,
): Promise<OrganisationRow | undefined> {
  const [row] = await database(env)
    .select()
    .from(organisations)
    .where(and(eq(organisations.id, organisationId), organisationExists()))
  return row
}

/**
 * Checks that the actor may buy for the organisation. For the permission `billing`.
 * @returns the organisation, and the provider of new payments
 * @throws AppError not_found, deletion_scheduled, or validation_error without a provider or with too
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
  if (organisation.deleteAfter !== null) throw new AppError('deletion_scheduled')
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

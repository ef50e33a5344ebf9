// The organisation as a customer of the payment provider. D1 is the source of truth for which customer
// and subscription belong to it.
import { and, eq, sql, type SQL } from 'drizzle-orm'
import type { CreditAccount } from '../credits/organisation-stub.ts'
import type { PaymentProviderName } from '../domain/billing.ts'
import { consolePath } from '../domain/console-path.ts'
import { invalid } from '../domain/errors.ts'
import { monthStart } from '../domain/month.ts'
import { pageOf } from '../domain/page.ts'
import { currencyOf } from '../domain/organisation.ts'
import { requirePermission, type OrganisationRequest } from '../organisations/authorisation.ts'
import { organisationExists } from '../organisations/organisations.ts'
import {
  billingAccounts,
  payments,
  sandboxCustomers,
  sandboxPayments,
  sandboxSubscriptions,
  type BillingAccountRow,
} from '../platform/db/billing-schema.ts'
import { database, hasChanged } from '../platform/db/database.ts'
import { organisations, type OrganisationRow } from '../platform/db/schema.ts'
import { providerNamed } from './choose-provider.ts'
import { autoReloadSpent, paymentsOf } from './payments.ts'

/** The payments on a page of Billing. */
const PAGE = 20

type BillingAccountChange = Partial<Omit<BillingAccountRow, 'organisationId'>>

export interface BillingSubject {
  env: Env
  organisationId: string
}

/** The parameters of what the service does for an organisation by itself, without an actor. */
export interface BillingTask extends BillingSubject {
  /** The credits of the organisation: the Organisation itself when its alarm calls. */
  account: CreditAccount
}

/** Reads the billing account of an organisation. @returns undefined when it has none */
export const findBillingAccount = (env: Env, organisationId: string) =>
  database(env)
    .select()
    .from(billingAccounts)
    .where(eq(billingAccounts.organisationId, organisationId))
    .get()

/**
 * Reads an organisation that can be billed.
 * @returns undefined when it does not exist or its deletion has started
 */
export const findBillableOrganisation = (env: Env, organisationId: string) =>
  database(env)
    .select()
    .from(organisations)
    .where(and(eq(organisations.id, organisationId), organisationExists()))
    .get()

/** The address of the page Billing. */
export const billingPage = (baseUrl: string, organisationId: string): string =>
  baseUrl + consolePath(organisationId, '/billing')

/**
 * The statement that changes a billing account, and creates it first if necessary.
 * @param setWhere a condition: an account for which it is false does not change
 */
export const saveBillingAccount = (
  env: Env,
  organisationId: string,
  change: BillingAccountChange,
  setWhere: SQL = sql`true`,
) =>
  database(env)
    .insert(billingAccounts)
    .values({ organisationId, ...change })
    .onConflictDoUpdate({ target: billingAccounts.organisationId, set: change, setWhere })

/** A billing account that has a subscription. */
export type Subscription = BillingAccountRow & {
  provider: PaymentProviderName
  subscriptionId: string
}

export const hasSubscription = (account: BillingAccountRow | undefined): account is Subscription =>
  account !== undefined && account.provider !== null && account.subscriptionId !== null

/** The columns of an organisation without a subscription. */
export const NO_SUBSCRIPTION = {
  subscriptionId: null,
  subscriptionStatus: null,
  nextPlan: null,
  periodEnd: null,
  graceUntil: null,
  graceMailDay: null,
} satisfies BillingAccountChange

/** Changes a billing account if this is still its subscription. @returns whether it is */
export const updateSubscription = (
  env: Env,
  { organisationId, subscriptionId }: Subscription,
  change: BillingAccountChange,
): Promise<boolean> =>
  updateBillingAccount(
    { env, organisationId },
    change,
    eq(billingAccounts.subscriptionId, subscriptionId),
  )

/** Changes a billing account under a condition. @returns whether it was true */
export const updateBillingAccount = (
  { env, organisationId }: BillingSubject,
  change: BillingAccountChange,
  condition: SQL | undefined,
): Promise<boolean> =>
  hasChanged(
    database(env)
      .update(billingAccounts)
      .set(change)
      .where(and(eq(billingAccounts.organisationId, organisationId), condition)),
  )

/**
 * A page of payments, newest first, with the billing account. For the permission `billing`.
 * @param beforeId the last payment of the previous page
 * @returns `account`: undefined before the first payment; `autoReloadSpent`: the automatic payments in this
 *   month (UTC), minor units
 * @throws AppError not_found
 */
export async function readBilling(
  request: OrganisationRequest & { beforeId?: string | undefined },
) {
  const { env, organisationId, beforeId } = request
  await requirePermission(request, 'billing')
  const [account, rows, spent] = await Promise.all([
    findBillingAccount(env, organisationId),
    paymentsOf(env, organisationId, { limit: PAGE + 1, beforeId }),
    autoReloadSpent(env, organisationId, monthStart(new Date())),
  ])
  const { rows: listed, hasMore } = pageOf(rows, PAGE)
  return { account, payments: listed, hasMore, autoReloadSpent: spent }
}

/**
 * Creates a link to the provider's portal for payment method, billing address and tax id. It signs the user
 * in there: never store or log it. For the permission `billing`.
 * @throws AppError not_found, or validation_error before the first payment
 * @throws PaymentError
 */
export async function openPortal(
  request: OrganisationRequest & { baseUrl: string },
): Promise<string> {
  const customer = await findCustomer(request)
  if (!customer) {
    throw invalid('Billing details can be changed after the first payment.')
  }
  return customer.provider.portalUrl({
    customerId: customer.customerId,
    returnUrl: `${billingPage(request.baseUrl, request.organisationId)}/portal/return`,
  })
}

/**
 * Reads the stored payment method from the provider, which may have changed in its portal. For the
 * permission `billing`.
 * @throws AppError not_found
 * @throws PaymentError
 */
export async function refreshPaymentMethod(request: OrganisationRequest): Promise<void> {
  const customer = await findCustomer(request)
  if (!customer) return
  const paymentMethod = await customer.provider.paymentMethod(customer.customerId)
  await saveBillingAccount(request.env, request.organisationId, { paymentMethod })
}

/** The customer of an organisation with its provider; null before the first payment. */
async function findCustomer(request: OrganisationRequest) {
  await requirePermission(request, 'billing')
  const { env, organisationId } = request
  const account = await findBillingAccount(env, organisationId)
  if (!account?.provider || account.customerId === null) return null
  return { provider: providerNamed(env, account.provider), customerId: account.customerId }
}

/**
 * Ends the subscription of an organisation that is deleted, then deletes its billing account. May be repeated.
 * Payments remain without the name of the card, because the law requires them.
 * @throws PaymentError when the provider cannot be reached
 */
export async function closeBilling(env: Env, organisationId: string): Promise<void> {
  await endSubscription(env, await findBillingAccount(env, organisationId))
  const db = database(env)
  await db.batch([
    db
      .update(payments)
      .set({ paymentMethod: null })
      .where(eq(payments.organisationId, organisationId)),
    ...[billingAccounts, sandboxCustomers, sandboxPayments, sandboxSubscriptions].map((table) =>
      db.delete(table).where(eq(table.organisationId, organisationId)),
    ),
  ])
}

/** Ends the stored subscription at its provider, if there is one. @returns whether there is one */
export async function endSubscription(env: Env, account: BillingAccountRow | undefined) {
  if (!hasSubscription(account)) return false
  await providerNamed(env, account.provider).endSubscription(account.subscriptionId)
  return true
}

/** Makes a subscription end with its period, so that no further month is charged. May be repeated. */
export const endWithPeriod = (
  env: Env,
  { provider, subscriptionId }: Subscription,
  { regionCode }: OrganisationRow,
): Promise<void> =>
  providerNamed(env, provider).setNextPlan({
    subscriptionId,
    plan: 'starter',
    currency: currencyOf(regionCode),
  })

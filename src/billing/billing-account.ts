// The organisation as a customer of the payment provider. D1 is the source of truth for which customer
// and subscription belong to it.
import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import { database } from '../platform/db/database.ts'
import {
  billingAccounts,
  payments,
  sandboxCustomers,
  sandboxPayments,
  sandboxSubscriptions,
} from '../platform/db/billing-schema.ts'
import type { BillingAccountRow, PaymentRow } from '../platform/db/billing-schema.ts'
import { organisations } from '../platform/db/schema.ts'
import type { OrganisationRow } from '../platform/db/schema.ts'
import { consolePath } from '../domain/console-path.ts'
import { organisationExists } from '../organisations/organisation-exists.ts'
import { requirePermission } from '../organisations/authorisation.ts'
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import { monthStart } from '../domain/month.ts'
import { autoReloadSpent, paymentsOf } from './payments.ts'
import { AppError } from '../domain/errors.ts'
import { providerNamed } from './choose-provider.ts'

type BillingAccountChange = Partial<Omit<BillingAccountRow, 'organisationId'>>

/** Reads the billing account of an organisation. @returns undefined when it has none */
export async function findBillingAccount(
  env: Env,
  organisationId: string,
): Promise<BillingAccountRow | undefined> {
  const [row] = await database(env)
    .select()
    .from(billingAccounts)
    .where(eq(billingAccounts.organisationId, organisationId))
  return row
}

/** Changes a billing account, and creates it first if necessary. */
export async function saveBillingAccount(
  env: Env,
  organisationId: string,
  change: BillingAccountChange,
): Promise<void> {
  await database(env)
    .insert(billingAccounts)
    .values({ organisationId, ...change })
    .onConflictDoUpdate({ target: billingAccounts.organisationId, set: change })
}

/**
 * Replaces the subscription of a billing account, and creates the account first if necessary.
 * @param previousId the subscription that was read before
 * @throws Error when another one was stored since; the caller is repeated
 */
export async function replaceSubscription(
  env: Env,
  organisationId: string,
  previousId: string | null,
  change: BillingAccountChange,
): Promise<void> {
  const replaced = await database(env)
    .insert(billingAccounts)
    .values({ organisationId, ...change })
    .onConflictDoUpdate({
      target: billingAccounts.organisationId,
      set: change,
      setWhere: sql`${billingAccounts.subscriptionId} is ${previousId}`,
    })
    .returning({ id: billingAccounts.organisationId })
  if (replaced.length === 0) throw new Error('The subscription was replaced concurrently')
}

/** The columns of an organisation without a subscription. */
export const NO_SUBSCRIPTION = {
  subscriptionId: null,
  subscriptionStatus: null,
  nextPlan: null,
  periodEnd: null,
  graceUntil: null,
  graceMailDay: null,
} satisfies BillingAccountChange

/**
 * Changes a billing account if this is still its subscription.
 * @returns whether it is
 */
export async function updateSubscription(
  env: Env,
  { organisationId, subscriptionId }: { organisationId: string; subscriptionId: string },
  change: BillingAccountChange,
): Promise<boolean> {
  const updated = await database(env)
    .update(billingAccounts)
    .set(change)
    .where(
      and(
        eq(billingAccounts.organisationId, organisationId),
        eq(billingAccounts.subscriptionId, subscriptionId),
      ),
    )
    .returning({ id: billingAccounts.organisationId })
  return updated.length > 0
}

/**
 * Claims the email of a day of the grace period.
 * @returns false when it was claimed before
 */
export async function claimGraceMail(
  env: Env,
  organisationId: string,
  day: number,
): Promise<boolean> {
  const { graceMailDay } = billingAccounts
  const claimed = await database(env)
    .update(billingAccounts)
    .set({ graceMailDay: day })
    .where(
      and(
        eq(billingAccounts.organisationId, organisationId),
        or(isNull(graceMailDay), lt(graceMailDay, day)),
      ),
    )
    .returning({ id: billingAccounts.organisationId })
  return claimed.length > 0
}

/** Makes the email of a day due again that could not be sent. */
export async function releaseGraceMail(
  env: Env,
  organisationId: string,
  day: number,
): Promise<void> {
  await database(env)
    .update(billingAccounts)
    .set({ graceMailDay: null })
    .where(
      and(
        eq(billingAccounts.organisationId, organisationId),
        eq(billingAccounts.graceMailDay, day),
      ),
    )
}

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

/** The address of the page Billing. */
export const billingPage = (baseUrl: string, organisationId: string): string =>
  `${baseUrl}${consolePath(organisationId, '/billing')}`

const PAGE = 20

/**
 * A page of payments, newest first, with the billing account. For the permission `billing`.
 * @param beforeId the last payment of the previous page
 * @throws AppError not_found
 */
export async function readBilling({
  env,
  actor,
  organisationId,
  beforeId,
}: OrganisationRequest & { beforeId?: string | undefined }): Promise<{
  /** Undefined before the first payment. */
  account: BillingAccountRow | undefined
  payments: PaymentRow[]
  hasMore: boolean
  /** Of automatic payments in this month (UTC), minor units. */
  autoReloadSpent: number
}> {
  await requirePermission({ env, actor, organisationId }, 'billing')
  const [account, rows, spent] = await Promise.all([
    findBillingAccount(env, organisationId),
    paymentsOf(env, organisationId, { limit: PAGE + 1, beforeId }),
    autoReloadSpent(env, organisationId, monthStart(new Date())),
  ])
  return {
    account,
    payments: rows.slice(0, PAGE),
    hasMore: rows.length > PAGE,
    autoReloadSpent: spent,
  }
}

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

/**
 * Ends the subscription at the provider, then deletes the billing account. May be repeated. Payments
 * remain without the name of the card, because the law requires them.
 * @throws PaymentError when the provider cannot be reached
 */
export async function closeBilling(env: Env, organisationId: string): Promise<void> {
  const stored = await findBillingAccount(env, organisationId)
  if (stored?.provider && stored.subscriptionId !== null) {
    await providerNamed(env, stored.provider).endSubscription(stored.subscriptionId)
  }
  const db = database(env)
  await db.batch([
    db
      .update(payments)
      .set({ paymentMethod: null })
      .where(eq(payments.organisationId, organisationId)),
    db.delete(billingAccounts).where(eq(billingAccounts.organisationId, organisationId)),
    ...[sandboxCustomers, sandboxPayments, sandboxSubscriptions].map((table) =>
      db.delete(table).where(eq(table.organisationId, organisationId)),
    ),
  ])
}

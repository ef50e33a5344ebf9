// The organisation as a customer of the payment provider. D1 is the source of truth for which customer
// and subscription belong to it.
import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import { database } from '../platform/db/database.ts'
import { billingAccounts } from '../platform/db/billing-schema.ts'
import type { BillingAccountRow } from '../platform/db/billing-schema.ts'

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

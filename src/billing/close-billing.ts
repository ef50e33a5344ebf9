// Ends the billing of an organisation that is deleted.
import { eq } from 'drizzle-orm'
import { database } from '../platform/db/database.ts'
import {
  billingAccounts,
  payments,
  sandboxCustomers,
  sandboxPayments,
  sandboxSubscriptions,
} from '../platform/db/billing-schema.ts'
import { findBillingAccount } from './billing-account.ts'
import { providerNamed } from './choose-provider.ts'

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

// Customers of the sandbox: the stored card and the page where it is changed.
import { and, eq, gte } from 'drizzle-orm'
import { database } from '../../platform/db/database.ts'
import { sandboxCustomers } from '../../platform/db/billing-schema.ts'
import { suffixOf } from '../../platform/ids.ts'
import { PaymentError } from '../payment-provider.ts'
import type { PaymentProvider } from '../payment-provider.ts'
import { describeCard } from './cards.ts'

const CARD_PAGE_TTL_MS = 60 * 60_000

export type SandboxCustomer = typeof sandboxCustomers.$inferSelect

/** Derived from the id of the organisation, so that a repeated request finds the same row. */
export const customerIdOf = (organisationId: string) => `cus_${suffixOf(organisationId)}`

/** 128 random bits in hexadecimal digits. */
export const newSecret = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex')

/** @throws PaymentError rejected */
export async function findCustomer(env: Env, organisationId: string): Promise<SandboxCustomer> {
  const [row] = await database(env)
    .select()
    .from(sandboxCustomers)
    .where(eq(sandboxCustomers.id, customerIdOf(organisationId)))
  if (!row) throw new PaymentError('rejected', 'The customer does not exist.')
  return row
}

/** The card that an organisation has stored. @throws PaymentError rejected */
export async function storedCard(env: Env, organisationId: string): Promise<string> {
  const { card } = await findCustomer(env, organisationId)
  if (card === null) throw new PaymentError('rejected', 'No card is stored.')
  return card
}

/** See `PaymentProvider.paymentMethod`. */
export async function paymentMethod(env: Env, customerId: string): Promise<string | null> {
  const [row] = await database(env)
    .select({ card: sandboxCustomers.card })
    .from(sandboxCustomers)
    .where(eq(sandboxCustomers.id, customerId))
  return row?.card ? describeCard(row.card) : null
}

/** See `PaymentProvider.portalUrl`: the page where the card is changed. Valid for an hour. */
export async function portalUrl(
  env: Env,
  { customerId, returnUrl }: Parameters<PaymentProvider['portalUrl']>[0],
): Promise<string> {
  const cardPageKey = newSecret()
  const updated = await database(env)
    .update(sandboxCustomers)
    .set({ cardPageKey, cardPageExpiresAt: new Date(Date.now() + CARD_PAGE_TTL_MS) })
    .where(eq(sandboxCustomers.id, customerId))
    .returning({ id: sandboxCustomers.id })
  if (updated.length === 0) throw new PaymentError('rejected', 'The customer does not exist.')
  return `${new URL(returnUrl).origin}/sandbox/card?key=${cardPageKey}`
}

/** The customer of the address of a card page; undefined when it is wrong or has expired. */
export async function findCardPage(env: Env, key: string): Promise<SandboxCustomer | undefined> {
  const [row] = await database(env)
    .select()
    .from(sandboxCustomers)
    .where(
      and(
        eq(sandboxCustomers.cardPageKey, key),
        gte(sandboxCustomers.cardPageExpiresAt, new Date(Date.now() + 1)),
      ),
    )
  return row
}

/** Replaces the stored card of a customer. */
export async function storeCard(env: Env, { id }: SandboxCustomer, card: string): Promise<void> {
  await database(env).update(sandboxCustomers).set({ card }).where(eq(sandboxCustomers.id, id))
}

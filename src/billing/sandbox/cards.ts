// The test cards of the sandbox and what each one does. Only the last four digits of a card are stored,
// which identify it. Most numbers have the same effect at Stripe.
import { and, eq, gte } from 'drizzle-orm'
import { database } from '../../platform/db/database.ts'
import { sandboxCustomers } from '../../platform/db/billing-schema.ts'
import { suffixOf } from '../../platform/ids.ts'
import { PaymentError } from '../payment-provider.ts'
import type { PaymentProvider } from '../payment-provider.ts'

/** The cards in the order of the payment page. */
export const TEST_CARDS = [
  { number: '4242424242424242', behaviour: 'success', effect: 'Succeeds' },
  { number: '4000000000000002', behaviour: 'declined', effect: 'Is declined' },
  {
    number: '4000000000009995',
    behaviour: 'insufficient_funds',
    effect: 'Is declined: insufficient funds',
  },
  {
    number: '4000002500003155',
    behaviour: 'confirm_once',
    effect: 'Asks for confirmation, succeeds later without one',
  },
  {
    number: '4000002760003184',
    behaviour: 'confirm_always',
    effect: 'Asks for confirmation, automatic payments fail',
  },
  {
    number: '4000000000000341',
    behaviour: 'off_session_declined',
    effect: 'Succeeds, automatic payments are declined',
  },
  {
    number: '4000000000006025',
    behaviour: 'renewal_declined',
    effect: 'Succeeds, renewals of a plan are declined',
  },
  { number: '4000000000003030', behaviour: 'late', effect: 'Succeeds after 20 seconds' },
  { number: '4000000000007726', behaviour: 'refunded', effect: 'Is refunded after 1 minute' },
  {
    number: '4000000000000259',
    behaviour: 'disputed',
    effect: 'Is disputed after 1 minute, lost after 2',
  },
] as const

/** @param card its last four digits */
export const behaviourOf = (card: string | null) =>
  TEST_CARDS.find(({ number }) => card !== null && number.endsWith(card))?.behaviour

/** @returns why the card is declined, for the customer; null when the charge succeeds */
export function declineReason(
  card: string,
  occasion: 'checkout' | 'automatic' | 'renewal',
): string | null {
  const behaviour = behaviourOf(card)
  if (behaviour === 'declined') return 'The card was declined.'
  if (behaviour === 'insufficient_funds') return 'The card has insufficient funds.'
  if (occasion === 'checkout') return null
  if (behaviour === 'confirm_always') return 'The card requires a confirmation by its holder.'
  const isDeclined =
    behaviour === 'off_session_declined' ||
    (behaviour === 'renewal_declined' && occasion === 'renewal')
  return isDeclined ? 'The card was declined.' : null
}

/** Whether the payment page asks the holder for a confirmation. */
export const needsConfirmation = (card: string): boolean =>
  ['confirm_once', 'confirm_always'].includes(behaviourOf(card) ?? '')

/** The last four digits of a test card, which may be written with spaces; null for any other number. */
export function testCard(text: string): string | null {
  const digits = text.replace(/[\s-]/g, '')
  return TEST_CARDS.some(({ number }) => number === digits) ? digits.slice(-4) : null
}

/** A card for display, such as "Visa •••• 4242". All test cards are Visa cards. */
export const describeCard = (card: string): string => `Visa •••• ${card}`

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

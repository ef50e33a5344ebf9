// The test cards of the sandbox with what each one does, and the customers who store them. Only the last four
// digits of a card are stored, which identify it. Most numbers have the same effect at Stripe.
import { and, eq, gte, type SQL } from 'drizzle-orm'
import { sandboxCustomers } from '../../platform/db/billing-schema.ts'
import { database } from '../../platform/db/database.ts'
import { suffixOf } from '../../platform/ids.ts'
import { rejected, type PaymentProvider } from '../payment-provider.ts'

type Occasion = 'checkout' | 'automatic' | 'renewal'

interface TestCard {
  number: string
  /** For the payment page. */
  effect: string
  /** Why charges are declined, for the customer. Others succeed. */
  declines?: Partial<Record<Occasion, string>>
  /** Whether the payment page asks the holder for a confirmation. */
  confirms?: true
  /** When the money of a charge arrives, ms after it. */
  lateMs?: number
  /** When a payment is refunded, is disputed and loses the dispute, ms after it. */
  refundedMs?: number
  disputedMs?: number
  lostMs?: number
}

const always = (reason: string) => ({ checkout: reason, ...later(reason) })
const later = (reason: string) => ({ automatic: reason, renewal: reason })
const DECLINED = 'The card was declined.'

/** The cards in the order of the payment page. */
export const TEST_CARDS: TestCard[] = [
  { number: '4242424242424242', effect: 'Succeeds' },
  { number: '4000000000000002', effect: 'Is declined', declines: always(DECLINED) },
  {
    number: '4000000000009995',
    effect: 'Is declined: insufficient funds',
    declines: always('The card has insufficient funds.'),
  },
  {
    number: '4000002500003155',
    effect: 'Asks for confirmation, succeeds later without one',
    confirms: true,
  },
  {
    number: '4000002760003184',
    effect: 'Asks for confirmation, automatic payments fail',
    confirms: true,
    declines: later('The card requires a confirmation by its holder.'),
  },
  {
    number: '4000000000000341',
    effect: 'Succeeds, automatic payments are declined',
    declines: later(DECLINED),
  },
  {
    number: '4000000000006025',
    effect: 'Succeeds, renewals of a plan are declined',
    declines: { renewal: DECLINED },
  },
  { number: '4000000000003030', effect: 'Succeeds after 20 seconds', lateMs: 20_000 },
  { number: '4000000000007726', effect: 'Is refunded after 1 minute', refundedMs: 60_000 },
  {
    number: '4000000000000259',
    effect: 'Is disputed after 1 minute, lost after 2',
    disputedMs: 60_000,
    lostMs: 120_000,
  },
]

/** What a card does. @param card its last four digits */
export const effectsOf = (card: string | null) => ({
  refundedMs: Infinity,
  disputedMs: Infinity,
  lostMs: Infinity,
  ...TEST_CARDS.find(({ number }) => card !== null && number.endsWith(card)),
})

/** @returns why the card is declined, for the customer; null when the charge succeeds */
export const declineReason = (card: string, occasion: Occasion): string | null =>
  effectsOf(card).declines?.[occasion] ?? null

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

const customerWhere = (env: Env, condition: SQL | undefined) =>
  database(env).select().from(sandboxCustomers).where(condition).get()

/** @throws PaymentError rejected */
export async function findCustomer(env: Env, organisationId: string): Promise<SandboxCustomer> {
  const row = await customerWhere(env, eq(sandboxCustomers.id, customerIdOf(organisationId)))
  if (!row) throw rejected('The customer does not exist.')
  return row
}

/** The card that an organisation has stored. @throws PaymentError rejected */
export async function storedCard(env: Env, organisationId: string): Promise<string> {
  const { card } = await findCustomer(env, organisationId)
  if (card === null) throw rejected('No card is stored.')
  return card
}

/** See `PaymentProvider.paymentMethod`. */
export async function paymentMethod(env: Env, customerId: string): Promise<string | null> {
  const row = await customerWhere(env, eq(sandboxCustomers.id, customerId))
  return row?.card ? describeCard(row.card) : null
}

/** See `PaymentProvider.portalUrl`: the page where the card is changed. Valid for an hour. */
export async function portalUrl(
  env: Env,
  { customerId, returnUrl }: Parameters<PaymentProvider['portalUrl']>[0],
): Promise<string> {
  const cardPageKey = newSecret()
  const { meta } = await database(env)
    .update(sandboxCustomers)
    .set({ cardPageKey, cardPageExpiresAt: new Date(Date.now() + CARD_PAGE_TTL_MS) })
    .where(eq(sandboxCustomers.id, customerId))
  if (meta.changes === 0) throw rejected('The customer does not exist.')
  return `${new URL(returnUrl).origin}/sandbox/card?key=${cardPageKey}`
}

/** The customer of the address of a card page; undefined when it is wrong or has expired. */
export function findCardPage(env: Env, key: string): Promise<SandboxCustomer | undefined> {
  const { cardPageKey, cardPageExpiresAt } = sandboxCustomers
  const isOpen = gte(cardPageExpiresAt, new Date(Date.now() + 1))
  return customerWhere(env, and(eq(cardPageKey, key), isOpen))
}

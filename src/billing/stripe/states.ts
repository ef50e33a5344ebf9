// Reads the state of payments from Stripe's objects. Amounts at Stripe include tax and ours do not, so
// refunds count in proportion.
import type Stripe from 'stripe'
import type { DisputeStatus } from '../../domain/billing.ts'
import type { Currency } from '../../domain/organisation.ts'
import type { PaymentState } from '../payment-provider.ts'
import { idOf } from './stripe-client.ts'

type Intent = Stripe.PaymentIntent

/** What `latest_charge` and `payment_method` contain only on request. */
export const EXPANDED_INTENT = ['latest_charge', 'payment_method']

/** Reads a payment with its charge and payment method. */
export const readIntent = (client: Stripe, id: string): Promise<Intent> =>
  client.paymentIntents.retrieve(id, { expand: EXPANDED_INTENT })

/** The same, if there is one. */
export const readIntentOf = async (client: Stripe, id: string | null): Promise<Intent | null> =>
  id === null ? null : readIntent(client, id)

/** Stripe's currency codes are in lower case. */
export const currencyOfStripe = (currency: string | null): Currency =>
  (currency ?? '').toUpperCase() as Currency

/** The state of a Checkout session: a pack, or the first month of a plan. */
export async function stateOfSession(
  client: Stripe,
  session: Stripe.Checkout.Session,
): Promise<PaymentState> {
  const tax = session.total_details?.amount_tax ?? 0
  const net = (session.amount_total ?? 0) - tax
  const state: PaymentState = {
    reference: session.id,
    status: 'open',
    failure: null,
    actionUrl: session.url,
    amount: net,
    tax,
    currency: currencyOfStripe(session.currency),
    amountRefunded: 0,
    dispute: null,
    invoiceUrl: null,
    customerId: idOf(session.customer),
    paymentMethod: null,
    subscriptionId: idOf(session.subscription),
  }
  if (session.status === 'open') return state
  if (session.status === 'expired') return { ...state, status: 'expired', actionUrl: null }

  const invoice = await invoiceOfSession(client, session)
  const intent = await readIntentOf(client, idOf(session.payment_intent) ?? intentIdOf(invoice))
  const isPaid = session.payment_status !== 'unpaid'
  // A payment method that confirms later, such as a bank debit, is unpaid until then.
  const isFailed = !isPaid && hasFailed(intent)
  return {
    ...state,
    status: isPaid ? 'paid' : isFailed ? 'failed' : 'open',
    failure: isFailed ? failureOf(intent?.last_payment_error) : null,
    actionUrl: null,
    invoiceUrl: invoice?.hosted_invoice_url ?? null,
    ...(await settlementOf(client, intent, net)),
  }
}

/** The state of a charge in the customer's absence. */
export async function stateOfIntent(client: Stripe, intent: Intent): Promise<PaymentState> {
  // The amount without tax, which the intent itself does not know.
  const net = Number(intent.metadata['net_amount'] ?? intent.amount)
  const status = statusOfIntent(intent)
  return {
    reference: intent.id,
    status,
    failure: status === 'failed' ? failureOf(intent.last_payment_error) : null,
    actionUrl: null,
    amount: net,
    tax: intent.amount - net,
    currency: currencyOfStripe(intent.currency),
    invoiceUrl: chargeOf(intent)?.receipt_url ?? null,
    customerId: idOf(intent.customer),
    subscriptionId: null,
    ...(await settlementOf(client, intent, net)),
  }
}

function statusOfIntent(intent: Intent): PaymentState['status'] {
  if (intent.status === 'succeeded') return 'paid'
  return intent.status === 'processing' ? 'open' : 'failed'
}

const hasFailed = (intent: Intent | null): boolean =>
  intent?.status === 'requires_payment_method' || intent?.status === 'canceled'

/** Reads an invoice with its payments. */
export const readInvoice = (client: Stripe, id: string): Promise<Stripe.Invoice> =>
  client.invoices.retrieve(id, { expand: ['payments'] })

/** The invoice of what was bought on a page; null before it is paid. */
export async function invoiceOfSession(client: Stripe, { invoice }: Stripe.Checkout.Session) {
  const id = idOf(invoice)
  return id === null ? null : readInvoice(client, id)
}

/** The payment that paid an invoice, or else the one that is under way. */
export function intentIdOf(invoice: Stripe.Invoice | null): string | null {
  const payments = invoice?.payments?.data ?? []
  const payment = payments.find(({ status }) => status === 'paid') ?? payments[0]
  return idOf(payment?.payment.payment_intent)
}

/** What is known once money has moved. */
export async function settlementOf(client: Stripe, intent: Intent | null, net: number) {
  const charge = chargeOf(intent)
  const disputes =
    intent && charge?.disputed
      ? (await client.disputes.list({ payment_intent: intent.id, limit: 100 })).data
      : []
  const lost = disputes.filter(({ status }) => status === 'lost')
  const returned = lost.reduce((sum, { amount }) => sum + amount, charge?.amount_refunded ?? 0)
  return {
    amountRefunded: charge ? Math.min(net, Math.round((returned * net) / charge.amount)) : 0,
    dispute: disputeStatus(disputes),
    paymentMethod: describeMethod(intent),
  }
}

function disputeStatus(disputes: Stripe.Dispute[]): DisputeStatus | null {
  const statuses = new Set(disputes.map(({ status }) => DISPUTE_STATUSES[status] ?? 'open'))
  return (['lost', 'open', 'won'] as const).find((status) => statuses.has(status)) ?? null
}
/** All others are open. */
const DISPUTE_STATUSES: Record<string, DisputeStatus> = {
  lost: 'lost',
  won: 'won',
  warning_closed: 'won',
  prevented: 'won',
}

/** The charge of an intent that was read with `readIntent`. */
export function chargeOf(intent: Intent | null): Stripe.Charge | null {
  const charge = intent?.latest_charge
  return typeof charge === 'object' ? charge : null
}

const describeMethod = (intent: Intent | null): string | null => {
  const method = intent?.payment_method
  // Null when the payment method is not known.
  return method && typeof method === 'object' ? nameOfMethod(method) : null
}

/** A text such as "Visa •••• 4242". */
export function nameOfMethod({ type, card }: Stripe.PaymentMethod): string {
  const name = card?.display_brand ?? card?.brand ?? type
  const text = (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ')
  return card ? `${text} •••• ${card.last4}` : text
}

const TEXTS: Record<string, string> = {
  authentication_required:
    'The bank asks the cardholder to confirm the payment. Pay on the Billing page.',
  expired_card: 'The card has expired.',
  incorrect_cvc: 'The security code of the card is not correct.',
  insufficient_funds: 'The card has insufficient funds.',
  processing_error: 'The card could not be processed. Try again later.',
}
const DECLINED = 'The card was declined.'

/** Says why a payment failed, such as "The card was declined." */
export function failureOf(
  error: { code?: string | undefined; decline_code?: string | undefined } | null | undefined,
): string {
  return TEXTS[error?.decline_code ?? ''] ?? TEXTS[error?.code ?? ''] ?? DECLINED
}

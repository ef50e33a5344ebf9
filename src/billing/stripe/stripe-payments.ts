// Payments at Stripe: the page where the customer buys a pack or the first month of a plan, charges of the stored
// payment method, and refunds. Finds payments by Stripe's id, or by the payment id in the metadata.
import type Stripe from 'stripe'
import { DAY_MS } from '../../domain/limits.ts'
import { createdAtOf } from '../../platform/ids.ts'
import { nameOfPack } from '../money.ts'
import {
  rejected,
  type CheckoutRequest,
  type PaymentRequest,
  type PaymentState,
  type PaymentToFind,
  type RefundRequest,
} from '../payment-provider.ts'
import { customerIdOf, storedPaymentMethod } from './customers.ts'
import {
  chargeOf,
  EXPANDED_INTENT,
  intentIdOf,
  invoiceOfSession,
  readIntent,
  readIntentOf,
  readInvoice,
  stateOfIntent,
  stateOfSession,
} from './states.ts'
import {
  idOf,
  metadataOf,
  secondsOf,
  subjectOf,
  unlessMissing,
  unlessRejected,
} from './stripe-client.ts'
import { priceOfPlan, stateOfInvoice, subjectOfInvoice } from './stripe-invoices.ts'

/** The time for which the page can be used, seconds. */
const LIFETIME_SECONDS = 2 * 3_600

/** The difference between the clocks of Stripe and of this service, ms. */
const CLOCK_SKEW_MS = 5 * 60_000
/** A request is repeated with the same payment id for at most this time, ms. */
const REPEATED_FOR_MS = DAY_MS

/** Creates the page, once per payment. */
export async function startCheckout(
  client: Stripe,
  request: CheckoutRequest,
  { automaticTax }: { automaticTax: boolean },
): Promise<PaymentState> {
  const { paymentId, customer, returnUrl, cancelUrl } = request
  const { organisationId } = customer
  const metadata = metadataOf({ organisationId, paymentId })
  const customerId = await customerIdOf(client, customer)
  if (request.purchase.kind === 'plan') await expireOthers(client, customerId, paymentId)
  const session = await client.checkout.sessions.create(
    {
      ...(await purchaseParams(client, request, metadata)),
      customer: customerId,
      client_reference_id: organisationId,
      metadata,
      success_url: returnUrl,
      cancel_url: cancelUrl,
      billing_address_collection: 'required',
      tax_id_collection: { enabled: true },
      customer_update: { name: 'auto', address: 'auto' },
      // The order is in the organisation's currency.
      adaptive_pricing: { enabled: false },
      automatic_tax: { enabled: automaticTax },
      // Counted from the payment, so that a repeated request has the same parameters.
      expires_at: Math.floor(createdAtOf(paymentId) / 1_000) + LIFETIME_SECONDS,
    },
    { idempotencyKey: paymentId },
  )
  return stateOfSession(client, session)
}

/** Closes earlier pages for a plan, so that the customer cannot pay for two subscriptions. */
async function expireOthers(client: Stripe, customerId: string, paymentId: string) {
  const open = client.checkout.sessions.list({ customer: customerId, status: 'open', limit: 100 })
  for await (const { id, mode, metadata } of open) {
    if (mode !== 'subscription' || subjectOf(metadata)?.paymentId === paymentId) continue
    await expireCheckout(client, id)
  }
}

/** See `PaymentProvider.expireCheckout`. */
export async function expireCheckout(client: Stripe, id: string): Promise<void> {
  // It is rejected if the customer has just paid on the page, or if it has expired.
  await unlessRejected(client.checkout.sessions.expire(id))
}

async function purchaseParams(
  client: Stripe,
  { customer: { currency }, purchase }: CheckoutRequest,
  metadata: Record<string, string>,
): Promise<Stripe.Checkout.SessionCreateParams> {
  const { kind, amount } = purchase
  if (kind === 'plan') {
    const price = await priceOfPlan(client, { plan: purchase.plan, currency, amount })
    return {
      mode: 'subscription',
      line_items: [{ price, quantity: 1 }],
      subscription_data: { metadata },
      // An upgrade that waits for its payment does not support bank debits.
      allowed_payment_method_types: ['card', 'link'],
    }
  }
  return {
    mode: 'payment',
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: currency.toLowerCase(),
          unit_amount: amount,
          tax_behavior: 'exclusive',
          product_data: { name: nameOfPack(purchase.pack, currency) },
        },
      },
    ],
    invoice_creation: { enabled: true, invoice_data: { metadata } },
    // Stores the payment method for auto-reload.
    payment_intent_data: { setup_future_usage: 'off_session', metadata },
  }
}

/** Charges once per payment. @returns `failed` when the bank declines or asks for confirmation */
export async function charge(
  client: Stripe,
  { paymentId, customer, purchase }: PaymentRequest,
  { automaticTax }: { automaticTax: boolean },
): Promise<PaymentState> {
  const { customerId, organisationId } = customer
  if (customerId === null) throw rejected('No payment method is stored.')
  if (purchase.kind === 'plan') throw new Error('Plans are paid by their subscription')
  const currency = customer.currency.toLowerCase()
  const paymentMethod = await storedPaymentMethod(client, customerId)
  const tax = automaticTax
    ? await client.tax.calculations.create(
        {
          currency,
          customer: customerId,
          line_items: [
            { amount: purchase.amount, reference: 'credits', tax_behavior: 'exclusive' },
          ],
        },
        { idempotencyKey: `${paymentId}-tax` },
      )
    : null
  try {
    const intent = await client.paymentIntents.create(
      {
        amount: tax?.amount_total ?? purchase.amount,
        currency,
        customer: customerId,
        payment_method: paymentMethod,
        off_session: true,
        confirm: true,
        description: `${nameOfPack(purchase.pack, customer.currency)} (auto-reload)`,
        metadata: {
          ...metadataOf({ organisationId, paymentId }),
          net_amount: String(purchase.amount),
        },
        ...(tax?.id && { hooks: { inputs: { tax: { calculation: tax.id } } } }),
        expand: EXPANDED_INTENT,
      },
      { idempotencyKey: paymentId },
    )
    return await stateOfIntent(client, intent)
  } catch (error) {
    const declined = declinedIntent(error)
    if (!declined) throw error
    return stateOfIntent(client, declined)
  }
}

/** The payment that a declined card leaves behind. */
function declinedIntent(error: unknown): Stripe.PaymentIntent | null {
  if (!(error instanceof Error) || !('payment_intent' in error)) return null
  return (error.payment_intent as Stripe.PaymentIntent | undefined) ?? null
}

/** The current state of a payment. @returns null when Stripe has no such payment */
export function findPayment(client: Stripe, payment: PaymentToFind): Promise<PaymentState | null> {
  const { reference } = payment
  return reference === null
    ? searchPayment(client, payment)
    : unlessMissing(readState(client, reference))
}

/** The state of a payment of which Stripe's id is known. */
async function readState(client: Stripe, reference: string): Promise<PaymentState> {
  if (reference.startsWith('cs_')) {
    return stateOfSession(client, await client.checkout.sessions.retrieve(reference))
  }
  return reference.startsWith('in_')
    ? stateOfInvoice(client, await readInvoice(client, reference))
    : stateOfIntent(client, await readIntent(client, reference))
}

/** Looks through what was created at the time of the payment. Stripe's own search is delayed. */
async function searchPayment(client: Stripe, { paymentId, customerId, createdAt }: PaymentToFind) {
  const at = createdAt.getTime()
  const created = {
    gte: secondsOf(new Date(at - CLOCK_SKEW_MS)),
    lte: secondsOf(new Date(at + REPEATED_FOR_MS)),
  }
  const page = { created, limit: 100, ...(customerId !== null && { customer: customerId }) }
  const isThis = (metadata: unknown) => subjectOf(metadata)?.paymentId === paymentId

  for await (const session of client.checkout.sessions.list(page)) {
    if (isThis(session.metadata)) return stateOfSession(client, session)
  }
  // Charges and upgrades exist only for a known customer.
  if (customerId === null) return null
  for await (const { id, metadata } of client.paymentIntents.list(page)) {
    if (isThis(metadata)) return stateOfIntent(client, await readIntent(client, id))
  }
  for await (const invoice of client.invoices.list({ ...page, expand: ['data.payments'] })) {
    if (subjectOfInvoice(invoice)?.paymentId === paymentId) return stateOfInvoice(client, invoice)
  }
  return null
}

/**
 * Refunds a part of a payment and the tax on it, once per `refundId`.
 * @param amount minor units without tax
 */
export async function refund(client: Stripe, { refundId, reference, amount }: RefundRequest) {
  const intent = await readIntentOf(client, await intentIdOfPayment(client, reference))
  const charge = chargeOf(intent)
  if (!intent || !charge) throw rejected('This payment has not been paid.')
  // The idempotency key expires after a day; the metadata does not.
  for await (const { metadata } of client.refunds.list({ payment_intent: intent.id, limit: 100 })) {
    if (metadata?.['refund_id'] === refundId) return
  }
  const { amount: net } = await readState(client, reference)
  const refunded = Math.round((charge.amount_refunded * net) / charge.amount)
  if (refunded + amount > net) {
    throw rejected('The refund is higher than the rest of the payment.')
  }
  // Rounds the sum of all refunds, not each of them, so that the last one refunds exactly the rest.
  const total = Math.round(((refunded + amount) * charge.amount) / net)
  await client.refunds.create(
    {
      payment_intent: intent.id,
      amount: total - charge.amount_refunded,
      metadata: { ...intent.metadata, refund_id: refundId },
    },
    { idempotencyKey: `refund-${refundId}` },
  )
}

async function intentIdOfPayment(client: Stripe, reference: string): Promise<string | null> {
  if (reference.startsWith('pi_')) return reference
  if (reference.startsWith('in_')) return intentIdOf(await readInvoice(client, reference))
  const session = await client.checkout.sessions.retrieve(reference)
  return idOf(session.payment_intent) ?? intentIdOf(await invoiceOfSession(client, session))
}

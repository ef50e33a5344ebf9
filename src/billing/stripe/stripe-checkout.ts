// Checkout: the page at Stripe where the customer buys a pack or the first month of a plan.
import type Stripe from 'stripe'
import { createdAtOf } from '../../platform/ids.ts'
import { nameOfPack } from '../money.ts'
import type { PaymentRequest, PaymentState } from '../payment-provider.ts'
import { customerIdOf } from './customers.ts'
import { isRejected } from './stripe-client.ts'
import { metadataOf, subjectOf } from './metadata.ts'
import { priceOfPlan } from './prices.ts'
import { stateOfSession } from './states.ts'

/** The time for which the page can be used, seconds. */
const LIFETIME_SECONDS = 2 * 3_600

type CheckoutRequest = PaymentRequest & { returnUrl: string; cancelUrl: string }
type SessionParams = Stripe.Checkout.SessionCreateParams

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
  await client.checkout.sessions.expire(id).catch((error: unknown) => {
    // The customer has just paid on it, or it has expired.
    if (!isRejected(error)) throw error
  })
}

async function purchaseParams(
  client: Stripe,
  { customer: { currency }, purchase }: CheckoutRequest,
  metadata: Record<string, string>,
): Promise<SessionParams> {
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

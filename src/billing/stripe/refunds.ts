// Refunds at Stripe.
import type Stripe from 'stripe'
import { PaymentError } from '../payment-provider.ts'
import { idOf } from './stripe-client.ts'
import { readState } from './find-payment.ts'
import { chargeOf, intentIdOf, readIntent, readInvoice } from './states.ts'

/**
 * Refunds a part of a payment and the tax on it, once per `refundId`.
 * @param amount minor units without tax
 */
export async function refund(
  client: Stripe,
  { refundId, reference, amount }: { refundId: string; reference: string; amount: number },
): Promise<void> {
  const intentId = await intentIdOfPayment(client, reference)
  const intent = intentId === null ? null : await readIntent(client, intentId)
  const charge = chargeOf(intent)
  if (!intent || !charge) throw new PaymentError('rejected', 'This payment has not been paid.')
  // The idempotency key expires after a day; the metadata does not.
  for await (const { metadata } of client.refunds.list({ payment_intent: intent.id, limit: 100 })) {
    if (metadata?.['refund_id'] === refundId) return
  }
  const { amount: net } = await readState(client, reference)
  const refunded = Math.round((charge.amount_refunded * net) / charge.amount)
  if (refunded + amount > net) {
    throw new PaymentError('rejected', 'The refund is higher than the rest of the payment.')
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
  const invoiceId = idOf(session.invoice)
  return (
    idOf(session.payment_intent) ??
    (invoiceId === null ? null : intentIdOf(await readInvoice(client, invoiceId)))
  )
}

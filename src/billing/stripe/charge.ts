// Charges the stored payment method while the customer is absent.
import type Stripe from 'stripe'
import { nameOfPack } from '../money.ts'
import { PaymentError } from '../payment-provider.ts'
import type { PaymentRequest, PaymentState } from '../payment-provider.ts'
import { storedPaymentMethod } from './customers.ts'
import { metadataOf } from './metadata.ts'
import { EXPANDED_INTENT, stateOfIntent } from './states.ts'

/** Charges once per payment. @returns `failed` when the bank declines or asks for confirmation */
export async function charge(
  client: Stripe,
  { paymentId, customer, purchase }: PaymentRequest,
  { automaticTax }: { automaticTax: boolean },
): Promise<PaymentState> {
  const { customerId, organisationId } = customer
  if (customerId === null) throw new PaymentError('rejected', 'No payment method is stored.')
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

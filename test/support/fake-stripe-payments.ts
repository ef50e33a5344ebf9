// The fake of Stripe: cards and what charges them, refunds, disputes, invoices.
import { FakeStripeObjects } from './fake-stripe-objects.ts'
import { complete, type StripeObject } from './stripe-contract.ts'

/** How a card reacts to a payment. */
export type Card = 'good' | 'declined' | 'authentication_required'

export class FakeStripePayments extends FakeStripeObjects {
  /** Per cent on top of each amount for which automatic tax is on. */
  taxRate = 20

  readonly cards = new Map<string, Card>()

  taxOf = (net: number, automaticTax: StripeObject | undefined): number =>
    automaticTax?.['enabled'] ? Math.round((net * this.taxRate) / 100) : 0

  calculateTax(body: StripeObject): StripeObject {
    const [line] = body['line_items']
    const tax = this.taxOf(line.amount, { enabled: true })
    return this.create('Tax.Calculations.Calculation', 'taxcalc', {
      currency: body['currency'],
      customer: body['customer'],
      amount_total: line.amount + tax,
      tax_amount_exclusive: tax,
    })
  }

  /** Stores a card as the customer's newest payment method. */
  addCard(customer: string, card: Card = 'good'): StripeObject {
    const method = this.create('PaymentMethods.PaymentMethod', 'pm', {
      customer,
      type: 'card',
      card: complete('PaymentMethods.PaymentMethod.Card', {
        brand: 'visa',
        display_brand: 'visa',
        last4: '4242',
        exp_month: 12,
        exp_year: 2030,
      }),
    })
    this.cards.set(method['id'], card)
    return method
  }

  createIntent(given: StripeObject): StripeObject {
    const intent = this.create('PaymentIntents.PaymentIntent', 'pi', {
      metadata: {},
      ...given,
      status: 'requires_confirmation',
    })
    intent['client_secret'] = `${intent['id']}_secret_test`
    return intent
  }

  /** Charges the payment method of an intent. */
  confirm(intent: StripeObject): StripeObject {
    const card = this.cards.get(intent['payment_method'])
    if (card !== 'good') {
      const needsCustomer = card === 'authentication_required'
      intent['status'] = 'requires_payment_method'
      intent['last_payment_error'] = complete('PaymentIntents.PaymentIntent.LastPaymentError', {
        type: 'card_error',
        code: needsCustomer ? 'authentication_required' : 'card_declined',
        decline_code: needsCustomer ? 'authentication_required' : 'insufficient_funds',
        message: 'Your card was declined.',
      })
      this.emit('payment_intent.payment_failed', intent)
      return intent
    }
    const charge = this.create('Charges.Charge', 'ch', {
      amount: intent['amount'],
      currency: intent['currency'],
      customer: intent['customer'],
      metadata: intent['metadata'],
      payment_intent: intent['id'],
      paid: true,
      receipt_url: 'https://pay.stripe.com/receipts/test',
      status: 'succeeded',
    })
    Object.assign(intent, {
      status: 'succeeded',
      last_payment_error: null,
      latest_charge: charge['id'],
      amount_received: intent['amount'],
    })
    this.emit('payment_intent.succeeded', intent)
    return intent
  }

  chargeOf = (intent: StripeObject): StripeObject => this.get(intent['latest_charge'])

  createInvoice(given: StripeObject): StripeObject {
    const invoice = this.create('Invoices.Invoice', 'in', { lines: this.listOf([]), ...given })
    return Object.assign(invoice, {
      hosted_invoice_url: `https://invoice.stripe.com/i/${invoice['id']}`,
      subtotal: invoice['total_excluding_tax'],
    })
  }

  recordPayment(invoice: StripeObject, intent: StripeObject): void {
    const isPaid = intent['status'] === 'succeeded'
    this.create('InvoicePayments.InvoicePayment', 'inpay', {
      invoice: invoice['id'],
      amount_requested: intent['amount'],
      amount_paid: isPaid ? intent['amount'] : null,
      currency: intent['currency'],
      payment: { type: 'payment_intent', payment_intent: intent['id'] },
      status: isPaid ? 'paid' : 'open',
    })
  }

  /** Refunds minor units including tax. */
  refund(intentId: string, amount: number, metadata: StripeObject = {}): StripeObject {
    const intent = this.get(intentId)
    const charge = this.chargeOf(intent)
    charge['amount_refunded'] += amount
    charge['refunded'] = charge['amount_refunded'] === charge['amount']
    this.emit('charge.refunded', charge)
    return this.create('Refunds.Refund', 're', {
      amount,
      charge: charge['id'],
      currency: charge['currency'],
      customer: intent['customer'],
      metadata,
      payment_intent: intentId,
      status: 'succeeded',
    })
  }

  /** The cardholder disputes a payment. */
  dispute(intentId: string): StripeObject {
    const charge = this.chargeOf(this.get(intentId))
    charge['disputed'] = true
    const dispute = this.create('Disputes.Dispute', 'dp', {
      amount: charge['amount'],
      charge: charge['id'],
      currency: charge['currency'],
      payment_intent: intentId,
      reason: 'fraudulent',
      status: 'needs_response',
    })
    return this.emit('charge.dispute.created', dispute)
  }

  /** The bank decides. @param event of `dispute` */
  closeDispute({ data }: StripeObject, status: 'won' | 'lost'): StripeObject {
    const dispute = Object.assign(this.get(data.object.id), { status })
    return this.emit('charge.dispute.closed', dispute)
  }
}

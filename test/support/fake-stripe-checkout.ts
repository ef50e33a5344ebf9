// The fake of Stripe: the pages of Checkout, and the customers that pay there.
import type { Card } from './fake-stripe-payments.ts'
import { FakeStripeSubscriptions } from './fake-stripe-subscriptions.ts'
import type { StripeObject } from './stripe-contract.ts'

export class FakeStripeCheckout extends FakeStripeSubscriptions {
  readonly #orders = new Map<string, { body: StripeObject; price: StripeObject }>()

  createSession(body: StripeObject): StripeObject {
    const [item] = body['line_items']
    const price = item.price ? this.get(item.price) : item.price_data
    const net = price['unit_amount'] * item.quantity
    const tax = this.taxOf(net, body['automatic_tax'])
    const session = this.create('Checkout.Sessions.Session', 'cs', {
      ...body,
      currency: price['currency'],
      status: 'open',
      payment_status: 'unpaid',
      amount_subtotal: net,
      amount_total: net + tax,
      automatic_tax: { enabled: body['automatic_tax'].enabled, status: null },
      total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: tax },
      url: 'https://checkout.stripe.com/c/pay/test',
      invoice_creation: null,
      tax_id_collection: { ...body['tax_id_collection'], required: 'never' },
      line_items: undefined,
    })
    // What the API does not return.
    this.#orders.set(session['id'], { body, price })
    return session
  }

  #order(sessionId: string) {
    const order = this.#orders.get(sessionId)
    if (!order) throw new Error(`The fake has no session ${sessionId}`)
    return order
  }

  /** The customer pays on the page. A declined card leaves the page open. */
  pay(sessionId: string, card: Card = 'good'): StripeObject {
    const session = this.get(sessionId)
    const order = this.#order(sessionId)
    const { body } = order
    const method = this.addCard(session['customer'], card)
    if (session['mode'] === 'subscription') {
      if (card !== 'good') return session
      const subscription = this.createSubscription(session, order, method)
      session['subscription'] = subscription['id']
      session['invoice'] = subscription['latest_invoice']
    } else {
      const intent = this.confirm(
        this.createIntent({
          amount: session['amount_total'],
          currency: session['currency'],
          customer: session['customer'],
          payment_method: method['id'],
          metadata: body['payment_intent_data'].metadata,
        }),
      )
      if (card !== 'good') return session
      session['payment_intent'] = intent['id']
      const invoice = this.createInvoice({
        customer: session['customer'],
        metadata: body['invoice_creation'].invoice_data.metadata,
        billing_reason: 'manual',
        currency: session['currency'],
        total_excluding_tax: session['amount_subtotal'],
        total: session['amount_total'],
        status: 'paid',
      })
      this.recordPayment(invoice, intent)
      session['invoice'] = invoice['id']
    }
    Object.assign(session, { status: 'complete', payment_status: 'paid', url: null })
    return this.emit('checkout.session.completed', session)
  }

  /** The customer pays with a bank debit, which confirms later. */
  payByDebit(sessionId: string): StripeObject {
    const session = this.get(sessionId)
    const { body } = this.#order(sessionId)
    const intent = this.createIntent({
      amount: session['amount_total'],
      currency: session['currency'],
      customer: session['customer'],
      metadata: body['payment_intent_data'].metadata,
    })
    intent['status'] = 'processing'
    Object.assign(session, { status: 'complete', url: null, payment_intent: intent['id'] })
    return this.emit('checkout.session.completed', session)
  }

  /** The bank confirms or returns the debit. */
  endDebit(sessionId: string, succeeds: boolean): StripeObject {
    const session = this.get(sessionId)
    const intent = this.get(session['payment_intent'])
    const method = this.addCard(session['customer'], succeeds ? 'good' : 'declined')
    intent['payment_method'] = method['id']
    this.confirm(intent)
    if (succeeds) session['payment_status'] = 'paid'
    const outcome = succeeds ? 'succeeded' : 'failed'
    return this.emit(`checkout.session.async_payment_${outcome}`, session)
  }

  expireSession(sessionId: string): StripeObject {
    const session = Object.assign(this.get(sessionId), { status: 'expired', url: null })
    return this.emit('checkout.session.expired', session)
  }
}

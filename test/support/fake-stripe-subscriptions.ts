// The fake of Stripe: subscriptions with proration, pending updates and renewals.
import { seconds } from './fake-stripe-objects.ts'
import { FakeStripePayments, type Card } from './fake-stripe-payments.ts'
import { complete, type StripeObject } from './stripe-contract.ts'

const MONTH_SECONDS = 30 * 24 * 3_600

interface Line {
  price: StripeObject
  amount: number
}

/** The lines of a change of price for the rest of the period, to the second. */
function prorated(item: StripeObject, price: StripeObject, at: number): Line[] {
  const share = (item['current_period_end'] - at) / MONTH_SECONDS
  return [
    { price: item['price'], amount: -Math.round(item['price'].unit_amount * share) },
    { price, amount: Math.round(price['unit_amount'] * share) },
  ]
}

export class FakeStripeSubscriptions extends FakeStripePayments {
  /** Updates of subscriptions that wait for the payment of an invoice. */
  readonly #pending = new Map<string, StripeObject>()

  createSubscription(
    session: StripeObject,
    { body, price }: { body: StripeObject; price: StripeObject },
    method: StripeObject,
  ) {
    const subscription = this.create('Subscriptions.Subscription', 'sub', {
      status: 'active',
      customer: session['customer'],
      currency: session['currency'],
      metadata: body['subscription_data'].metadata,
      default_payment_method: method['id'],
      start_date: seconds(),
      automatic_tax: { enabled: body['automatic_tax'].enabled },
    })
    const item = this.create('SubscriptionItems.SubscriptionItem', 'si', {
      subscription: subscription['id'],
      price,
      quantity: 1,
      current_period_start: seconds(),
      current_period_end: seconds() + MONTH_SECONDS,
    })
    subscription['items'] = this.listOf([item])
    this.#invoice(subscription, 'subscription_create', [{ price, amount: price['unit_amount'] }])
    this.emit('customer.subscription.created', subscription)
    return subscription
  }

  /** Creates an invoice for another reason than the plan, such as one that staff writes, and charges it. */
  addInvoice(subscriptionId: string, reason: string): StripeObject {
    const subscription = this.get(subscriptionId)
    const { price } = subscription['items'].data[0]
    return this.#invoice(subscription, reason, [{ price, amount: price['unit_amount'] }])
  }

  /** Creates an invoice of a subscription and charges it. */
  #invoice(subscription: StripeObject, reason: string, lines: Line[]): StripeObject {
    const net = lines.reduce((sum, { amount }) => sum + amount, 0)
    const total = net + this.taxOf(net, subscription['automatic_tax'])
    const invoice = this.createInvoice({
      customer: subscription['customer'],
      currency: subscription['currency'],
      billing_reason: reason,
      status: 'open',
      total,
      total_excluding_tax: net,
      lines: this.listOf(lines.map((line) => this.#lineOf(line))),
      parent: {
        type: 'subscription_details',
        quote_details: null,
        subscription_details: {
          metadata: { ...subscription['metadata'] },
          subscription: subscription['id'],
        },
      },
    })
    subscription['latest_invoice'] = invoice['id']
    this.payInvoice(invoice['id'], this.cards.get(subscription['default_payment_method']) ?? 'good')
    return invoice
  }

  #lineOf({ price, amount }: Line): StripeObject {
    return complete('InvoiceLineItems.InvoiceLineItem', {
      id: `il_${crypto.randomUUID()}`,
      amount,
      currency: price['currency'],
      pricing: {
        type: 'price_details',
        unit_amount_decimal: null,
        price_details: { price: price['id'], product: price['product'] },
      },
    })
  }

  /** An attempt to pay an open invoice: by Stripe, or by the customer on its page. */
  payInvoice(invoiceId: string, card: Card = 'good'): StripeObject {
    const invoice = this.get(invoiceId)
    if (invoice['total'] > 0) {
      const method = this.addCard(invoice['customer'], card)
      const intent = this.createIntent({
        amount: invoice['total'],
        currency: invoice['currency'],
        customer: invoice['customer'],
        payment_method: method['id'],
      })
      this.recordPayment(invoice, this.confirm(intent))
      if (intent['status'] !== 'succeeded') return this.emit('invoice.payment_failed', invoice)
    }
    invoice['status'] = 'paid'
    const update = this.#pending.get(invoiceId)
    const subscription = this.get(invoice['parent'].subscription_details.subscription)
    if (update) this.#applyItems(subscription, update)
    subscription['pending_update'] = null
    if (subscription['status'] === 'past_due') subscription['status'] = 'active'
    return this.emit('invoice.paid', invoice)
  }

  updateSubscription(subscription: StripeObject, body: StripeObject): StripeObject {
    const { metadata, cancel_at_period_end: ends, items } = body
    if (metadata) subscription['metadata'] = { ...subscription['metadata'], ...metadata }
    if (ends !== undefined) subscription['cancel_at_period_end'] = ends
    if (items && body['proration_behavior'] === 'none') this.#applyItems(subscription, body)
    else if (items) this.#upgrade(subscription, body)
    this.emit('customer.subscription.updated', subscription)
    return subscription
  }

  #applyItems(subscription: StripeObject, { items: [change] }: StripeObject): void {
    const [item] = subscription['items'].data
    item.price = this.get(change.price)
  }

  /** Charges the difference for the rest of the period. */
  #upgrade(subscription: StripeObject, body: StripeObject): void {
    const [item] = subscription['items'].data
    const price = this.get(body['items'][0].price)
    // Nothing changes, so that nothing is invoiced.
    if (price['id'] === item.price.id) return
    const lines = prorated(item, price, body['proration_date'])
    const invoice = this.#invoice(subscription, 'subscription_update', lines)
    if (invoice['status'] === 'paid') this.#applyItems(subscription, body)
    else {
      this.#pending.set(invoice['id'], body)
      subscription['pending_update'] = complete('Subscriptions.Subscription.PendingUpdate', {
        expires_at: seconds() + 23 * 3_600,
      })
    }
  }

  /** What an update of a subscription would charge. */
  previewUpgrade({ subscription: id, subscription_details: details }: StripeObject): StripeObject {
    const subscription = this.get(id)
    const [item] = subscription['items'].data
    const price = this.get(details.items[0].price)
    const net = prorated(item, price, details.proration_date).reduce(
      (sum, it) => sum + it.amount,
      0,
    )
    const total = net + this.taxOf(net, subscription['automatic_tax'])
    return complete('Invoices.Invoice', { id: 'upcoming_in', total, total_excluding_tax: net })
  }

  /** 23 hours pass without a payment of an upgrade. */
  expirePendingUpdate(subscriptionId: string): StripeObject {
    const subscription = this.get(subscriptionId)
    subscription['pending_update'] = null
    const invoice = this.get(subscription['latest_invoice'])
    this.#pending.delete(invoice['id'])
    invoice['status'] = 'void'
    return this.emit('invoice.voided', invoice)
  }

  /** The next period begins. */
  renew(subscriptionId: string): StripeObject {
    const subscription = this.get(subscriptionId)
    if (subscription['cancel_at_period_end']) return this.endSubscription(subscriptionId)
    const [item] = subscription['items'].data
    item.current_period_start = item.current_period_end
    item.current_period_end += MONTH_SECONDS
    const lines = [{ price: item.price, amount: item.price.unit_amount }]
    const invoice = this.#invoice(subscription, 'subscription_cycle', lines)
    if (invoice['status'] !== 'paid') subscription['status'] = 'past_due'
    return invoice
  }

  /** Replaces the card that pays the subscription. */
  changeCard(subscriptionId: string, card: Card): void {
    const subscription = this.get(subscriptionId)
    subscription['default_payment_method'] = this.addCard(subscription['customer'], card)['id']
  }

  endSubscription(subscriptionId: string): StripeObject {
    const subscription = Object.assign(this.get(subscriptionId), {
      status: 'canceled',
      ended_at: seconds(),
    })
    this.emit('customer.subscription.deleted', subscription)
    return subscription
  }
}

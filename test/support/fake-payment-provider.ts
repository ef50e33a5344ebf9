// A payment provider in memory that replaces the sandbox. Tests control what customers and banks do,
// which calls fail, and which events are delivered.
import { vi } from 'vitest'
import { PROVIDERS } from '../../src/billing/choose-provider.ts'
import { PLAN_TERMS, type SelfServicePlan } from '../../src/billing/plans.ts'
import {
  PaymentError,
  type EventQuery,
  type ListedEvent,
  type PaymentProvider,
  type PaymentRequest,
  type PaymentState,
  type ProviderEvent,
  type SubscriptionState,
} from '../../src/billing/payment-provider.ts'
import type { PaymentProviderName } from '../../src/domain/billing.ts'
import {
  FakeSubscriptions,
  invoicesOf,
  PERIOD_MS,
  type StoredPayment,
  type StoredSubscription,
} from './fake-subscriptions.ts'

/** `before`: without an effect. `after`: the effect happens, but the response is lost. */
export type Outage = 'before' | 'after' | 'rejected'
type Method = Exclude<keyof PaymentProvider, 'name'>

const VALID_SIGNATURE = 'valid'

export class FakePaymentProvider implements PaymentProvider {
  name: PaymentProviderName = 'sandbox'
  /** The result of the next charges and upgrades. `open`: the customer has to confirm. */
  outcome: 'paid' | 'declined' | 'open' = 'paid'
  /** What an upgrade costs, minor units. */
  proration = 12_500
  /** The payment method that the portal has stored. */
  card = 'Visa •••• 4242'
  /** The calls so far, including failed ones. */
  readonly calls: Method[] = []
  /** Everything that happened, whether it was delivered or not. */
  readonly events: ProviderEvent[] = []
  /** The ids of events that do not concern this service. */
  readonly foreign = new Set<string>()
  /** Wraps each call. The default performs it. */
  intercept: <T>(name: string, perform: () => Promise<T>) => Promise<T> = (_, perform) => perform()
  readonly #payments: StoredPayment[] = []
  readonly #subscriptions = new FakeSubscriptions()
  readonly #refunds = new Map<string, number>()
  #outages: { method: Method; outage: Outage; times: number }[] = []
  #ids = 0
  readonly #prefix = crypto.randomUUID().slice(0, 8)

  /** Makes the next calls of a method fail. */
  fail(method: Method, outage: Outage, times = 1): void {
    this.#outages.push({ method, outage, times })
  }

  /** Ends all outages. */
  recover(): void {
    this.#outages = []
  }

  // What customers, banks and time do. Each emits an event.

  /** The customer pays an open, failed or expired payment. */
  pay(paymentId: string): ProviderEvent {
    const payment = this.#paymentOf(paymentId)
    if (payment.state.status !== 'paid') this.#succeed(payment)
    return this.#emit(payment)
  }

  decline(paymentId: string, failure = 'The card was declined.'): ProviderEvent {
    return this.#change(paymentId, { status: 'failed', failure, actionUrl: null })
  }

  expire(paymentId: string): ProviderEvent {
    return this.#change(paymentId, { status: 'expired', actionUrl: null })
  }

  /** A refund in the provider's dashboard. */
  refundInDashboard(paymentId: string, amount: number): ProviderEvent {
    const { state } = this.#paymentOf(paymentId)
    const amountRefunded = Math.min(state.amount, state.amountRefunded + amount)
    return this.#change(paymentId, { amountRefunded })
  }

  dispute(paymentId: string, dispute: 'open' | 'won' | 'lost'): ProviderEvent {
    const { state } = this.#paymentOf(paymentId)
    const lost = dispute === 'lost' && { amountRefunded: state.amount }
    return this.#change(paymentId, { dispute, ...lost })
  }

  /** The period of a subscription ends. @returns the event */
  renew(subscriptionId: string, outcome: 'paid' | 'failed' = 'paid'): ProviderEvent {
    const subscription = this.#subscriptions.require(subscriptionId)
    if (subscription.endsAtPeriodEnd) return this.end(subscriptionId)
    const invoice = this.#store({
      paymentId: null,
      organisationId: subscription.organisationId,
      plan: subscription.plan,
      amount: PLAN_TERMS[subscription.plan].monthlyFee[subscription.currency],
      currency: subscription.currency,
      subscriptionId,
    })
    subscription.periodEnd = new Date(subscription.periodEnd.getTime() + PERIOD_MS)
    if (outcome === 'paid') invoice.state.status = 'paid'
    else subscription.status = 'past_due'
    return this.#emit(invoice)
  }

  /** The failed renewal of a subscription is paid after all. */
  payRenewal(subscriptionId: string): ProviderEvent {
    const subscription = this.#subscriptions.require(subscriptionId)
    const invoice = this.#payments.findLast(
      ({ state }) => state.subscriptionId === subscriptionId && state.status !== 'paid',
    )
    if (!invoice) throw new Error('The subscription has no unpaid invoice')
    invoice.state.status = 'paid'
    subscription.status = 'active'
    return this.#emit(invoice)
  }

  /** The subscription ends at the provider, such as in its portal. */
  end(subscriptionId: string): ProviderEvent {
    const subscription = this.#subscriptions.require(subscriptionId)
    subscription.status = 'ended'
    return this.#emitEvent(subscription.organisationId, null, subscriptionId)
  }

  /** The webhook request of an event. */
  delivery(event: ProviderEvent, signature = VALID_SIGNATURE): { headers: Headers; body: string } {
    return { headers: new Headers({ 'x-signature': signature }), body: JSON.stringify(event) }
  }

  // What tests read.

  /** The current state of a payment, without a call. */
  stateOf(paymentId: string): PaymentState {
    return this.#paymentOf(paymentId).state
  }

  /** The state of a payment or, by its reference, of a renewal. */
  knownState(id: string): PaymentState | undefined {
    return (this.#find(id) ?? this.#findReference(id))?.state
  }

  /** The plan of the last paid invoice. */
  paidPlanOf(subscriptionId: string): SelfServicePlan | undefined {
    return invoicesOf(this.#payments, subscriptionId).findLast(({ status }) => status === 'paid')
      ?.plan
  }

  /** The newest subscription of an organisation. */
  subscriptionOf(organisationId: string): StoredSubscription | undefined {
    return this.#subscriptions.newestOf(organisationId)
  }

  /** Amount paid less refunds of each payment and renewal of an organisation, minor units. */
  paidBy(organisationId: string): { paymentId: string | null; reference: string; net: number }[] {
    return this.#payments
      .filter((payment) => payment.organisationId === organisationId)
      .filter(({ state }) => state.status === 'paid')
      .map(({ paymentId, state: { reference, amount, amountRefunded } }) => ({
        paymentId,
        reference,
        net: amount - amountRefunded,
      }))
  }

  // The interface.

  startCheckout(request: PaymentRequest & { returnUrl: string }): Promise<PaymentState> {
    return this.#call('startCheckout', () => {
      const stored = this.#find(request.paymentId)
      if (stored) return { ...stored.state }
      const payment = this.#storeRequest(request, null)
      payment.state.actionUrl = `https://pay.test/${payment.state.reference}?return=${encodeURIComponent(request.returnUrl)}`
      return { ...payment.state }
    })
  }

  expireCheckout(reference: string): Promise<void> {
    return this.#call('expireCheckout', () => {
      const payment = this.#findReference(reference)
      if (payment?.state.status === 'open') this.expire(payment.paymentId ?? '')
    })
  }

  charge(request: PaymentRequest): Promise<PaymentState> {
    return this.#call('charge', () => {
      const stored = this.#find(request.paymentId)
      return { ...(stored ?? this.#attempt(this.#storeRequest(request, null))).state }
    })
  }

  findPayment(payment: {
    paymentId: string
    reference: string | null
  }): Promise<PaymentState | null> {
    return this.#call('findPayment', () => {
      const found = this.#find(payment.paymentId) ?? this.#findReference(payment.reference)
      return found ? { ...found.state } : null
    })
  }

  quoteUpgrade(): Promise<number> {
    return this.#call('quoteUpgrade', () => this.proration)
  }

  upgrade(request: PaymentRequest & { subscriptionId: string }): Promise<PaymentState> {
    return this.#call('upgrade', () => {
      const stored = this.#find(request.paymentId)
      if (stored) return { ...stored.state }
      const payment = this.#storeRequest(request, request.subscriptionId)
      payment.isUpgrade = true
      payment.state.amount = this.proration
      return { ...this.#attempt(payment).state }
    })
  }

  setNextPlan(change: { subscriptionId: string; plan: SelfServicePlan }): Promise<void> {
    return this.#call('setNextPlan', () => {
      const subscription = this.#subscriptions.require(change.subscriptionId)
      subscription.endsAtPeriodEnd = change.plan === 'starter'
      if (change.plan !== 'starter') subscription.plan = change.plan
      this.#emitEvent(subscription.organisationId, null, subscription.id)
    })
  }

  endSubscription(subscriptionId: string): Promise<void> {
    return this.#call('endSubscription', () => {
      if (this.#subscriptions.require(subscriptionId).status !== 'ended') this.end(subscriptionId)
    })
  }

  findSubscription(subscriptionId: string): Promise<SubscriptionState | null> {
    return this.#call('findSubscription', () => {
      const subscription = this.#subscriptions.find(subscriptionId)
      return subscription
        ? { ...subscription, invoices: invoicesOf(this.#payments, subscriptionId) }
        : null
    })
  }

  refund(refund: { refundId: string; reference: string; amount: number }): Promise<void> {
    return this.#call('refund', () => {
      const payment = this.#findReference(refund.reference)
      if (!payment) throw new PaymentError('rejected', 'No such payment')
      const known = this.#refunds.get(refund.refundId)
      if (known !== undefined) {
        if (known !== refund.amount) throw new PaymentError('rejected', 'Another amount')
        return
      }
      const { amount, amountRefunded, status } = payment.state
      if (status !== 'paid' || refund.amount > amount - amountRefunded) {
        throw new PaymentError('rejected', 'The refund is greater than the payment')
      }
      this.#refunds.set(refund.refundId, refund.amount)
      payment.state.amountRefunded += refund.amount
      this.#emit(payment)
    })
  }

  paymentMethod(): Promise<string | null> {
    return this.#call('paymentMethod', () => this.card)
  }

  portalUrl(customer: { customerId: string; returnUrl: string }): Promise<string> {
    return this.#call('portalUrl', () => `https://pay.test/portal/${customer.customerId}`)
  }

  readEvent({ headers, body }: { headers: Headers; body: string }): Promise<ProviderEvent | null> {
    return this.#call('readEvent', () => {
      if (headers.get('x-signature') !== VALID_SIGNATURE) {
        throw new PaymentError('invalid_signature', 'The signature is not valid')
      }
      const event = JSON.parse(body) as ProviderEvent | null
      return event && { ...event, createdAt: new Date(event.createdAt) }
    })
  }

  async missingEvents({ since, limit, knownOf }: EventQuery): Promise<ListedEvent[]> {
    const events = await this.#call('missingEvents', () =>
      this.events.filter(({ createdAt }) => createdAt >= since),
    )
    const known = await knownOf(events.map(({ id }) => id))
    return events
      .filter(({ id }) => !known.has(id))
      .slice(0, limit)
      .map((event) => ({
        id: event.id,
        createdAt: event.createdAt,
        read: async () => (this.foreign.has(event.id) ? null : event),
      }))
  }

  async #call<T>(method: Method, perform: () => T): Promise<T> {
    return this.intercept(`provider.${method}`, async () => {
      this.calls.push(method)
      const planned = this.#outages.find((one) => one.method === method && one.times > 0)
      if (planned) planned.times--
      if (planned?.outage === 'before') throw new PaymentError('unavailable', 'No connection')
      if (planned?.outage === 'rejected') throw new PaymentError('rejected', 'Rejected')
      const result = perform()
      if (planned) throw new PaymentError('unavailable', 'The connection was lost')
      return result
    })
  }

  #store(
    fields: Pick<StoredPayment, 'paymentId' | 'organisationId' | 'plan'> &
      Pick<PaymentState, 'amount' | 'currency' | 'subscriptionId'>,
  ): StoredPayment {
    const { amount, currency, subscriptionId, ...rest } = fields
    const reference = this.#id(rest.paymentId === null ? 'in' : 'cs')
    const payment: StoredPayment = {
      ...rest,
      createdAt: new Date(),
      isUpgrade: false,
      state: {
        reference,
        status: 'open',
        failure: null,
        actionUrl: null,
        amount,
        tax: Math.round(amount / 5),
        currency,
        amountRefunded: 0,
        dispute: null,
        invoiceUrl: `https://pay.test/invoices/${reference}`,
        customerId: `cus_${rest.organisationId}`,
        paymentMethod: null,
        subscriptionId,
      },
    }
    this.#payments.push(payment)
    return payment
  }

  #storeRequest(
    { paymentId, customer, purchase }: PaymentRequest,
    subscriptionId: string | null,
  ): StoredPayment {
    return this.#store({
      paymentId,
      organisationId: customer.organisationId,
      plan: purchase.kind === 'plan' ? purchase.plan : null,
      amount: purchase.amount,
      currency: customer.currency,
      subscriptionId,
    })
  }

  #attempt(payment: StoredPayment): StoredPayment {
    if (this.outcome === 'paid') this.#succeed(payment)
    if (this.outcome === 'declined') {
      Object.assign(payment.state, { status: 'failed', failure: 'The card was declined.' })
    }
    if (this.outcome === 'open') {
      payment.state.actionUrl = `https://pay.test/${payment.state.reference}`
    }
    this.#emit(payment)
    return payment
  }

  #succeed({ organisationId, plan, state, isUpgrade }: StoredPayment): void {
    Object.assign(state, {
      status: 'paid',
      failure: null,
      actionUrl: null,
      paymentMethod: 'Visa •••• 4242',
    })
    if (plan && isUpgrade && state.subscriptionId !== null) {
      this.#subscriptions.upgrade(state.subscriptionId, plan)
    } else if (plan) {
      state.subscriptionId ??= this.#id('sub')
      const { currency } = state
      this.#subscriptions.start(state.subscriptionId, { organisationId, plan, currency })
    }
  }

  #change(paymentId: string, change: Partial<PaymentState>): ProviderEvent {
    const payment = this.#paymentOf(paymentId)
    Object.assign(payment.state, change)
    return this.#emit(payment)
  }

  #emit({ organisationId, paymentId, state }: StoredPayment): ProviderEvent {
    const reference = paymentId === null ? state.reference : null
    return this.#emitEvent(organisationId, paymentId, state.subscriptionId, reference)
  }

  #emitEvent(
    organisationId: string,
    paymentId: string | null,
    subscriptionId: string | null,
    reference: string | null = null,
  ): ProviderEvent {
    const event = {
      id: this.#id('ev'),
      createdAt: new Date(),
      organisationId,
      paymentId,
      subscriptionId,
      reference,
    }
    this.events.push(event)
    return event
  }

  #id = (prefix: string) => `${prefix}_${this.#prefix}_${++this.#ids}`

  #find = (paymentId: string) => this.#payments.find((one) => one.paymentId === paymentId)

  #findReference = (reference: string | null) =>
    this.#payments.find(({ state }) => state.reference === reference)

  /** @param id of a payment, or the reference of a renewal */
  #paymentOf(id: string): StoredPayment {
    const found = this.#find(id) ?? this.#findReference(id)
    if (!found) throw new Error(`The provider does not know the payment ${id}`)
    return found
  }
}

/** Replaces the sandbox until the end of the test. */
export function fakePayments(): FakePaymentProvider {
  const provider = new FakePaymentProvider()
  vi.spyOn(PROVIDERS, 'sandbox').mockReturnValue(provider)
  return provider
}

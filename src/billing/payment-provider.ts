// The interface of payment providers. The provider is the source of truth for money. After each event,
// the service reads the current state of the payment or subscription and applies it. Duplicate, reordered
// and late events are therefore harmless, and the next read replaces a lost one.
import type { DisputeStatus, PaymentProviderName } from '../domain/billing.ts'
import type { Currency } from '../domain/organisation.ts'
import type { Pack, SelfServicePlan } from './plans.ts'

/** The organisation as a customer of the provider. */
export interface Customer {
  organisationId: string
  organisationName: string
  currency: Currency
  /** The provider's id of the customer; null before the first payment. */
  customerId: string | null
  /** The address of the user who pays, for the provider's page; null for auto-reload. */
  email: string | null
}

/** What a payment is for. The provider takes the amount from here, never from a request. */
export type Purchase =
  | { kind: 'pack' | 'auto_reload'; pack: Pack; amount: number }
  /** A subscription with a monthly fee of `amount`. */
  | { kind: 'plan'; plan: SelfServicePlan; amount: number }

export interface PaymentRequest {
  /** `pay_…`: also the idempotency key, and in the metadata of everything that is created. */
  paymentId: string
  customer: Customer
  purchase: Purchase
}

export interface CheckoutRequest extends PaymentRequest {
  /** Where the provider redirects after the payment, and without one. */
  returnUrl: string
  cancelUrl: string
}

export interface UpgradeRequest extends PaymentRequest {
  subscriptionId: string
  /** From when on the difference is charged. */
  at: Date
}

export interface PaymentToFind {
  paymentId: string
  /** The provider's id; null when the response that contained it was lost. */
  reference: string | null
  customerId: string | null
  createdAt: Date
}

export interface RefundRequest {
  refundId: string
  reference: string
  /** Minor units without tax. */
  amount: number
}

export interface NextPlan {
  subscriptionId: string
  plan: SelfServicePlan
  currency: Currency
}

export interface EventQuery {
  since: Date
  limit: number
  /** Which of these ids are known. */
  knownOf: (ids: string[]) => Promise<Set<string>>
}

/** A payment as the provider sees it. */
export interface PaymentState {
  /** The provider's id of the checkout session, payment or invoice. */
  reference: string
  status: 'open' | 'paid' | 'failed' | 'expired'
  /** For the customer, such as "The card was declined."; null unless failed. */
  failure: string | null
  /** The page where the customer pays or confirms; null when there is nothing to do. */
  actionUrl: string | null
  /** Minor units without tax. */
  amount: number
  /** Minor units on top of `amount`. */
  tax: number
  currency: Currency
  /** Refunds and lost disputes so far, minor units without tax. Never decreases. */
  amountRefunded: number
  dispute: DisputeStatus | null
  /** The invoice or receipt as a page or PDF. */
  invoiceUrl: string | null
  customerId: string | null
  /** For display, such as "Visa •••• 4242"; null when none is stored. */
  paymentMethod: string | null
  /** The subscription that the payment started or belongs to. */
  subscriptionId: string | null
}

/** A payment of a subscription. */
export interface InvoiceState extends PaymentState {
  /** `pay_…` of the purchase or upgrade that caused the invoice; null for a renewal. */
  paymentId: string | null
  plan: SelfServicePlan
  createdAt: Date
}

export interface SubscriptionState {
  id: string
  organisationId: string
  status: 'active' | 'past_due' | 'ended'
  /** The plan of the next renewal. */
  plan: SelfServicePlan
  periodEnd: Date
  endsAtPeriodEnd: boolean
  /** The invoices of the last 60 days, oldest first. */
  invoices: InvoiceState[]
}

/** A change of a subscription to a more expensive plan. */
export interface UpgradeQuote extends NextPlan {
  /** The new monthly fee, minor units. */
  amount: number
  /** From when on the difference is charged. */
  at: Date
}

/** Reports that something has changed. Contains only what identifies the subject. */
export interface ProviderEvent {
  id: string
  createdAt: Date
  organisationId: string
  /** The payment that changed; null when only `subscriptionId` is set. */
  paymentId: string | null
  subscriptionId: string | null
  /** The provider's id of the invoice, which identifies a renewal; null when no invoice changed. */
  reference: string | null
}

/** An event in the list of the provider. */
export interface ListedEvent {
  id: string
  createdAt: Date
  /** Finds out what has changed. @returns null when the event does not concern this service */
  read: () => Promise<ProviderEvent | null>
}

export interface PaymentProvider {
  readonly name: PaymentProviderName

  /** Creates the page where the customer pays. Repeating it with the same payment id returns the same page. */
  startCheckout(request: CheckoutRequest): Promise<PaymentState>

  /** Closes the page of a checkout that is not paid. May be repeated; a paid one stays paid. */
  expireCheckout(reference: string): Promise<void>

  /**
   * Charges the stored payment method while the customer is absent. Repeating it with the same payment
   * id charges once. A declined card is a state, not an error.
   */
  charge(request: PaymentRequest): Promise<PaymentState>

  /** The current state of a payment. @returns null when the provider has never received it */
  findPayment(payment: PaymentToFind): Promise<PaymentState | null>

  /** What `upgrade` at the same instant charges. @returns minor units without tax */
  quoteUpgrade(change: UpgradeQuote): Promise<number>

  /**
   * Changes a subscription to a more expensive plan at once; the provider charges the difference for
   * the rest of the period. Repeating it with the same payment id charges once.
   */
  upgrade(request: UpgradeRequest): Promise<PaymentState>

  /**
   * Sets the plan of the next renewal. `starter` ends the subscription at the end of the period. The
   * current plan reverts an earlier call. May be repeated.
   */
  setNextPlan(change: NextPlan): Promise<void>

  /** Ends a subscription at once, without a refund. May be repeated. */
  endSubscription(subscriptionId: string): Promise<void>

  /** @returns null when the provider does not know it */
  findSubscription(subscriptionId: string): Promise<SubscriptionState | null>

  /**
   * Refunds a part of a payment, once per `refundId`.
   * @throws PaymentError when the provider rejects it, such as for more than was paid
   */
  refund(refund: RefundRequest): Promise<void>

  /** The stored payment method, such as "Visa •••• 4242"; null when none is stored. */
  paymentMethod(customerId: string): Promise<string | null>

  /** A page where the customer changes payment method, billing address and tax id. */
  portalUrl(customer: { customerId: string; returnUrl: string }): Promise<string>

  /**
   * Verifies an event of the provider.
   * @returns null when the event does not concern this service
   * @throws PaymentError `invalid_signature`
   */
  readEvent(request: { headers: Headers; body: string }): Promise<ProviderEvent | null>

  /** Lists the events since an instant that are not known yet, oldest first, also those never delivered. */
  missingEvents(query: EventQuery): Promise<ListedEvent[]>
}

/** The provider rejected a request or cannot be reached. */
export class PaymentError extends Error {
  override readonly name = 'PaymentError'
  readonly code: 'unavailable' | 'rejected' | 'invalid_signature'

  /** @param code `unavailable`: the request may have had an effect; repeat it with the same id */
  constructor(code: PaymentError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The error of a request that the provider does not accept, and that repeating does not help. */
export const rejected = (message: string): PaymentError => new PaymentError('rejected', message)

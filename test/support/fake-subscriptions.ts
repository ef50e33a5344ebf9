// The payments and subscriptions that the fake payment provider stores.
import type { SelfServicePlan } from '../../src/billing/plans.ts'
import type {
  InvoiceState,
  PaymentState,
  SubscriptionState,
} from '../../src/billing/payment-provider.ts'
import type { Currency } from '../../src/domain/organisation.ts'

export const PERIOD_MS = 30 * 24 * 60 * 60_000

export interface StoredPayment {
  /** Null for a renewal. */
  paymentId: string | null
  organisationId: string
  plan: SelfServicePlan | null
  createdAt: Date
  isUpgrade: boolean
  state: PaymentState
}

export type StoredSubscription = Omit<SubscriptionState, 'invoices'> & { currency: Currency }

export class FakeSubscriptions {
  readonly #all = new Map<string, StoredSubscription>()

  find(id: string): StoredSubscription | undefined {
    return this.#all.get(id)
  }

  /** @throws Error when the subscription does not exist */
  require(id: string): StoredSubscription {
    const found = this.#all.get(id)
    if (!found) throw new Error(`The provider does not know the subscription ${id}`)
    return found
  }

  /** The newest subscription of an organisation. */
  newestOf(organisationId: string): StoredSubscription | undefined {
    return [...this.#all.values()].findLast(
      (subscription) => subscription.organisationId === organisationId,
    )
  }

  /** Starts the subscription of a first payment. */
  start(id: string, terms: Pick<StoredSubscription, 'organisationId' | 'plan' | 'currency'>): void {
    const periodEnd = new Date(Date.now() + PERIOD_MS)
    this.#all.set(id, { id, status: 'active', ...terms, periodEnd, endsAtPeriodEnd: false })
  }

  /** Changes the plan at once. */
  upgrade(id: string, plan: SelfServicePlan): void {
    Object.assign(this.require(id), { plan, endsAtPeriodEnd: false })
  }
}

/** The payments of a subscription as its invoices. */
export const invoicesOf = (payments: StoredPayment[], subscriptionId: string): InvoiceState[] =>
  payments
    .filter(({ state }) => state.subscriptionId === subscriptionId)
    .map(({ state, paymentId, plan, createdAt }) => ({
      ...state,
      // As at Stripe, a payment page and its invoice have different ids.
      reference: state.reference.replace('cs_', 'in_'),
      paymentId,
      plan: plan ?? 'starter',
      createdAt,
    }))

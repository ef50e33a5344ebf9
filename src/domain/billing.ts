// Kinds and states of payments and subscriptions. Amounts are whole minor units of a currency, such as
// cents or paise.

/** The path of the console's page Billing. */
export const BILLING_PATH = '/console/billing'

export const PAYMENT_PROVIDERS = ['sandbox', 'stripe'] as const
export type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number]

/** `plan`: the first payment of a plan, or an upgrade. `renewal`: a later period of a plan. */
export const PAYMENT_KINDS = ['pack', 'auto_reload', 'plan', 'renewal'] as const

/**
 * `expired`: the payment page expired. A failed or expired payment can still become paid; a paid one
 * stays paid.
 */
export const PAYMENT_STATUSES = ['open', 'paid', 'failed', 'expired'] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

export const DISPUTE_STATUSES = ['open', 'won', 'lost'] as const
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number]

/** `past_due`: a renewal failed and the grace period runs. */
export const SUBSCRIPTION_STATUSES = ['active', 'past_due'] as const

/** What an operator has agreed with an organisation on the plan `enterprise`. */
export interface EnterpriseTerms {
  /** Minor units of the organisation's currency. Invoiced outside this service. */
  monthlyFee: number
  /** Granted once per calendar month (UTC). */
  includedCredits: number
  /** Minor units per further credit. */
  creditPrice: number
}

// The tables of billing in D1: customers and their subscriptions, payments, the events of the provider,
// and the rows of the sandbox.
import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import {
  DISPUTE_STATUSES,
  PAYMENT_KINDS,
  PAYMENT_PROVIDERS,
  PAYMENT_STATUSES,
  SUBSCRIPTION_STATUSES,
  type EnterpriseTerms,
} from '../../domain/billing.ts'
import { CURRENCIES, PLANS } from '../../domain/organisation.ts'
import { instant } from './schema.ts'

/** An organisation as a customer of the payment provider. Created by its first payment. */
export const billingAccounts = sqliteTable('billing_accounts', {
  organisationId: text('organisation_id').primaryKey(),
  /** The provider of the customer, the payment method and the subscription. */
  provider: text({ enum: PAYMENT_PROVIDERS }),
  customerId: text('customer_id'),
  /** For display, such as "Visa •••• 4242". */
  paymentMethod: text('payment_method'),
  subscriptionId: text('subscription_id'),
  subscriptionStatus: text('subscription_status', { enum: SUBSCRIPTION_STATUSES }),
  /** The plan from `periodEnd` on, while a downgrade is scheduled. */
  nextPlan: text('next_plan', { enum: PLANS }),
  periodEnd: instant('period_end'),
  /** When the plan ends because its renewal failed. */
  graceUntil: instant('grace_until'),
  /** The day of the grace period of which the last email was sent. */
  graceMailDay: integer('grace_mail_day'),
  enterpriseTerms: text('enterprise_terms', { mode: 'json' }).$type<EnterpriseTerms>(),
})

/**
 * Payments of credits and plans. Required by law, so they remain when the organisation is deleted: no
 * foreign key, and no personal data.
 */
export const payments = sqliteTable(
  'payments',
  {
    id: text().primaryKey(),
    organisationId: text('organisation_id').notNull(),
    kind: text({ enum: PAYMENT_KINDS }).notNull(),
    status: text({ enum: PAYMENT_STATUSES }).notNull(),
    /** The plan that is paid; null for packs. */
    plan: text({ enum: PLANS }),
    /** The credits that are granted once it is paid. */
    credits: integer().notNull(),
    /** The credits taken back after refunds and lost disputes. */
    creditsReversed: integer('credits_reversed').notNull().default(0),
    /** Minor units without tax. */
    amount: integer().notNull(),
    amountRefunded: integer('amount_refunded').notNull().default(0),
    /** Minor units on top of `amount`; null until it is paid, and of payments of earlier releases. */
    tax: integer(),
    /** What paid it, such as "Visa •••• 4242"; null until then, and once the organisation is deleted. */
    paymentMethod: text('payment_method'),
    currency: text({ enum: CURRENCIES }).notNull(),
    dispute: text({ enum: DISPUTE_STATUSES }),
    provider: text({ enum: PAYMENT_PROVIDERS }).notNull(),
    /** The provider's id of the checkout session, payment or invoice; null before its first response. */
    providerReference: text('provider_reference'),
    /** The page where the customer pays or confirms, while the payment is open. */
    actionUrl: text('action_url'),
    invoiceUrl: text('invoice_url'),
    /** Why it failed, for the customer. */
    failure: text(),
    /** The user who pays; null for automatic payments. */
    createdBy: text('created_by'),
    createdAt: instant('created_at').notNull(),
    /** When the provider was last asked about it. */
    checkedAt: instant('checked_at').notNull(),
    paidAt: instant('paid_at'),
    /** When the receipt has to be sent; null before the payment and once it is sent. */
    receiptDueAt: instant('receipt_due_at'),
  },
  (table) => [
    index('payments_by_organisation').on(table.organisationId, table.id),
    index('payments_by_status').on(table.status, table.id),
    // Open work: payments that the provider has to be asked about, and receipts to send.
    index('payments_open')
      .on(table.organisationId)
      .where(sql`status = 'open' or receipt_due_at is not null`),
    // One open upgrade, which has the amount 0 until it is paid.
    uniqueIndex('payments_open_upgrade')
      .on(table.organisationId)
      .where(sql`kind = 'plan' and status = 'open' and amount = 0`),
    uniqueIndex('payments_by_reference')
      .on(table.provider, table.providerReference)
      .where(sql`provider_reference is not null`),
  ],
)

/**
 * The refunds that operators requested, each stored before the provider is called. A repeated reference
 * refunds the same amount once. Stored as long as paid payments: without limit.
 */
export const refundRequests = sqliteTable(
  'refund_requests',
  {
    paymentId: text('payment_id').notNull(),
    reference: text().notNull(),
    /** Minor units without tax. */
    amount: integer().notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.paymentId, table.reference] })],
)

/** The events that were applied. Avoids applying them again; applying twice has no effect. */
export const paymentEvents = sqliteTable(
  'payment_events',
  {
    /** The provider's id of the event. */
    id: text().primaryKey(),
    provider: text({ enum: PAYMENT_PROVIDERS }).notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('payment_events_by_age').on(table.provider, table.createdAt)],
)

/** An organisation as a customer of the embedded sandbox provider. Only billing/sandbox reads these tables. */
export const sandboxCustomers = sqliteTable(
  'sandbox_customers',
  {
    /** `cus_…` */
    id: text().primaryKey(),
    organisationId: text('organisation_id').notNull(),
    /** For invoices. */
    name: text().notNull(),
    /** The address of this deployment, for links. */
    origin: text().notNull(),
    /** The last four digits of the stored test card. */
    card: text(),
    /** The secret in the address of the page where the card is changed, and when it expires. */
    cardPageKey: text('card_page_key').unique(),
    cardPageExpiresAt: instant('card_page_expires_at'),
  },
  (table) => [index('sandbox_customers_by_organisation').on(table.organisationId)],
)

const sandboxPlan = { enum: ['starter', 'growth', 'scale'] } as const

/** Checkouts, automatic charges, upgrades and renewals of the sandbox. */
export const sandboxPayments = sqliteTable(
  'sandbox_payments',
  {
    /** `ch_…`, of a renewal `in_…` */
    id: text().primaryKey(),
    organisationId: text('organisation_id').notNull(),
    /** `pay_…`; null for a renewal. */
    paymentId: text('payment_id'),
    /** The secret part of the addresses of its pages. */
    secret: text().notNull(),
    /** What is paid, for the pages. */
    item: text().notNull(),
    plan: text(sandboxPlan),
    subscriptionId: text('subscription_id'),
    amount: integer().notNull(),
    currency: text({ enum: CURRENCIES }).notNull(),
    status: text({ enum: ['open', 'confirming', 'paid', 'failed'] }).notNull(),
    failure: text(),
    /** The last four digits of the card that paid, or that waits for its holder. */
    card: text(),
    /** Only of a checkout. */
    returnUrl: text('return_url'),
    cancelUrl: text('cancel_url'),
    expiresAt: instant('expires_at'),
    /** Can be in the future: until then, the payment is being processed. */
    paidAt: instant('paid_at'),
    /** Amounts by refund id. */
    refunds: text({ mode: 'json' }).$type<Record<string, number>>().notNull(),
    /** Changes with each write, so that a concurrent write is detected. */
    version: text().notNull(),
    createdAt: instant('created_at').notNull(),
    changedAt: instant('changed_at').notNull(),
  },
  (table) => [
    index('sandbox_payments_by_organisation').on(table.organisationId),
    index('sandbox_payments_by_subscription').on(table.subscriptionId, table.createdAt),
    index('sandbox_payments_by_change').on(table.changedAt),
    index('sandbox_payments_unpaid')
      .on(table.createdAt)
      .where(sql`status <> 'paid' and payment_id is not null`),
  ],
)

/** The monthly subscriptions of the sandbox. */
export const sandboxSubscriptions = sqliteTable(
  'sandbox_subscriptions',
  {
    /** `sub_…` */
    id: text().primaryKey(),
    organisationId: text('organisation_id').notNull(),
    plan: text(sandboxPlan).notNull(),
    /** The monthly fee. */
    amount: integer().notNull(),
    currency: text({ enum: CURRENCIES }).notNull(),
    startedAt: instant('started_at').notNull(),
    /** The number of started periods. Each one lasts a month. */
    periods: integer().notNull(),
    /** The plan from the next period on; `starter` ends the subscription. Null: the same plan. */
    nextPlan: text('next_plan', sandboxPlan),
    status: text({ enum: ['active', 'past_due', 'ended'] }).notNull(),
    /** When a renewal that failed is attempted again. */
    retryAt: instant('retry_at'),
    /** When the subscription has to be renewed, ended or charged again; null once it has ended. */
    dueAt: instant('due_at'),
    version: text().notNull(),
    changedAt: instant('changed_at').notNull(),
  },
  (table) => [
    index('sandbox_subscriptions_by_organisation').on(table.organisationId),
    index('sandbox_subscriptions_by_change').on(table.changedAt),
    index('sandbox_subscriptions_due')
      .on(table.dueAt)
      .where(sql`due_at is not null`),
  ],
)

export type BillingAccountRow = typeof billingAccounts.$inferSelect
export type PaymentRow = typeof payments.$inferSelect

/** The objects of the sandbox of the release before. It is empty, and the next release drops it. */
export const formerSandboxObjects = sqliteTable(
  'sandbox_objects',
  {
    id: text().primaryKey(),
    organisationId: text('organisation_id').notNull(),
    data: text({ mode: 'json' }).notNull(),
    createdAt: instant('created_at').notNull(),
    dueAt: instant('due_at'),
  },
  (table) => [
    index('sandbox_objects_by_organisation').on(table.organisationId, table.id),
    index('sandbox_objects_due')
      .on(table.dueAt)
      .where(sql`due_at is not null`),
  ],
)

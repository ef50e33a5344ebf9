// Subscriptions: one per organisation, with one item, the price of the plan.
import type Stripe from 'stripe'
import { DAY_MS } from '../../domain/limits.ts'
import {
  rejected,
  type NextPlan,
  type PaymentState,
  type SubscriptionState,
  type UpgradeQuote,
  type UpgradeRequest,
} from '../payment-provider.ts'
import { PLAN_TERMS } from '../plans.ts'
import { readInvoice } from './states.ts'
import { idOf, metadataOf, secondsOf, subjectOf, unlessMissing } from './stripe-client.ts'
import {
  invoicesOf,
  planOfInvoice,
  planOfProduct,
  priceOfPlan,
  stateOfInvoice,
  subjectOfInvoice,
  voidOpenInvoices,
} from './stripe-invoices.ts'

const INVOICES_SINCE_MS = 60 * DAY_MS

/** All others, such as `past_due` and `unpaid`, wait for a payment. */
const STATUSES: Record<string, SubscriptionState['status']> = {
  active: 'active',
  trialing: 'active',
  canceled: 'ended',
  incomplete_expired: 'ended',
}

/**
 * A subscription with its last invoices.
 * @returns null when Stripe has no such subscription, or it belongs to another system
 */
export async function findSubscription(client: Stripe, id: string) {
  const subscription = await unlessMissing(client.subscriptions.retrieve(id))
  const subject = subjectOf(subscription?.metadata)
  if (!subscription || !subject) return null
  const item = itemOf(subscription)
  const plan = planOfProduct(item.price.product)
  if (!plan) throw new Error(`The subscription ${id} has a price of another product`)
  const invoices = await invoicesOf(client, id, secondsOf(new Date(Date.now() - INVOICES_SINCE_MS)))
  return {
    id,
    organisationId: subject.organisationId,
    status: STATUSES[subscription.status] ?? 'past_due',
    plan,
    periodEnd: new Date(item.current_period_end * 1_000),
    endsAtPeriodEnd: subscription.cancel_at_period_end,
    invoices: await Promise.all(
      invoices
        // Stripe completes the draft of a renewal within about an hour.
        .filter(({ status }) => status !== 'draft')
        .map(async (invoice) => ({
          ...(await stateOfInvoice(client, invoice)),
          paymentId: subjectOfInvoice(invoice)?.paymentId ?? null,
          plan: planOfInvoice(invoice) ?? plan,
          createdAt: new Date(invoice.created * 1_000),
        })),
    ),
  }
}

function itemOf({ id, items }: Stripe.Subscription): Stripe.SubscriptionItem {
  const [item] = items.data
  if (!item) throw new Error(`The subscription ${id} has no item`)
  return item
}

/** See `PaymentProvider.quoteUpgrade`. */
export async function quoteUpgrade(client: Stripe, { subscriptionId, at, ...price }: UpgradeQuote) {
  const item = itemOf(await client.subscriptions.retrieve(subscriptionId))
  const { total, total_excluding_tax: net } = await client.invoices.createPreview({
    subscription: subscriptionId,
    subscription_details: {
      items: [{ id: item.id, price: await priceOfPlan(client, price) }],
      proration_behavior: 'always_invoice',
      proration_date: prorationDate(item, at),
    },
  })
  return net ?? total
}

/** Stripe rejects an instant before the current period. */
const prorationDate = (item: Stripe.SubscriptionItem, at: Date): number =>
  Math.max(item.current_period_start, secondsOf(at))

/**
 * Changes to a more expensive plan and charges the difference. If the charge fails or needs
 * confirmation, the plan does not change and the invoice stays open for 23 hours: the customer can pay
 * it on its page.
 */
export async function upgrade(
  client: Stripe,
  { paymentId, customer, purchase, subscriptionId, at }: UpgradeRequest,
): Promise<PaymentState> {
  if (purchase.kind !== 'plan') throw new Error('An upgrade is the purchase of a plan')
  const { organisationId, currency } = customer
  const subscription = await client.subscriptions.retrieve(subscriptionId)
  const item = itemOf(subscription)
  const isOnPlan = planOfProduct(item.price.product) === purchase.plan
  // The metadata is set first. If a later upgrade has replaced it, the plan may have changed already.
  if (isOnPlan || subjectOf(subscription.metadata)?.paymentId === paymentId) {
    const invoices = await invoicesOf(client, subscriptionId, subscription.start_date)
    const earlier = invoices.find((invoice) => isUpgrade(invoice, paymentId))
    if (earlier) return stateOfUpgrade(client, subscription, earlier)
  }
  if (isOnPlan) throw rejected('The subscription is already on this plan.')
  const { plan, amount } = purchase
  const price = await priceOfPlan(client, { plan, currency, amount })
  // First and separately: Stripe rejects metadata in an update that waits for its payment. The invoice
  // contains the metadata of this moment.
  await client.subscriptions.update(
    subscriptionId,
    { metadata: metadataOf({ organisationId, paymentId }) },
    { idempotencyKey: `${paymentId}-metadata` },
  )
  const updated = await client.subscriptions.update(
    subscriptionId,
    {
      items: [{ id: item.id, price }],
      proration_behavior: 'always_invoice',
      proration_date: prorationDate(item, at),
      payment_behavior: 'pending_if_incomplete',
    },
    { idempotencyKey: paymentId },
  )
  const invoiceId = idOf(updated.latest_invoice)
  const invoice = invoiceId === null ? null : await readInvoice(client, invoiceId)
  // A concurrent upgrade has changed the plan, or its invoice has the id of the other payment.
  if (!invoice || !isUpgrade(invoice, paymentId)) {
    throw rejected('Another change of the plan was first.')
  }
  return stateOfUpgrade(client, updated, invoice)
}

const isUpgrade = (invoice: Stripe.Invoice, paymentId: string): boolean =>
  invoice.billing_reason === 'subscription_update' &&
  subjectOfInvoice(invoice)?.paymentId === paymentId

/** An upgrade that was paid reverts an earlier choice to end the subscription. May be repeated. */
async function stateOfUpgrade(
  client: Stripe,
  { id, cancel_at_period_end: isEnding }: Stripe.Subscription,
  invoice: Stripe.Invoice,
): Promise<PaymentState> {
  const state = await stateOfInvoice(client, invoice)
  if (state.status === 'paid' && isEnding) {
    await client.subscriptions.update(id, { cancel_at_period_end: false })
  }
  return state
}

/** Sets the plan of the next renewal without a payment. */
export async function setNextPlan(client: Stripe, { subscriptionId, plan, currency }: NextPlan) {
  if (plan === 'starter') {
    await client.subscriptions.update(subscriptionId, { cancel_at_period_end: true })
    return
  }
  const item = itemOf(await client.subscriptions.retrieve(subscriptionId))
  const isCurrent = planOfProduct(item.price.product) === plan
  const amount = PLAN_TERMS[plan].monthlyFee[currency]
  await client.subscriptions.update(subscriptionId, {
    cancel_at_period_end: false,
    proration_behavior: 'none',
    // An unchanged plan keeps its price, which may differ from today's.
    ...(!isCurrent && {
      items: [{ id: item.id, price: await priceOfPlan(client, { plan, currency, amount }) }],
    }),
  })
}

/** Ends a subscription at once. Invoices that were not paid can no longer be paid. */
export async function endSubscription(client: Stripe, subscriptionId: string): Promise<void> {
  // Stripe no longer finds a subscription that has ended.
  await unlessMissing(
    client.subscriptions.cancel(subscriptionId, { prorate: false, invoice_now: false }),
  )
  await voidOpenInvoices(client, subscriptionId)
}

// Invoices of subscriptions: the first month, upgrades and renewals, with the prices of plans.
import type Stripe from 'stripe'
import type { Currency } from '../../domain/organisation.ts'
import type { PaymentState } from '../payment-provider.ts'
import { SELF_SERVICE_PLANS, type SelfServicePlan } from '../plans.ts'
import { nameOfPlan } from '../money.ts'
import { currencyOfStripe, intentIdOf, readIntentOf, settlementOf } from './states.ts'
import { idOf, subjectOf, unlessRejected, type Subject } from './stripe-client.ts'

/** Followed by the name of a plan. */
const PRODUCT_PREFIX = 'try_on_'

const STATUSES: Record<string, PaymentState['status']> = {
  paid: 'paid',
  // The change of plan that the invoice was for did not take place.
  void: 'expired',
  uncollectible: 'failed',
}

/** The state of an invoice that was read with its payments. */
export async function stateOfInvoice(client: Stripe, invoice: Stripe.Invoice) {
  const status = STATUSES[invoice.status ?? ''] ?? 'open'
  const net = invoice.total_excluding_tax ?? invoice.total
  const intent = await readIntentOf(client, intentIdOf(invoice))
  const url = invoice.hosted_invoice_url ?? null
  return {
    reference: invoice.id,
    status,
    failure: status === 'failed' ? 'The invoice was not paid.' : null,
    actionUrl: status === 'open' ? url : null,
    amount: net,
    tax: invoice.total - net,
    currency: currencyOfStripe(invoice.currency),
    invoiceUrl: url,
    customerId: idOf(invoice.customer),
    subscriptionId: subscriptionIdOf(invoice),
    ...(await settlementOf(client, intent, net)),
  }
}

/** The subscription of an invoice; null for the invoice of a pack. */
export const subscriptionIdOf = (invoice: Stripe.Invoice): string | null =>
  idOf(invoice.parent?.subscription_details?.subscription)

/**
 * The payment that an invoice is for. The subscription's metadata at the time of the invoice names the
 * purchase or upgrade; a renewal has no payment id.
 */
export function subjectOfInvoice(invoice: Stripe.Invoice): Subject | null {
  const subscription = subjectOf(invoice.parent?.subscription_details?.metadata)
  // The invoice of a pack has metadata of its own.
  if (!subscription) return subjectOf(invoice.metadata)
  const isChange = CHANGES.has(invoice.billing_reason ?? '')
  return isChange ? subscription : { ...subscription, paymentId: null }
}
const CHANGES = new Set(['subscription_create', 'subscription_update'])
/** The invoices that charge a plan. Others, such as a manual one of staff, grant no credits. */
const OF_PLANS = new Set([...CHANGES, 'subscription_cycle'])

/** The invoices of a subscription that charge its plan, since an instant, oldest first. */
export async function invoicesOf(client: Stripe, subscriptionId: string, since: number) {
  const invoices: Stripe.Invoice[] = []
  const pages = client.invoices.list({
    subscription: subscriptionId,
    created: { gte: since },
    limit: 100,
    expand: ['data.payments'],
  })
  for await (const invoice of pages) {
    if (OF_PLANS.has(invoice.billing_reason ?? '')) invoices.unshift(invoice)
  }
  return invoices
}

/** The plan that the invoice charges. An upgrade also has a line that credits the previous plan. */
export function planOfInvoice(invoice: Stripe.Invoice): SelfServicePlan | undefined {
  const charged = invoice.lines.data.find(({ amount }) => amount > 0)
  return planOfProduct(charged?.pricing?.price_details?.product)
}

/** Voids the open invoices of a subscription that has ended. May be repeated. */
export async function voidOpenInvoices(client: Stripe, subscriptionId: string): Promise<void> {
  const open = client.invoices.list({ subscription: subscriptionId, status: 'open', limit: 100 })
  const voidAll = async () => {
    for await (const { id } of open) await client.invoices.voidInvoice(id)
  }
  // It is rejected for an invoice that is being paid at this moment, or a subscription that Stripe does not know.
  await unlessRejected(voidAll())
}

/**
 * The id of a plan's price at Stripe, created from plans.ts when it is first needed. A new amount in plans.ts
 * makes a new price; existing subscriptions continue with theirs.
 * @param price.amount minor units per month without tax
 */
export async function priceOfPlan(
  client: Stripe,
  price: { plan: SelfServicePlan; currency: Currency; amount: number },
): Promise<string> {
  const { plan, amount } = price
  const currency = price.currency.toLowerCase()
  const product = PRODUCT_PREFIX + plan
  const lookupKey = `${product}_${currency}_${amount}`
  const { data } = await client.prices.list({ lookup_keys: [lookupKey], active: true })
  if (data[0]) return data[0].id

  await client.products
    .create({ id: product, name: `Plan ${nameOfPlan(plan)}` })
    .catch((error: unknown) => {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code !== 'resource_already_exists') throw error
    })
  const created = await client.prices.create(
    {
      product,
      currency,
      unit_amount: amount,
      recurring: { interval: 'month' },
      tax_behavior: 'exclusive',
      lookup_key: lookupKey,
      // From an archived price.
      transfer_lookup_key: true,
    },
    { idempotencyKey: lookupKey },
  )
  return created.id
}

/** The plan of a product; undefined for a product of another system. */
export function planOfProduct(product: string | { id: string } | null | undefined) {
  const id = idOf(product)
  return SELF_SERVICE_PLANS.find((plan) => id === PRODUCT_PREFIX + plan)
}

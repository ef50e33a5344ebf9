// Stripe's events: verifies them, and finds out which payment or subscription has changed. Their
// content is not applied: the service reads the current state instead.
import type Stripe from 'stripe'
import { PaymentError, type EventQuery, type ProviderEvent } from '../payment-provider.ts'
import { idOf, secondsOf, subjectOf, type Subject } from './stripe-client.ts'
import { subjectOfInvoice, subscriptionIdOf } from './stripe-invoices.ts'

/** The events to subscribe to. Stripe's list accepts at most 20 types. */
export const EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'invoice.voided',
  'invoice.marked_uncollectible',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
] as const

/** The age at which a signature is no longer accepted, seconds. */
const TOLERANCE_SECONDS = 300
/** The maximum length of a page of Stripe's list. */
const PAGE = 100

/**
 * Reads the body of a webhook request.
 * @returns null for an event of another system
 * @throws PaymentError invalid_signature
 */
export async function readEvent(
  client: Stripe,
  { headers, body }: { headers: Headers; body: string },
  webhookSecret: string,
): Promise<ProviderEvent | null> {
  const { default: Sdk } = await import('stripe')
  const signature = headers.get('Stripe-Signature') ?? ''
  const subtle = Sdk.createSubtleCryptoProvider()
  const event = await client.webhooks
    .constructEventAsync(body, signature, webhookSecret, TOLERANCE_SECONDS, subtle)
    .catch((error: unknown) => {
      if (!(error instanceof Sdk.errors.StripeSignatureVerificationError)) throw error
      // Without the cause: Stripe's message contains advice for developers.
      throw new PaymentError('invalid_signature', 'The signature of the event is not valid.')
    })
  return describeEvent(client, event)
}

/** The events since an instant that are not known, oldest first. At most `limit`. */
export async function missingEvents(client: Stripe, { since, limit, knownOf }: EventQuery) {
  const events = client.events.list({
    types: [...EVENT_TYPES],
    created: { gte: secondsOf(since) },
    limit: PAGE,
  })
  let missing: Stripe.Event[] = []
  let page: Stripe.Event[] = []
  const addPage = async () => {
    const known = await knownOf(page.map(({ id }) => id))
    // Stripe lists the newest first.
    missing = [...missing, ...page.filter(({ id }) => !known.has(id))].slice(-limit)
    page = []
  }
  for await (const event of events) {
    if (isForeign(event)) continue
    page.push(event)
    if (page.length === PAGE) await addPage()
  }
  await addPage()
  return missing.toReversed()
}

export const createdAtOf = ({ created }: Stripe.Event): Date => new Date(created * 1_000)

/** @returns null for objects of other systems in the same Stripe account */
export async function describeEvent(client: Stripe, event: Stripe.Event) {
  const { object } = event.data
  const found = subjectOfObject(object) ?? (await ofIntent(client, intentOfCharge(object)))
  if (!found || (found.paymentId === null && found.subscriptionId === null)) return null
  return { id: event.id, createdAt: createdAtOf(event), ...found }
}

/** Whether an event belongs to another system, as far as its content shows. */
const isForeign = ({ data: { object } }: Stripe.Event): boolean =>
  subjectOfObject(object) === null && intentOfCharge(object) === null

type EventSubject = Subject & Pick<ProviderEvent, 'subscriptionId' | 'reference'>
type EventObject = Stripe.Event['data']['object']

/** What the metadata of an object names. */
function subjectOfObject(object: EventObject): EventSubject | null {
  if (!('object' in object)) return null
  switch (object.object) {
    case 'checkout.session':
      return withSubscription(subjectOf(object.metadata), idOf(object.subscription))
    case 'payment_intent':
    case 'charge':
      return withSubscription(subjectOf(object.metadata), null)
    case 'invoice':
      return ofInvoice(object)
    case 'subscription': {
      // The metadata names the last upgrade, which is not what has changed.
      const subject = subjectOf(object.metadata)
      return withSubscription(subject && { ...subject, paymentId: null }, object.id)
    }
    default:
      return null
  }
}

/** The payment of a charge or dispute, whose own metadata may be empty. */
function intentOfCharge(object: EventObject): string | null {
  if (!('object' in object)) return null
  const isCharge = object.object === 'charge' || object.object === 'dispute'
  return isCharge ? idOf(object.payment_intent) : null
}

const withSubscription = (subject: Subject | null, subscriptionId: string | null) =>
  subject && { ...subject, subscriptionId, reference: null }

function ofInvoice(invoice: Stripe.Invoice): EventSubject | null {
  const subscriptionId = subscriptionIdOf(invoice)
  const found = withSubscription(subjectOfInvoice(invoice), subscriptionId)
  return found && { ...found, reference: subscriptionId === null ? null : invoice.id }
}

/** The payments of subscriptions have no metadata: their invoices lead to the subscription. */
async function ofIntent(client: Stripe, intentId: string | null): Promise<EventSubject | null> {
  if (intentId === null) return null
  const { metadata } = await client.paymentIntents.retrieve(intentId)
  const own = withSubscription(subjectOf(metadata), null)
  if (own) return own
  const { data } = await client.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent: intentId },
    limit: 1,
  })
  const invoiceId = idOf(data[0]?.invoice)
  return invoiceId === null ? null : ofInvoice(await client.invoices.retrieve(invoiceId))
}

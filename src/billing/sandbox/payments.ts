// Payments of the sandbox: how they are created, their due changes, and how the service sees them.
import { newId } from '../../ids.ts'
import { nameOfPack } from '../money.ts'
import { nameOfPlan } from '../plans.ts'
import { PaymentError } from '../provider.ts'
import type { Customer, PaymentRequest, PaymentState } from '../provider.ts'
import { describeCard } from './cards.ts'
import type { Card } from './cards.ts'
import { newSecret, subscriptionIdOf, UNPAID_RETENTION_MS } from './objects.ts'
import type { CustomerData, Payment, PaymentData, SandboxObject } from './objects.ts'
import { findCustomer, findPaymentObject, replaceObject } from './store.ts'
import type { Also, Put } from './store.ts'
import { newSubscription } from './subscription-terms.ts'

const LATE_MS = 20_000
const REFUND_AFTER_MS = 60_000
const DISPUTE_AFTER_MS = 60_000
const DISPUTE_LOST_AFTER_MS = 120_000
/** Concurrent writes of one object after which a request gives up. */
const MAX_CONFLICTS = 20
/** The id of the refund that the card `refunded` causes. */
const AUTOMATIC_REFUND = 'sandbox:automatic'

/** What a payment is for. `paymentId` is null for a renewal. */
type Order = Pick<PaymentRequest, 'purchase'> & {
  paymentId: string | null
  customer: Pick<Customer, 'currency'>
}

/** A payment before its first state is known. */
export const newPayment = (
  { paymentId, customer, purchase }: Order,
  customerId: string,
  { origin, name, address, taxId }: CustomerData,
): PaymentData => ({
  type: 'payment',
  version: newId('evt'),
  paymentId,
  customerId,
  secret: newSecret(),
  origin,
  item:
    purchase.kind === 'plan'
      ? `Plan ${nameOfPlan(purchase.plan)}, 1 month`
      : nameOfPack(purchase.pack, customer.currency),
  plan: purchase.kind === 'plan' ? purchase.plan : null,
  subscriptionId: null,
  checkout: null,
  amount: purchase.amount,
  currency: customer.currency,
  status: 'open',
  settlesAt: null,
  failure: null,
  card: null,
  buyer: { name, address, taxId },
  paidAt: null,
  refunds: {},
  dispute: null,
  deleteAt: null,
})

/** The payment once its card has been charged successfully. */
export const charged = (data: PaymentData, card: Card, now: number): PaymentData => ({
  ...data,
  card,
  failure: null,
  ...(card.behaviour === 'late' && data.paidAt === null
    ? { status: 'processing', settlesAt: now + LATE_MS }
    : { status: 'paid', paidAt: now }),
})

/** The payment once its card has been declined. */
export const declined = (data: PaymentData, card: Card, failure: string): PaymentData => ({
  ...data,
  card,
  failure,
  status: 'failed',
  // A declined renewal can still be paid.
  deleteAt: data.paymentId === null ? null : Date.now() + UNPAID_RETENTION_MS,
})

/** A payment to write. */
export const paymentPut = (
  id: string,
  organisationId: string,
  data: PaymentData,
): Put<PaymentData> => ({ id, organisationId, data, dueAt: paymentDueAt(data) ?? data.deleteAt })

/** When the next change of a payment is due, ms since 1970; null for never. */
function paymentDueAt({
  status,
  checkout,
  settlesAt,
  paidAt,
  card,
  dispute,
  ...payment
}: PaymentData): number | null {
  if (status === 'open' || status === 'confirming') return checkout?.expiresAt ?? null
  if (status === 'processing') return settlesAt
  if (status !== 'paid' || paidAt === null) return null
  if (card?.behaviour === 'refunded' && refundedAmount({ ...payment, dispute }) < payment.amount) {
    return paidAt + REFUND_AFTER_MS
  }
  if (card?.behaviour !== 'disputed') return null
  if (dispute === null) return paidAt + DISPUTE_AFTER_MS
  return dispute === 'open' ? paidAt + DISPUTE_LOST_AFTER_MS : null
}

/** The refunds and lost disputes of a payment. */
export function refundedAmount({
  amount,
  refunds,
  dispute,
}: Pick<PaymentData, 'amount' | 'refunds' | 'dispute'>): number {
  if (dispute === 'lost') return amount
  return Object.values(refunds).reduce((sum, refund) => sum + refund, 0)
}

/** Applies all changes that are due at an instant. */
function withDueChanges(data: PaymentData, now: number): PaymentData {
  let next = data
  for (let dueAt = paymentDueAt(next); dueAt !== null && dueAt <= now; dueAt = paymentDueAt(next)) {
    next = withDueChange(next, dueAt)
  }
  return next
}

function withDueChange(data: PaymentData, dueAt: number): PaymentData {
  if (data.status === 'processing') return { ...data, status: 'paid', paidAt: dueAt }
  if (data.status !== 'paid') {
    return { ...data, status: 'expired', card: null, deleteAt: dueAt + UNPAID_RETENTION_MS }
  }
  if (data.card?.behaviour === 'disputed') {
    return { ...data, dispute: data.dispute === null ? 'open' : 'lost' }
  }
  const rest = data.amount - refundedAmount(data)
  return { ...data, refunds: { ...data.refunds, [AUTOMATIC_REFUND]: rest } }
}

/**
 * Changes a payment, after its due changes. Repeats `change` after a concurrent write.
 * @param change returns the payment after it; the same object: nothing changes
 * @returns the payment after it; null when it does not exist
 */
export async function changePayment(
  env: Env,
  id: string,
  change: (data: PaymentData) => PaymentData = (data) => data,
): Promise<Payment | null> {
  for (let attempt = 0; attempt < MAX_CONFLICTS; attempt++) {
    const read = await findPaymentObject(env, id)
    if (!read) return null
    const next = change(withDueChanges(read.data, Date.now()))
    if (next === read.data) return read
    const { put, also } = writeOf(read, next)
    if (await replaceObject(env, read, put, also)) return { ...read, data: put.data }
  }
  throw new PaymentError('unavailable', `Too many concurrent changes of ${id}`)
}

/** The write of a changed payment, with its event and the subscription that it starts. */
function writeOf(read: Payment, next: PaymentData): { put: Put<PaymentData>; also: Also } {
  const { id, organisationId } = read
  const starts = next.status === 'paid' && next.plan !== null && next.subscriptionId === null
  const subscriptionId = starts ? subscriptionIdOf(id) : next.subscriptionId
  const data = { ...next, subscriptionId, version: newId('evt') }
  const { paymentId, customerId, card, buyer } = data
  const wasAccepted = isAccepted(read.data) || !isAccepted(data)
  return {
    put: paymentPut(id, organisationId, data),
    also: {
      ...(starts && { puts: [newSubscription(data, subscriptionIdOf(id), organisationId)] }),
      // The page has collected them.
      ...(!wasAccepted && {
        customer: { id: customerId, change: { ...buyer, card, lastPaymentId: paymentId } },
      }),
      event: { paymentId, subscriptionId, reference: paymentId === null ? id : null },
    },
  }
}

const isAccepted = ({ status }: PaymentData) => status === 'processing' || status === 'paid'

/** A payment as the service sees it. */
export async function stateOf(env: Env, { id, data }: Payment): Promise<PaymentState> {
  // The card of the customer, not of this payment: it may have been replaced since.
  const customer = await findCustomer(env, data.customerId)
  const isOpen = ['open', 'confirming', 'processing'].includes(data.status)
  return {
    reference: id,
    status: isOpen ? 'open' : (data.status as 'paid' | 'failed' | 'expired'),
    failure: data.failure,
    actionUrl: isOpen && data.status !== 'processing' ? checkoutUrl(id, data) : null,
    amount: data.amount,
    currency: data.currency,
    amountRefunded: refundedAmount(data),
    dispute: data.dispute,
    invoiceUrl:
      data.status === 'paid' ? `${data.origin}/sandbox/invoices/${id}?key=${data.secret}` : null,
    customerId: data.customerId,
    paymentMethod: customer?.data.card ? describeCard(customer.data.card) : null,
    subscriptionId: data.subscriptionId,
  }
}

const checkoutUrl = (id: string, { origin, secret }: PaymentData) =>
  `${origin}/sandbox/checkout/${id}?key=${secret}`

/** The stored customer of a payment that needs one. */
export async function requireCustomer(
  env: Env,
  customerId: string | null,
): Promise<SandboxObject<CustomerData> & { card: Card }> {
  const customer = customerId === null ? null : await findCustomer(env, customerId)
  if (!customer?.data.card) throw new PaymentError('rejected', 'No card is stored.')
  return { ...customer, card: customer.data.card }
}

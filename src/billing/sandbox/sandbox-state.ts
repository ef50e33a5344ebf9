// The state of payments and subscriptions of the sandbox, computed from their rows: what happens later by itself
// (expiry, a late success, a refund or a dispute by the card), and the periods and amounts of a subscription.
import { DAY_MS } from '../../domain/limits.ts'
import type { sandboxPayments, sandboxSubscriptions } from '../../platform/db/billing-schema.ts'
import { newId } from '../../platform/ids.ts'
import type { PaymentState } from '../payment-provider.ts'
import { describeCard, effectsOf, findCustomer } from './cards.ts'

export type SandboxPayment = typeof sandboxPayments.$inferSelect

/** The state of a payment at this time. `processing`: the card was accepted, the money is on its way. */
export function statusOf({ status, paidAt, expiresAt }: SandboxPayment) {
  if (status === 'paid') {
    return paidAt !== null && paidAt.getTime() <= Date.now() ? status : 'processing'
  }
  const isExpired = status !== 'failed' && expiresAt !== null && expiresAt.getTime() <= Date.now()
  return isExpired ? 'expired' : status
}

/** Whether a checkout can still be paid. */
export const isOpen = (payment: SandboxPayment): boolean =>
  ['open', 'confirming'].includes(statusOf(payment))

/** The refunds and the dispute of a payment at this time. */
export function reversalsOf(
  payment: SandboxPayment,
): Pick<PaymentState, 'amountRefunded' | 'dispute'> {
  const { amount, card, paidAt, refunds } = payment
  const { refundedMs, disputedMs, lostMs } = effectsOf(card)
  const ageMs = paidAt === null ? 0 : Date.now() - paidAt.getTime()
  const isLost = ageMs >= lostMs
  const refunded = Object.values(refunds).reduce((sum, refund) => sum + refund, 0)
  return {
    amountRefunded: isLost || ageMs >= refundedMs ? amount : refunded,
    dispute: isLost ? 'lost' : ageMs >= disputedMs ? 'open' : null,
  }
}

/** When a payment changes, ms since 1970, in the past or in the future. Each change is an event. */
export function changesOf({ status, paymentId, card, ...payment }: SandboxPayment): number[] {
  if (status === 'open' || status === 'confirming') {
    return [payment.expiresAt?.getTime() ?? Infinity]
  }
  const changedAt = payment.changedAt.getTime()
  const paidAt = payment.paidAt?.getTime() ?? Infinity
  const { lateMs, refundedMs, disputedMs, lostMs } = effectsOf(card)
  return [
    // The subscription announces its renewals.
    paymentId === null && changedAt === payment.createdAt.getTime() ? Infinity : changedAt,
    lateMs === undefined ? Infinity : paidAt,
    paidAt + refundedMs,
    paidAt + disputedMs,
    paidAt + lostMs,
  ]
}

/** A payment as the service sees it. */
export async function stateOf(env: Env, payment: SandboxPayment): Promise<PaymentState> {
  const { id: reference, failure, amount, currency, secret } = payment
  // The card of the customer, not of this payment: it may have been replaced since.
  const customer = await findCustomer(env, payment.organisationId)
  const status = statusOf(payment)
  const urlOf = (page: string) => `${customer.origin}/sandbox/${page}/${reference}?key=${secret}`
  const isPaid = status === 'paid'
  return {
    reference,
    status: status === 'confirming' || status === 'processing' ? 'open' : status,
    failure,
    actionUrl: isOpen(payment) ? urlOf('checkout') : null,
    amount,
    tax: 0,
    currency,
    ...reversalsOf(payment),
    invoiceUrl: isPaid ? urlOf('invoices') : null,
    customerId: customer.id,
    paymentMethod: customer.card === null ? null : describeCard(customer.card),
    subscriptionId: isPaid || status === 'failed' ? payment.subscriptionId : null,
  }
}

export type SandboxSubscription = typeof sandboxSubscriptions.$inferSelect

/** The subscription that the first payment of a plan starts. */
export const newSubscription = (
  terms: Pick<SandboxSubscription, 'id' | 'organisationId' | 'plan' | 'amount' | 'currency'>,
  startedAt: Date,
): SandboxSubscription =>
  withDueAt({
    ...terms,
    startedAt,
    periods: 1,
    nextPlan: null,
    status: 'active',
    retryAt: null,
    dueAt: null,
    version: newId('evt'),
    changedAt: startedAt,
  })

/** The end of the current period. */
export const periodEnd = ({ startedAt, periods }: SandboxSubscription): Date =>
  new Date(addMonths(startedAt.getTime(), periods))

/** The subscription with the time of its next change: the end of the period, or a retry before it. */
export function withDueAt(subscription: SandboxSubscription): SandboxSubscription {
  const { status, retryAt } = subscription
  const end = periodEnd(subscription)
  const next = retryAt !== null && retryAt < end ? retryAt : end
  return { ...subscription, dueAt: status === 'ended' ? null : next }
}

/**
 * The price of an upgrade: the difference of the monthly fees for the days that are left, with the
 * current one. Whole minor units, rounded down.
 */
export function upgradeAmount(subscription: SandboxSubscription, monthlyFee: number, now: number) {
  const { startedAt, periods, amount } = subscription
  const end = periodEnd(subscription).getTime()
  const start = addMonths(startedAt.getTime(), periods - 1)
  const days = Math.round((end - start) / DAY_MS)
  const daysLeft = Math.min(days, Math.ceil((end - now) / DAY_MS))
  return Math.floor(((monthlyFee - amount) * daysLeft) / days)
}

/** Adds months in UTC. The 31st becomes the last day of a shorter month. */
export function addMonths(at: number, months: number): number {
  const date = new Date(at)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  if (date.getUTCDate() !== day) date.setUTCDate(0)
  return date.getTime()
}

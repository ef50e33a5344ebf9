// Subscriptions of the sandbox: renewals, upgrades, the plan of the next period.
import { DAY_MS } from '../../domain/limits.ts'
import { newId } from '../../ids.ts'
import { nameOfPlan, PLAN_TERMS } from '../plans.ts'
import { PaymentError } from '../provider.ts'
import type {
  InvoiceState,
  PaymentProvider,
  PaymentRequest,
  PaymentState,
  SubscriptionState,
} from '../provider.ts'
import { declineReason } from './cards.ts'
import { chargeIdOf, renewalIdOf } from './objects.ts'
import type { Payment, PaymentData, Subscription, SubscriptionData } from './objects.ts'
import {
  changePayment,
  declined,
  newPayment,
  paymentPut,
  requireCustomer,
  stateOf,
} from './payments.ts'
import {
  findPaymentObject,
  findSubscriptionObject,
  paymentsOfSubscription,
  replaceObject,
} from './store.ts'
import type { Also } from './store.ts'
import { periodEnd, subscriptionDueAt, upgradeAmount } from './subscription-terms.ts'

const INVOICE_DAYS = 60
/** Writes of one object, by renewals or conflicts, after which a request gives up. */
const MAX_WRITES = 50

type Change = { data: SubscriptionData; also?: Also; without?: string } | null

/**
 * Changes a subscription, after its due changes. Repeats `change` after a concurrent write.
 * @param change returns null when nothing changes
 * @returns the subscription after it; null when it does not exist
 */
export async function changeSubscription(
  env: Env,
  id: string,
  change: (read: Subscription) => Promise<Change> | Change = () => null,
): Promise<Subscription | null> {
  for (let attempt = 0; attempt < MAX_WRITES; attempt++) {
    const read = await findSubscriptionObject(env, id)
    if (!read) return null
    const dueAt = subscriptionDueAt(read.data)
    const isDue = dueAt !== null && dueAt <= Date.now()
    const next = isDue ? await withDueChange(env, read) : await change(read)
    if (!next) return read
    const { organisationId } = read
    const data = { ...next.data, version: newId('evt') }
    const put = { id, organisationId, data, dueAt: subscriptionDueAt(data) }
    const also = { event: { paymentId: null, subscriptionId: id, reference: null }, ...next.also }
    const isWritten = await replaceObject(env, read, put, also, next.without)
    if (isWritten && !isDue) return { ...read, data }
  }
  throw new PaymentError('unavailable', `Too many concurrent changes of ${id}`)
}

/** The next due change: a retry of the unpaid renewal, or the end of a period. */
async function withDueChange(env: Env, read: Subscription): Promise<Change> {
  const { data } = read
  if (data.status === 'past_due') {
    const retried = await retry(env, read)
    if (retried) return retried
    const isOver = periodEnd(data) <= Date.now()
    return { data: isOver ? ended(data) : { ...data, retryAt: Date.now() + DAY_MS } }
  }
  return data.nextPlan === 'starter' ? { data: ended(data) } : renew(env, read)
}

const ended = (data: SubscriptionData): SubscriptionData => ({
  ...data,
  status: 'ended',
  retryAt: null,
})

/** Starts the next period and charges the stored card for it. */
async function renew(env: Env, { id, organisationId, data }: Subscription): Promise<Change> {
  const plan = data.nextPlan ?? data.plan
  const amount = data.nextPlan === null ? data.amount : PLAN_TERMS[plan].monthlyFee[data.currency]
  const customer = await requireCustomer(env, data.customerId)
  const periods = data.periods + 1
  const order = {
    paymentId: null,
    customer: { currency: data.currency },
    purchase: { kind: 'plan', plan, amount },
  } as const
  const open: PaymentData = {
    ...newPayment(order, customer.id, customer.data),
    subscriptionId: id,
    card: customer.card,
  }
  const failure = declineReason(customer.card, 'renewal')
  const invoice: PaymentData =
    failure === null ? paidNow(open) : declined(open, customer.card, failure)
  const invoiceId = renewalIdOf(id, periods)
  return {
    data: {
      ...data,
      plan,
      amount,
      periods,
      nextPlan: null,
      ...(failure !== null && {
        status: 'past_due',
        unpaidId: invoiceId,
        retryAt: Date.now() + DAY_MS,
      }),
    },
    also: { puts: [paymentPut(invoiceId, organisationId, invoice)] },
  }
}

/** Charges the unpaid renewal again. @returns null when the card is declined again */
async function retry(env: Env, { organisationId, data }: Subscription): Promise<Change> {
  const { card } = await requireCustomer(env, data.customerId)
  const unpaid = data.unpaidId === null ? null : await findPaymentObject(env, data.unpaidId)
  if (!unpaid || declineReason(card, 'renewal') !== null) return null
  const invoice = { ...paidNow({ ...unpaid.data, card }), version: newId('evt') }
  return {
    data: { ...data, status: 'active', unpaidId: null, retryAt: null },
    also: { puts: [paymentPut(unpaid.id, organisationId, invoice)] },
  }
}

/** Attempts the unpaid renewal at once, such as after a change of the card. */
export const retryRenewal = (env: Env, id: string): Promise<Subscription | null> =>
  changeSubscription(env, id, (read) => (read.data.status === 'past_due' ? retry(env, read) : null))

/** Renewals and upgrades are never late, so that the period and the plan do not wait for them. */
const paidNow = (data: PaymentData): PaymentData => ({
  ...data,
  status: 'paid',
  failure: null,
  paidAt: Date.now(),
})

/** See `PaymentProvider.findSubscription`. */
export async function findSubscription(
  env: Env,
  subscriptionId: string,
): Promise<SubscriptionState | null> {
  const subscription = await changeSubscription(env, subscriptionId)
  if (!subscription) return null
  const { id, organisationId, data } = subscription
  const since = new Date(Date.now() - INVOICE_DAYS * DAY_MS)
  const payments = await paymentsOfSubscription(env, subscription, since)
  const endsAtPeriodEnd = data.nextPlan === 'starter'
  return {
    id,
    organisationId,
    status: data.status,
    plan: endsAtPeriodEnd ? data.plan : (data.nextPlan ?? data.plan),
    periodEnd: new Date(periodEnd(data)),
    endsAtPeriodEnd,
    invoices: await Promise.all(payments.map((payment) => invoiceOf(env, payment))),
  }
}

async function invoiceOf(env: Env, read: Payment): Promise<InvoiceState> {
  const payment = (await changePayment(env, read.id)) ?? read
  const { paymentId, plan } = payment.data
  if (plan === null) throw new Error(`${payment.id} is not a payment of a plan`)
  return { ...(await stateOf(env, payment)), paymentId, plan, createdAt: payment.createdAt }
}

/** See `PaymentProvider.upgrade`. */
export async function upgrade(
  env: Env,
  request: PaymentRequest & { subscriptionId: string },
): Promise<PaymentState> {
  const { paymentId, purchase, customer, subscriptionId } = request
  if (purchase.kind !== 'plan') throw new PaymentError('rejected', 'Not a purchase of a plan.')
  const chargeId = chargeIdOf(paymentId)
  const { plan, amount: monthlyFee } = purchase
  await changeSubscription(env, subscriptionId, async ({ data, organisationId }) => {
    if (await findPaymentObject(env, chargeId)) return null
    if (organisationId !== customer.organisationId) {
      throw new PaymentError('rejected', 'The subscription belongs to another customer.')
    }
    if (data.status !== 'active') {
      throw new PaymentError('rejected', 'The subscription is not active.')
    }
    if (monthlyFee <= data.amount) {
      throw new PaymentError('rejected', 'The plan is not more expensive than the current one.')
    }
    const payer = await requireCustomer(env, data.customerId)
    const failure = declineReason(payer.card, 'automatic')
    const open: PaymentData = {
      ...newPayment(request, payer.id, payer.data),
      item: `Upgrade to ${nameOfPlan(plan)}, rest of the month`,
      amount: upgradeAmount(data, monthlyFee, Date.now()),
      currency: data.currency,
      subscriptionId,
      card: payer.card,
    }
    const payment: PaymentData =
      failure === null ? paidNow(open) : declined(open, payer.card, failure)
    return {
      data: failure === null ? { ...data, plan, amount: monthlyFee, nextPlan: null } : data,
      also: {
        puts: [paymentPut(chargeId, organisationId, payment)],
        event: { paymentId, subscriptionId, reference: null },
      },
      without: chargeId,
    }
  })
  const payment = await changePayment(env, chargeId)
  if (!payment) throw new PaymentError('rejected', 'The subscription does not exist.')
  return stateOf(env, payment)
}

/** See `PaymentProvider.setNextPlan`. */
export async function setNextPlan(
  env: Env,
  { subscriptionId, plan }: Parameters<PaymentProvider['setNextPlan']>[0],
): Promise<void> {
  const subscription = await changeSubscription(env, subscriptionId, ({ data }) => {
    const nextPlan = plan === data.plan ? null : plan
    if (data.status === 'ended' || nextPlan === data.nextPlan) return null
    return { data: { ...data, nextPlan } }
  })
  if (!subscription) throw new PaymentError('rejected', 'The subscription does not exist.')
  if (subscription.data.status === 'ended' && plan !== 'starter') {
    throw new PaymentError('rejected', 'The subscription has ended.')
  }
}

/** See `PaymentProvider.endSubscription`. */
export async function endSubscription(env: Env, subscriptionId: string): Promise<void> {
  // A subscription that does not exist has ended, too.
  await changeSubscription(env, subscriptionId, ({ data }) =>
    data.status === 'ended' ? null : { data: ended(data) },
  )
}

// Subscriptions of the sandbox: renewals, upgrades, the plan of the next period. Due changes are applied
// when a subscription is read, and once a minute when cron asks for events.
import { and, asc, eq, gte, lte } from 'drizzle-orm'
import { DAY_MS } from '../../domain/limits.ts'
import {
  sandboxCustomers,
  sandboxPayments,
  sandboxSubscriptions,
} from '../../platform/db/billing-schema.ts'
import { database, IF_CHANGED, insertWhere } from '../../platform/db/database.ts'
import { newId, suffixOf } from '../../platform/ids.ts'
import { logError } from '../../platform/log.ts'
import {
  PaymentError,
  rejected,
  type NextPlan,
  type PaymentState,
  type UpgradeQuote,
  type UpgradeRequest,
} from '../payment-provider.ts'
import { PLAN_TERMS } from '../plans.ts'
import { nameOfPlan } from '../money.ts'
import { declineReason, storedCard, type SandboxCustomer } from './cards.ts'
import { automaticPayment, chargeIdOf, findPaymentRow } from './sandbox-payments.ts'
import {
  periodEnd,
  stateOf,
  upgradeAmount,
  withDueAt,
  type SandboxSubscription,
} from './sandbox-state.ts'

const INVOICE_DAYS = 60
/** Writes of one row, by renewals or conflicts, after which a request gives up. */
const MAX_WRITES = 50
/** The subscriptions with due changes of one run. */
const DUE_LIMIT = 50

const renewalIdOf = ({ id, periods }: SandboxSubscription) => `in_${suffixOf(id)}_${periods}`

interface Change {
  set: Partial<SandboxSubscription>
  /** Inserted or replaced in the same transaction. */
  payment?: typeof sandboxPayments.$inferInsert
}

/**
 * Changes a subscription, after its due changes. Repeats `change` after a concurrent write.
 * @param change undefined, or returns it: nothing else changes
 * @returns the subscription after it; undefined when it does not exist
 */
async function changeSubscription(
  env: Env,
  id: string,
  change?: (read: SandboxSubscription) => Promise<Change | undefined> | Change | undefined,
): Promise<SandboxSubscription | undefined> {
  for (let attempt = 0; attempt < MAX_WRITES; attempt++) {
    const read = await database(env)
      .select()
      .from(sandboxSubscriptions)
      .where(eq(sandboxSubscriptions.id, id))
      .get()
    if (!read) return undefined
    const isDue = read.dueAt !== null && read.dueAt.getTime() <= Date.now()
    const next = isDue ? await dueChange(env, read) : await change?.(read)
    if (!next) return read
    const { set, payment } = next
    const row = withDueAt({ ...read, ...set, version: newId('evt'), changedAt: new Date() })
    const { id: rowId, version } = sandboxSubscriptions
    const [{ meta }] = await database(env).batch([
      database(env)
        .update(sandboxSubscriptions)
        .set(row)
        .where(and(eq(rowId, id), eq(version, read.version))),
      ...(payment
        ? [
            insertWhere(env, sandboxPayments, payment, IF_CHANGED).onConflictDoUpdate({
              target: sandboxPayments.id,
              set: payment,
            }),
          ]
        : []),
    ])
    if (meta.changes > 0 && !isDue) return row
  }
  throw new PaymentError('unavailable', `Too many concurrent changes of ${id}`)
}

/** The next due change: a retry of the unpaid renewal, or the end of a period. */
async function dueChange(env: Env, read: SandboxSubscription): Promise<Change> {
  if (read.status === 'past_due') {
    const retried = await retry(env, read)
    if (retried) return retried
    const isOver = periodEnd(read).getTime() <= Date.now()
    return { set: isOver ? ENDED : { retryAt: new Date(Date.now() + DAY_MS) } }
  }
  return read.nextPlan === 'starter' ? { set: ENDED } : renew(env, read)
}

const ENDED = { status: 'ended', retryAt: null } as const

/** Starts the next period and charges the stored card for it. */
async function renew(env: Env, read: SandboxSubscription): Promise<Change> {
  const { id: subscriptionId, organisationId, currency, nextPlan } = read
  const plan = nextPlan ?? read.plan
  const amount = nextPlan === null ? read.amount : PLAN_TERMS[plan].monthlyFee[currency]
  const periods = read.periods + 1
  const payment = automaticPayment(
    {
      id: renewalIdOf({ ...read, periods }),
      organisationId,
      amount,
      currency,
      plan,
      item: `Plan ${nameOfPlan(plan)}, 1 month`,
      subscriptionId,
    },
    await storedCard(env, organisationId),
    'renewal',
  )
  const unpaid = { status: 'past_due', retryAt: new Date(Date.now() + DAY_MS) } as const
  const set = { plan, amount, periods, nextPlan: null, ...(payment.status === 'failed' && unpaid) }
  return { set, payment }
}

/** Charges the unpaid renewal again. @returns undefined when the card is declined again */
async function retry(env: Env, read: SandboxSubscription): Promise<Change | undefined> {
  const card = await storedCard(env, read.organisationId)
  const unpaid = await findPaymentRow(env, renewalIdOf(read))
  if (!unpaid || declineReason(card, 'renewal') !== null) return undefined
  const payment = { ...unpaid, status: 'paid', failure: null, card, paidAt: new Date() } as const
  return { set: { status: 'active', retryAt: null }, payment }
}

/** Replaces the stored card, and pays what is overdue with it. */
export async function changeCard(env: Env, customer: SandboxCustomer, card: string): Promise<void> {
  await database(env)
    .update(sandboxCustomers)
    .set({ card })
    .where(eq(sandboxCustomers.id, customer.id))
  const { organisationId, status, id } = sandboxSubscriptions
  const overdue = await database(env)
    .select({ id })
    .from(sandboxSubscriptions)
    .where(and(eq(organisationId, customer.organisationId), eq(status, 'past_due')))
  for (const subscription of overdue) {
    await changeSubscription(env, subscription.id, (read) =>
      read.status === 'past_due' ? retry(env, read) : undefined,
    )
  }
}

/** See `PaymentProvider.findSubscription`. */
export async function findSubscription(env: Env, subscriptionId: string) {
  const subscription = await changeSubscription(env, subscriptionId)
  if (!subscription) return null
  const { id, organisationId, status, plan, nextPlan } = subscription
  const since = new Date(Date.now() - INVOICE_DAYS * DAY_MS)
  const { createdAt } = sandboxPayments
  const payments = await database(env)
    .select()
    .from(sandboxPayments)
    .where(and(eq(sandboxPayments.subscriptionId, id), gte(createdAt, since)))
    .orderBy(asc(createdAt), asc(sandboxPayments.id))
  const endsAtPeriodEnd = nextPlan === 'starter'
  return {
    id,
    organisationId,
    status,
    plan: endsAtPeriodEnd ? plan : (nextPlan ?? plan),
    periodEnd: periodEnd(subscription),
    endsAtPeriodEnd,
    invoices: await Promise.all(
      payments.map(async (payment) => ({
        ...(await stateOf(env, payment)),
        paymentId: payment.paymentId,
        plan: payment.plan ?? plan,
        createdAt: payment.createdAt,
      })),
    ),
  }
}

/** See `PaymentProvider.quoteUpgrade`. */
export async function quoteUpgrade(env: Env, { subscriptionId, amount, at }: UpgradeQuote) {
  const subscription = await changeSubscription(env, subscriptionId)
  if (!subscription) throw rejected('The subscription does not exist.')
  return upgradeAmount(subscription, amount, at.getTime())
}

/** See `PaymentProvider.upgrade`. */
export async function upgrade(env: Env, request: UpgradeRequest): Promise<PaymentState> {
  const { paymentId, purchase, customer, subscriptionId, at } = request
  if (purchase.kind !== 'plan') throw rejected('Not a purchase of a plan.')
  const id = chargeIdOf(paymentId)
  const { plan, amount: monthlyFee } = purchase
  await changeSubscription(env, subscriptionId, async (read) => {
    // Each write of a payment also changes the subscription, so a concurrent call finds it.
    if (await findPaymentRow(env, id)) return undefined
    const { organisationId, currency } = read
    if (organisationId !== customer.organisationId) {
      throw rejected('The subscription belongs to another customer.')
    }
    if (read.status !== 'active') throw rejected('The subscription is not active.')
    if (monthlyFee <= read.amount) {
      throw rejected('The plan is not more expensive than the current one.')
    }
    const amount = upgradeAmount(read, monthlyFee, at.getTime())
    const item = `Upgrade to ${nameOfPlan(plan)}, rest of the month`
    const payment = automaticPayment(
      { id, paymentId, organisationId, amount, currency, plan, item, subscriptionId },
      await storedCard(env, organisationId),
      'automatic',
    )
    const isPaid = payment.status === 'paid'
    return { set: isPaid ? { plan, amount: monthlyFee, nextPlan: null } : {}, payment }
  })
  const payment = await findPaymentRow(env, id)
  if (!payment) throw rejected('The subscription does not exist.')
  return stateOf(env, payment)
}

/** See `PaymentProvider.setNextPlan`. */
export async function setNextPlan(env: Env, { subscriptionId, plan }: NextPlan): Promise<void> {
  const subscription = await changeSubscription(env, subscriptionId, (read) => {
    const nextPlan = plan === read.plan ? null : plan
    return read.status === 'ended' || nextPlan === read.nextPlan ? undefined : { set: { nextPlan } }
  })
  if (!subscription) throw rejected('The subscription does not exist.')
  if (subscription.status === 'ended' && plan !== 'starter') {
    throw rejected('The subscription has ended.')
  }
}

/** See `PaymentProvider.endSubscription`. */
export async function endSubscription(env: Env, subscriptionId: string): Promise<void> {
  // A subscription that does not exist has ended, too.
  await changeSubscription(env, subscriptionId, ({ status }) =>
    status === 'ended' ? undefined : { set: ENDED },
  )
}

/** Applies the due changes of a bounded number of subscriptions. One failure does not stop the rest. */
export async function applyDueChanges(env: Env): Promise<void> {
  const { id, dueAt } = sandboxSubscriptions
  const due = await database(env)
    .select({ id })
    .from(sandboxSubscriptions)
    .where(lte(dueAt, new Date()))
    .orderBy(asc(dueAt))
    .limit(DUE_LIMIT)
  for (const subscription of due) {
    await changeSubscription(env, subscription.id).catch(
      logError('sandbox subscription not changed', subscription),
    )
  }
}

// Payments of the sandbox: how they are created and paid.
import { and, eq } from 'drizzle-orm'
import {
  sandboxCustomers,
  sandboxPayments,
  sandboxSubscriptions,
} from '../../platform/db/billing-schema.ts'
import { database, IF_CHANGED, insertWhere } from '../../platform/db/database.ts'
import { newId, suffixOf } from '../../platform/ids.ts'
import { nameOfPack, nameOfPlan } from '../money.ts'
import {
  PaymentError,
  rejected,
  type CheckoutRequest,
  type PaymentRequest,
  type PaymentState,
  type RefundRequest,
} from '../payment-provider.ts'
import { customerIdOf, declineReason, effectsOf, newSecret, storedCard } from './cards.ts'
import {
  isOpen,
  newSubscription,
  reversalsOf,
  stateOf,
  statusOf,
  type SandboxPayment,
} from './sandbox-state.ts'

export const CHECKOUT_TTL_MS = 2 * 60 * 60_000
/** Concurrent writes of one row after which a request gives up. */
const MAX_CONFLICTS = 20

/** Derived from an id of this service, so that a repeated request finds the same row. */
export const chargeIdOf = (paymentId: string) => `ch_${suffixOf(paymentId)}`

export const findPaymentRow = (env: Env, id: string): Promise<SandboxPayment | undefined> =>
  database(env).select().from(sandboxPayments).where(eq(sandboxPayments.id, id)).get()

async function requirePayment(env: Env, id: string): Promise<SandboxPayment> {
  const payment = await findPaymentRow(env, id)
  if (!payment) throw rejected('The payment does not exist.')
  return payment
}

type NewPayment = typeof sandboxPayments.$inferInsert

type Order = Pick<NewPayment, 'id' | 'organisationId' | 'amount' | 'currency' | 'item'> &
  Partial<NewPayment>

/** A payment before its first state is known. */
function newPayment(order: Order): NewPayment {
  const now = new Date()
  const created = { version: newId('evt'), createdAt: now, changedAt: now }
  return { secret: newSecret(), status: 'open', refunds: {}, ...created, ...order }
}

/** A payment that the stored card pays, or declines, while the customer is absent. */
export function automaticPayment(order: Order, card: string, occasion: 'automatic' | 'renewal') {
  const failure = declineReason(card, occasion)
  if (failure !== null) return newPayment({ ...order, card, status: 'failed', failure })
  // Of plans, never late, so that the period does not wait for it.
  return newPayment({ ...order, card, status: 'paid', paidAt: paidAt(card, !order.plan) })
}

const paidAt = (card: string, mayBeLate = true): Date =>
  new Date(Date.now() + (mayBeLate ? (effectsOf(card).lateMs ?? 0) : 0))

/** What a request pays for. */
const orderOf = ({ paymentId, customer, purchase }: PaymentRequest) => ({
  id: chargeIdOf(paymentId),
  organisationId: customer.organisationId,
  paymentId,
  amount: purchase.amount,
  currency: customer.currency,
  ...(purchase.kind === 'plan'
    ? { plan: purchase.plan, item: `Plan ${nameOfPlan(purchase.plan)}, 1 month` }
    : { plan: null, item: nameOfPack(purchase.pack, customer.currency) }),
})

/** See `PaymentProvider.startCheckout`. */
export async function startCheckout(env: Env, request: CheckoutRequest): Promise<PaymentState> {
  const { customer, returnUrl, cancelUrl } = request
  const { origin } = new URL(returnUrl)
  if (new URL(cancelUrl).origin !== origin) {
    throw rejected('returnUrl and cancelUrl must have the same origin.')
  }
  const { organisationId, organisationName: name } = customer
  const order = orderOf(request)
  const payment = newPayment({
    ...order,
    ...(order.plan && { subscriptionId: `sub_${suffixOf(order.id)}` }),
    returnUrl,
    cancelUrl,
    expiresAt: new Date(Date.now() + CHECKOUT_TTL_MS),
  })
  const db = database(env)
  await db.batch([
    db
      .insert(sandboxCustomers)
      .values({ id: customerIdOf(organisationId), organisationId, name, origin })
      .onConflictDoUpdate({ target: sandboxCustomers.id, set: { origin } }),
    db.insert(sandboxPayments).values(payment).onConflictDoNothing(),
  ])
  return stateOf(env, await requirePayment(env, order.id))
}

/** See `PaymentProvider.charge`. */
export async function charge(env: Env, request: PaymentRequest): Promise<PaymentState> {
  const order = orderOf(request)
  const { organisationId, customerId } = request.customer
  if (customerId !== customerIdOf(organisationId)) {
    throw rejected('The customer belongs to another organisation.')
  }
  const payment = automaticPayment(order, await storedCard(env, organisationId), 'automatic')
  const db = database(env)
  // An earlier call with the same id may have been first; its payment is returned.
  await db.batch([db.insert(sandboxPayments).values(payment).onConflictDoNothing()])
  return stateOf(env, await requirePayment(env, order.id))
}

/**
 * Changes a payment. Repeats `change` after a concurrent write.
 * @param change undefined: nothing changes
 * @throws PaymentError rejected when it does not exist
 */
async function changePayment(
  env: Env,
  id: string,
  change: (payment: SandboxPayment) => Partial<SandboxPayment> | undefined,
): Promise<SandboxPayment> {
  for (let attempt = 0; attempt < MAX_CONFLICTS; attempt++) {
    const read = await requirePayment(env, id)
    const changes = change(read)
    if (!changes) return read
    const next = { ...read, ...changes, version: newId('evt'), changedAt: new Date() }
    const [{ meta }] = await database(env).batch([
      database(env)
        .update(sandboxPayments)
        .set(next)
        .where(and(eq(sandboxPayments.id, id), eq(sandboxPayments.version, read.version))),
      ...(changes.status === 'paid' ? followingOf(env, next) : []),
    ])
    if (meta.changes > 0) return next
  }
  throw new PaymentError('unavailable', `Too many concurrent changes of ${id}`)
}

/** What a paid checkout changes besides: the stored card, and the subscription. No effect if its write failed. */
function followingOf(env: Env, { organisationId, card, ...payment }: SandboxPayment) {
  const { plan, subscriptionId: id, paidAt, amount, currency } = payment
  const subscription =
    plan && id && paidAt && newSubscription({ id, organisationId, plan, amount, currency }, paidAt)
  return [
    database(env)
      .update(sandboxCustomers)
      .set({ card })
      .where(and(eq(sandboxCustomers.id, customerIdOf(organisationId)), IF_CHANGED)),
    ...(subscription ? [insertWhere(env, sandboxSubscriptions, subscription, IF_CHANGED)] : []),
  ]
}

/** The payment of a page's address. @returns undefined when it does not exist or the secret is wrong */
export async function findByAddress(env: Env, id: string, secret: string) {
  const payment = await findPaymentRow(env, id)
  return payment?.secret === secret ? payment : undefined
}

/**
 * Pays an open checkout with a card.
 * @returns the payment after it, or why the card is declined, which leaves it open for another card
 */
export async function payCheckout(env: Env, { id }: SandboxPayment, card: string) {
  const declined = declineReason(card, 'checkout')
  if (declined !== null) return { declined }
  return changePayment(env, id, (read) => {
    if (!isOpen(read)) return undefined
    return effectsOf(card).confirms
      ? { status: 'confirming', card }
      : { status: 'paid', card, paidAt: paidAt(card) }
  })
}

/** The holder of the card approves or declines. May be repeated. @returns the payment after it */
export const confirmCheckout = (env: Env, { id }: SandboxPayment, isApproved: boolean) =>
  changePayment(env, id, (read) => {
    if (statusOf(read) !== 'confirming') return undefined
    return isApproved ? { status: 'paid', paidAt: new Date() } : { status: 'open', card: null }
  })

/** See `PaymentProvider.expireCheckout`. */
export async function expireCheckout(env: Env, id: string): Promise<void> {
  await changePayment(env, id, (read) => (isOpen(read) ? { expiresAt: new Date() } : undefined))
}

/** See `PaymentProvider.refund`. */
export async function refund(env: Env, { refundId, reference, amount }: RefundRequest) {
  await changePayment(env, reference, (read) => {
    if (read.refunds[refundId] !== undefined) return undefined
    const { amountRefunded, dispute } = reversalsOf(read)
    if (statusOf(read) !== 'paid') throw rejected('The payment is not paid.')
    if (dispute === 'open') throw rejected('The payment is disputed.')
    if (!Number.isInteger(amount) || amount < 1 || amount > read.amount - amountRefunded) {
      throw rejected('The refund exceeds the amount that is left.')
    }
    return { refunds: { ...read.refunds, [refundId]: amount } }
  })
}

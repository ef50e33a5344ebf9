// The checkout of the sandbox. Its page changes only objects of the sandbox: the service learns of a
// payment by asking for its state.
import { PaymentError } from '../provider.ts'
import type { PaymentProvider, PaymentState } from '../provider.ts'
import { declineReason, needsConfirmation } from './cards.ts'
import type { Card } from './cards.ts'
import { chargeIdOf, customerIdOf } from './objects.ts'
import type { Buyer, CustomerData, Payment, PaymentData } from './objects.ts'
import { changePayment, charged, newPayment, paymentPut, stateOf } from './payments.ts'
import { findCustomer, insertObject, insertVersioned } from './store.ts'

const HOUR_MS = 60 * 60_000
const TTL_MS = 2 * HOUR_MS

/** See `PaymentProvider.startCheckout`. */
export async function startCheckout(
  env: Env,
  request: Parameters<PaymentProvider['startCheckout']>[0],
): Promise<PaymentState> {
  const { customer, returnUrl, cancelUrl, paymentId } = request
  const { origin } = new URL(returnUrl)
  if (new URL(cancelUrl).origin !== origin) {
    throw new PaymentError('rejected', 'returnUrl and cancelUrl must have the same origin.')
  }
  const { organisationId } = customer
  const customerId = customerIdOf(organisationId)
  const data: CustomerData = {
    type: 'customer',
    name: customer.organisationName,
    address: '',
    taxId: '',
    email: customer.email,
    origin,
    card: null,
    lastPaymentId: null,
  }
  await insertObject(env, { id: customerId, organisationId, data, dueAt: null })
  const stored = await findCustomer(env, customerId)
  const payment: PaymentData = {
    ...newPayment(request, customerId, { ...(stored?.data ?? data), origin }),
    checkout: { returnUrl, cancelUrl, expiresAt: Date.now() + TTL_MS },
  }
  const id = chargeIdOf(paymentId)
  await insertVersioned(env, paymentPut(id, organisationId, payment))
  return stateOf(env, await requirePayment(env, id))
}

/**
 * The checkout of a page's address.
 * @returns null when it does not exist or the secret is wrong
 */
export async function findCheckout(
  env: Env,
  id: string,
  secret: string,
): Promise<(Payment & { checkout: NonNullable<PaymentData['checkout']> }) | null> {
  const payment = await changePayment(env, id)
  if (!payment?.data.checkout || payment.data.secret !== secret) return null
  return { ...payment, checkout: payment.data.checkout }
}

/**
 * Pays with a card.
 * @returns `closed`: it is paid, being processed or expired; `declined` leaves it open for another card
 */
export async function payCheckout(
  env: Env,
  { id }: Pick<Payment, 'id'>,
  card: Card,
  buyer: Buyer,
): Promise<
  { kind: 'closed'; data: PaymentData } | { kind: 'confirm' } | { kind: 'declined'; reason: string }
> {
  const reason = declineReason(card, 'checkout')
  if (reason !== null) return { kind: 'declined', reason }
  const { data } = await requirePayment(env, id, (payment) => {
    if (!isOpen(payment)) return payment
    return needsConfirmation(card)
      ? { ...payment, status: 'confirming', card, buyer }
      : charged({ ...payment, buyer }, card, Date.now())
  })
  return data.status === 'confirming' ? { kind: 'confirm' } : { kind: 'closed', data }
}

/** The holder approves or declines. May be repeated. */
export async function confirmCheckout(
  env: Env,
  { id }: Pick<Payment, 'id'>,
  isApproved: boolean,
): Promise<Payment> {
  return requirePayment(env, id, (payment) => {
    if (payment.status !== 'confirming' || !payment.card) return payment
    return isApproved
      ? charged(payment, payment.card, Date.now())
      : { ...payment, status: 'open', card: null }
  })
}

/** Whether a checkout can still be paid. */
export const isOpen = ({ status }: PaymentData): boolean =>
  status === 'open' || status === 'confirming'

async function requirePayment(
  env: Env,
  id: string,
  change?: (data: PaymentData) => PaymentData,
): Promise<Payment> {
  const payment = await changePayment(env, id, change)
  if (!payment) throw new Error(`The payment ${id} does not exist`)
  return payment
}

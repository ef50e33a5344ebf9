// Finds payments at Stripe: by Stripe's id, or by the payment id in the metadata.
import type Stripe from 'stripe'
import { DAY_MS } from '../../domain/limits.ts'
import type { PaymentState } from '../payment-provider.ts'
import { isMissing, secondsOf } from './stripe-client.ts'
import { stateOfInvoice, subjectOfInvoice } from './stripe-invoices.ts'
import { subjectOf } from './metadata.ts'
import { readIntent, readInvoice, stateOfIntent, stateOfSession } from './states.ts'

/** The difference between the clocks of Stripe and of this service, ms. */
const CLOCK_SKEW_MS = 5 * 60_000
/** A request is repeated with the same payment id for at most this time, ms. */
const REPEATED_FOR_MS = DAY_MS

interface PaymentToFind {
  paymentId: string
  reference: string | null
  customerId: string | null
  createdAt: Date
}

/** The current state of a payment. @returns null when Stripe has no such payment */
export async function findPayment(
  client: Stripe,
  payment: PaymentToFind,
): Promise<PaymentState | null> {
  if (payment.reference === null) return searchPayment(client, payment)
  try {
    return await readState(client, payment.reference)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** The state of a payment of which Stripe's id is known. */
export async function readState(client: Stripe, reference: string): Promise<PaymentState> {
  if (reference.startsWith('cs_')) {
    return stateOfSession(client, await client.checkout.sessions.retrieve(reference))
  }
  return reference.startsWith('in_')
    ? stateOfInvoice(client, await readInvoice(client, reference))
    : stateOfIntent(client, await readIntent(client, reference))
}

/** Looks through what was created at the time of the payment. Stripe's own search is delayed. */
async function searchPayment(
  client: Stripe,
  { paymentId, customerId, createdAt }: PaymentToFind,
): Promise<PaymentState | null> {
  const at = createdAt.getTime()
  const created = {
    gte: secondsOf(new Date(at - CLOCK_SKEW_MS)),
    lte: secondsOf(new Date(at + REPEATED_FOR_MS)),
  }
  const page = { created, limit: 100, ...(customerId !== null && { customer: customerId }) }
  const isThis = (metadata: unknown) => subjectOf(metadata)?.paymentId === paymentId

  for await (const session of client.checkout.sessions.list(page)) {
    if (isThis(session.metadata)) return stateOfSession(client, session)
  }
  // Charges and upgrades exist only for a known customer.
  if (customerId === null) return null
  for await (const { id, metadata } of client.paymentIntents.list(page)) {
    if (isThis(metadata)) return stateOfIntent(client, await readIntent(client, id))
  }
  for await (const invoice of client.invoices.list({ ...page, expand: ['data.payments'] })) {
    if (subjectOfInvoice(invoice)?.paymentId === paymentId) return stateOfInvoice(client, invoice)
  }
  return null
}

// The page where a customer of the sandbox changes the card and the billing details.
import { PaymentError } from '../provider.ts'
import type { PaymentProvider } from '../provider.ts'
import type { Card } from './cards.ts'
import { newSecret, UNPAID_RETENTION_MS } from './objects.ts'
import type { Buyer, CustomerData, PortalData, SandboxObject } from './objects.ts'
import {
  changeCustomer,
  findCustomer,
  findPortalObject,
  insertObject,
  unpaidSubscriptionIds,
} from './store.ts'
import { retryRenewal } from './subscriptions.ts'

const TTL_MS = 60 * 60_000

/** See `PaymentProvider.portalUrl`. The address is valid for an hour. */
export async function portalUrl(
  env: Env,
  { customerId, returnUrl }: Parameters<PaymentProvider['portalUrl']>[0],
): Promise<string> {
  const customer = await findCustomer(env, customerId)
  if (!customer) throw new PaymentError('rejected', 'The customer does not exist.')
  const { organisationId } = customer
  const id = `bps_${newSecret()}`
  const expiresAt = Date.now() + TTL_MS
  const data: PortalData = { type: 'portal', customerId, returnUrl, expiresAt }
  const dueAt = expiresAt + UNPAID_RETENTION_MS
  await insertObject(env, { id, organisationId, data, dueAt })
  return `${new URL(returnUrl).origin}/sandbox/portal?key=${id}`
}

export interface Portal {
  customer: SandboxObject<CustomerData>
  returnUrl: string
  isExpired: boolean
}

/** @returns null when the address is wrong */
export async function findPortal(env: Env, id: string): Promise<Portal | null> {
  const portal = await findPortalObject(env, id)
  const customer = portal && (await findCustomer(env, portal.data.customerId))
  if (!customer) return null
  const { returnUrl, expiresAt } = portal.data
  return { customer, returnUrl, isExpired: expiresAt <= Date.now() }
}

/** Stores the billing details of the next invoices. */
export const changeBuyer = (env: Env, { customer }: Portal, buyer: Buyer): Promise<void> =>
  changeCustomer(env, customer, buyer, null)

/** Replaces the stored card, announces it, and pays what is overdue with it. */
export async function changeCard(env: Env, { customer }: Portal, card: Card): Promise<void> {
  const paymentId = customer.data.lastPaymentId
  const event = paymentId === null ? null : { paymentId, subscriptionId: null, reference: null }
  await changeCustomer(env, customer, { card }, event)
  for (const id of await unpaidSubscriptionIds(env, customer)) await retryRenewal(env, id)
}

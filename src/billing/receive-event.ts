// Applies the events of a payment provider. An event is only a hint: the payment or subscription that it
// names is read from the provider.
import { inArray } from 'drizzle-orm'
import { database, listed } from '../platform/db/database.ts'
import { paymentEvents } from '../platform/db/billing-schema.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { log } from '../platform/log.ts'
import { findBillingAccount } from './billing-account.ts'
import { findBillableOrganisation } from './buyer.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { findPayment, findPaymentByReference } from './payments.ts'
import type { PaymentProvider, ProviderEvent } from './payment-provider.ts'
import { refreshPayment } from './refresh-payment.ts'
import { syncSubscription } from './subscription.ts'

type EventResult = 'applied' | 'duplicate' | 'ignored'

/**
 * Verifies and applies an event. May be repeated.
 * @throws PaymentError `invalid_signature`, or `unavailable`: the event has to be delivered again
 */
export async function receiveEvent({
  env,
  provider,
  headers,
  body,
}: {
  env: Env
  provider: PaymentProvider
  headers: Headers
  body: string
}): Promise<EventResult> {
  const event = await provider.readEvent({ headers, body })
  if (!event) return 'ignored'
  const known = await knownEvents(env, [event.id])
  return known.has(event.id) ? 'duplicate' : applyEvent(env, provider, event)
}

/** Which of these events were recorded before. */
export async function knownEvents(env: Env, ids: string[]): Promise<Set<string>> {
  const rows = await database(env)
    .select({ id: paymentEvents.id })
    .from(paymentEvents)
    .where(inArray(paymentEvents.id, listed(ids)))
  return new Set(rows.map(({ id }) => id))
}

/** Records an event, so that it is not applied again. */
export async function recordEvent(
  env: Env,
  provider: PaymentProvider,
  { id, createdAt }: Pick<ProviderEvent, 'id' | 'createdAt'>,
): Promise<void> {
  await database(env)
    .insert(paymentEvents)
    .values({ id, provider: provider.name, createdAt })
    .onConflictDoNothing()
}

/**
 * Applies an event and then records it, so that it is applied again after a crash.
 * @throws PaymentError `unavailable`
 */
export async function applyEvent(
  env: Env,
  provider: PaymentProvider,
  event: ProviderEvent,
): Promise<EventResult> {
  const { id, organisationId, paymentId, subscriptionId } = event
  const exists = (await findBillableOrganisation(env, organisationId)) !== undefined
  const isPayment = exists && (await applyToPayment(env, provider, event))
  const isSubscription = exists && (await applyToSubscription(env, provider, event))
  const isApplied = isPayment || isSubscription
  if (!isApplied) {
    log.warn('payment event ignored', { eventId: id, organisationId, paymentId, subscriptionId })
  }
  await recordEvent(env, provider, event)
  return isApplied ? 'applied' : 'ignored'
}

async function applyToPayment(
  env: Env,
  provider: PaymentProvider,
  event: ProviderEvent,
): Promise<boolean> {
  const { organisationId } = event
  const payment = await paymentOf(env, provider, event)
  if (payment?.organisationId !== organisationId || payment.provider !== provider.name) return false
  await refreshPayment({ env, account: organisationStub(env, organisationId), payment })
  return true
}

/** A renewal has no payment id. Its subscription may have ended since, or may have been replaced. */
async function paymentOf(
  env: Env,
  { name }: PaymentProvider,
  { paymentId, reference }: ProviderEvent,
): Promise<PaymentRow | undefined> {
  if (paymentId !== null) return findPayment(env, paymentId)
  return reference === null ? undefined : findPaymentByReference(env, { provider: name, reference })
}

/** Subscriptions that another one has replaced are ignored. */
async function applyToSubscription(
  env: Env,
  provider: PaymentProvider,
  { subscriptionId, organisationId }: ProviderEvent,
): Promise<boolean> {
  if (subscriptionId === null) return false
  const stored = await findBillingAccount(env, organisationId)
  if (stored?.subscriptionId !== subscriptionId || stored.provider !== provider.name) return false
  const account = organisationStub(env, organisationId)
  const { nextAt } = await syncSubscription({ env, account, organisationId })
  if (nextAt !== undefined) await account.scheduleBilling({ organisationId, at: nextAt })
  return true
}

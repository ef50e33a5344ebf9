// Applies the events of a payment provider. An event is only a hint: the payment or subscription that it
// names is read from the provider. Lists the events that were never delivered, and applies them, too.
import { inArray } from 'drizzle-orm'
import { organisationStub } from '../credits/organisation-stub.ts'
import { DAY_MS } from '../domain/limits.ts'
import { paymentEvents } from '../platform/db/billing-schema.ts'
import { database, listed } from '../platform/db/database.ts'
import { log } from '../platform/log.ts'
import { findBillableOrganisation, findBillingAccount } from './billing-account.ts'
import { configuredProvider } from './choose-provider.ts'
import { PaymentError, type PaymentProvider, type ProviderEvent } from './payment-provider.ts'
import { findPayment, findPaymentByReference } from './payments.ts'
import { refreshPayment } from './refresh-payment.ts'
import { syncSubscription } from './subscription.ts'

/** How far back events are listed, ms: as long as Stripe repeats an event. */
const LOOK_BACK_MS = 3 * DAY_MS
/** The minute of the hour in which a remote provider is asked. The sandbox is asked each minute. */
const MINUTE_OF_HOUR = 23
/** The maximum number of events per run. The next run applies the rest. */
const MAX_EVENTS = 100
/** Failures in a row after which the provider is considered unreachable. */
const MAX_UNAVAILABLE = 3

/**
 * Verifies and applies an event. May be repeated.
 * @throws PaymentError `invalid_signature`, or `unavailable`: the event has to be delivered again
 */
export async function receiveEvent(delivery: {
  env: Env
  provider: PaymentProvider
  headers: Headers
  body: string
}) {
  const { env, provider, ...request } = delivery
  const event = await provider.readEvent(request)
  if (!event) return 'ignored'
  const known = await knownEvents(env, [event.id])
  return known.has(event.id) ? 'duplicate' : applyEvent(env, provider, event)
}

/** Which of these events were recorded before. */
async function knownEvents(env: Env, ids: string[]): Promise<Set<string>> {
  const rows = await database(env)
    .select({ id: paymentEvents.id })
    .from(paymentEvents)
    .where(inArray(paymentEvents.id, listed(ids)))
  return new Set(rows.map(({ id }) => id))
}

/** Records an event, so that it is not applied again. */
async function recordEvent(
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
async function applyEvent(env: Env, provider: PaymentProvider, event: ProviderEvent) {
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

async function applyToPayment(env: Env, provider: PaymentProvider, event: ProviderEvent) {
  const { organisationId, paymentId, reference } = event
  // A renewal has no payment id. Its subscription may have ended since, or may have been replaced.
  const payment = await (paymentId === null
    ? reference !== null && findPaymentByReference(env, { provider: provider.name, reference })
    : findPayment(env, paymentId))
  if (!payment || payment.organisationId !== organisationId) return false
  if (payment.provider !== provider.name) return false
  await refreshPayment({ env, account: organisationStub(env, organisationId), payment })
  return true
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
  const nextAt = await syncSubscription({ env, account, organisationId })
  if (nextAt !== undefined) await account.scheduleBilling({ organisationId, at: nextAt })
  return true
}

/**
 * Lists the provider's events of the last three days and applies the missing ones, oldest first. An event
 * that fails does not stop the others.
 * @throws the first failure, after all other events or 3 in a row that could not reach the provider
 */
export async function catchUpEvents(env: Env): Promise<void> {
  const provider = configuredProvider(env)
  if (!provider) return
  const now = new Date()
  if (provider.name !== 'sandbox' && now.getUTCMinutes() !== MINUTE_OF_HOUR) return
  const missing = await provider.missingEvents({
    since: new Date(now.getTime() - LOOK_BACK_MS),
    limit: MAX_EVENTS,
    knownOf: (ids) => knownEvents(env, ids),
  })
  const failures: unknown[] = []
  let unavailable = 0
  for (const missed of missing) {
    try {
      const event = await missed.read()
      // Otherwise, the events of other systems would be read in each run.
      if (event) await applyEvent(env, provider, event)
      else await recordEvent(env, provider, missed)
      unavailable = 0
    } catch (error) {
      log.error('payment event failed', error, { eventId: missed.id })
      failures.push(error)
      const isUnavailable = error instanceof PaymentError && error.code === 'unavailable'
      unavailable = isUnavailable ? unavailable + 1 : 0
      if (unavailable === MAX_UNAVAILABLE) break
    }
  }
  if (missing.length > 0) log.info('payment events caught up', { events: missing.length })
  if (failures.length > 0) throw failures[0]
}

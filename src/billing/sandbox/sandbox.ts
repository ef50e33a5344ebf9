// The embedded payment provider: works offline and moves no money. It stores rows in D1 where a real
// provider has its own servers, and follows the same interface.
import { asc, gte } from 'drizzle-orm'
import { sandboxPayments, sandboxSubscriptions } from '../../platform/db/billing-schema.ts'
import { database } from '../../platform/db/database.ts'
import { suffixOf } from '../../platform/ids.ts'
import { settingsOf } from '../../platform/settings.ts'
import {
  PaymentError,
  rejected,
  type EventQuery,
  type PaymentProvider,
  type PaymentToFind,
  type ProviderEvent,
  type SubscriptionState,
} from '../payment-provider.ts'
import { paymentMethod, portalUrl } from './cards.ts'
import {
  charge,
  chargeIdOf,
  CHECKOUT_TTL_MS,
  expireCheckout,
  findPaymentRow,
  refund,
  startCheckout,
} from './sandbox-payments.ts'
import {
  changesOf,
  stateOf,
  type SandboxPayment,
  type SandboxSubscription,
} from './sandbox-state.ts'
import {
  applyDueChanges,
  endSubscription,
  findSubscription,
  quoteUpgrade,
  setNextPlan,
  upgrade,
} from './sandbox-subscriptions.ts'

/** The rows of a page when events are listed. */
const PAGE = 1_000

/** Whether another provider is set, so that the sandbox accepts no payments and renews no plan. */
export const isSandboxClosed = (env: Env): boolean => {
  const { paymentProvider } = settingsOf(env)
  return paymentProvider !== undefined && paymentProvider !== 'sandbox'
}

export const sandbox = (env: Env): PaymentProvider => ({
  name: 'sandbox',
  startCheckout: (request) => open(env, () => startCheckout(env, request)),
  expireCheckout: (reference) => available(expireCheckout(env, reference)),
  charge: (request) => open(env, () => charge(env, request)),
  findPayment: (payment) => available(findPayment(env, payment)),
  quoteUpgrade: (change) => open(env, () => quoteUpgrade(env, change)),
  upgrade: (request) => open(env, () => upgrade(env, request)),
  setNextPlan: (change) => available(setNextPlan(env, change)),
  endSubscription: (subscriptionId) => available(endSubscription(env, subscriptionId)),
  findSubscription: (subscriptionId) => available(subscriptionOf(env, subscriptionId)),
  refund: (request) => available(refund(env, request)),
  paymentMethod: (customerId) => available(paymentMethod(env, customerId)),
  portalUrl: (customer) => available(portalUrl(env, customer)),
  async readEvent() {
    throw new PaymentError('invalid_signature', 'The sandbox sends no events over HTTP.')
  },
  missingEvents: (request) => available(missingEvents(env, request)),
})

async function open<T>(env: Env, work: () => Promise<T>): Promise<T> {
  if (isSandboxClosed(env)) throw rejected('The sandbox is closed.')
  return available(work())
}

/** A closed sandbox ends its subscriptions, which would otherwise grant credits without a payment. */
async function subscriptionOf(env: Env, id: string): Promise<SubscriptionState | null> {
  if (isSandboxClosed(env)) await endSubscription(env, id)
  return findSubscription(env, id)
}

/** A failing database is to the service what an unreachable provider is. */
async function available<T>(response: Promise<T>): Promise<T> {
  try {
    return await response
  } catch (cause) {
    if (cause instanceof PaymentError) throw cause
    throw new PaymentError('unavailable', 'The sandbox is not available.', { cause })
  }
}

async function findPayment(env: Env, { paymentId, reference }: PaymentToFind) {
  const payment = await findPaymentRow(env, reference ?? chargeIdOf(paymentId))
  return payment ? stateOf(env, payment) : null
}

/** Events are not stored: the rows that have changed are the events. */
async function missingEvents(env: Env, { since, limit, knownOf }: EventQuery) {
  await applyDueChanges(env)
  const db = database(env)
  const { changedAt: paymentAt, id: paymentId } = sandboxPayments
  const { changedAt: subscriptionAt, id: subscriptionId } = sandboxSubscriptions
  const missing: ProviderEvent[] = []
  for (let offset = 0, isLast = false; !isLast && missing.length < limit; offset += PAGE) {
    const [payments, subscriptions] = await db.batch([
      db
        .select()
        .from(sandboxPayments)
        // A page that expires has changed when it was opened.
        .where(gte(paymentAt, new Date(since.getTime() - CHECKOUT_TTL_MS)))
        .orderBy(asc(paymentAt), asc(paymentId))
        .limit(PAGE)
        .offset(offset),
      db
        .select()
        .from(sandboxSubscriptions)
        .where(gte(subscriptionAt, since))
        .orderBy(asc(subscriptionAt), asc(subscriptionId))
        .limit(PAGE)
        .offset(offset),
    ])
    const events = [
      ...payments.flatMap(paymentEvents),
      ...subscriptions.map(subscriptionEvent),
    ].filter(({ createdAt }) => createdAt >= since && createdAt.getTime() <= Date.now())
    const known = await knownOf(events.map(({ id }) => id))
    missing.push(...events.filter(({ id }) => !known.has(id)))
    isLast = payments.length < PAGE && subscriptions.length < PAGE
  }
  return missing
    .sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime())
    .slice(0, limit)
    .map((event) => ({ id: event.id, createdAt: event.createdAt, read: async () => event }))
}

const paymentEvents = (payment: SandboxPayment): ProviderEvent[] => {
  const { id, version, organisationId, paymentId, subscriptionId } = payment
  return changesOf(payment).map((at, index) => ({
    id: `ev_${suffixOf(version)}_${index}`,
    createdAt: new Date(at),
    organisationId,
    paymentId,
    subscriptionId,
    reference: paymentId === null ? id : null,
  }))
}

const subscriptionEvent = (subscription: SandboxSubscription): ProviderEvent => ({
  id: `ev_${suffixOf(subscription.version)}`,
  createdAt: subscription.changedAt,
  organisationId: subscription.organisationId,
  paymentId: null,
  subscriptionId: subscription.id,
  reference: null,
})

// The embedded payment provider: works offline and moves no money. Its objects are stored in D1 as
// if they were on a provider's servers. Due changes are applied when they are read, and once a
// minute when cron asks for events.
import { log } from '../../log.ts'
import { PaymentError } from '../provider.ts'
import type {
  ListedEvent,
  PaymentProvider,
  PaymentRequest,
  PaymentState,
  ProviderEvent,
  SubscriptionState,
} from '../provider.ts'
import { settingsOf } from '../../settings.ts'
import { declineReason } from './cards.ts'
import { startCheckout } from './checkout.ts'
import { chargeIdOf } from './objects.ts'
import {
  changePayment,
  charged,
  declined,
  newPayment,
  paymentPut,
  refundedAmount,
  requireCustomer,
  stateOf,
} from './payments.ts'
import { portalUrl } from './portal.ts'
import { dueIds, insertVersioned, listEvents } from './store.ts'
import {
  changeSubscription,
  endSubscription,
  findSubscription,
  setNextPlan,
  upgrade,
} from './subscriptions.ts'

/** Whether another provider is set, so that the sandbox accepts no payments and renews no plan. */
export const isSandboxClosed = (env: Env): boolean => {
  const { paymentProvider } = settingsOf(env)
  return paymentProvider !== undefined && paymentProvider !== 'sandbox'
}

export const sandbox = (env: Env): PaymentProvider => ({
  name: 'sandbox',
  startCheckout: (request) => open(env, () => startCheckout(env, request)),
  charge: (request) => open(env, () => charge(env, request)),
  findPayment: (payment) => available(findPayment(env, payment)),
  upgrade: (request) => open(env, () => upgrade(env, request)),
  setNextPlan: (change) => available(setNextPlan(env, change)),
  endSubscription: (subscriptionId) => available(endSubscription(env, subscriptionId)),
  findSubscription: (subscriptionId) => available(subscriptionOf(env, subscriptionId)),
  refund: (request) => available(refund(env, request)),
  portalUrl: (customer) => available(portalUrl(env, customer)),
  async readEvent() {
    throw new PaymentError('invalid_signature', 'The sandbox sends no events over HTTP.')
  },
  missingEvents: (request) => available(missingEvents(env, request)),
})

async function open<T>(env: Env, work: () => Promise<T>): Promise<T> {
  if (isSandboxClosed(env)) throw new PaymentError('rejected', 'The sandbox is closed.')
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

async function findPayment(
  env: Env,
  { paymentId, reference }: Parameters<PaymentProvider['findPayment']>[0],
): Promise<PaymentState | null> {
  const payment = await changePayment(env, reference ?? chargeIdOf(paymentId))
  return payment && stateOf(env, payment)
}

async function missingEvents(
  env: Env,
  { since, limit, knownOf }: Parameters<PaymentProvider['missingEvents']>[0],
): Promise<ListedEvent[]> {
  await applyDueChanges(env)
  const missing: ProviderEvent[] = []
  let page = await listEvents(env, since, undefined)
  while (page.length > 0 && missing.length < limit) {
    const known = await knownOf(page.map(({ id }) => id))
    missing.push(...page.filter(({ id }) => !known.has(id)))
    page = await listEvents(env, since, page.at(-1)?.id)
  }
  return missing
    .slice(0, limit)
    .map((event) => ({ id: event.id, createdAt: event.createdAt, read: async () => event }))
}

async function charge(env: Env, request: PaymentRequest): Promise<PaymentState> {
  const { paymentId, customer } = request
  const id = chargeIdOf(paymentId)
  const existing = await changePayment(env, id)
  if (existing) return stateOf(env, existing)
  const payer = await requireCustomer(env, customer.customerId)
  if (payer.organisationId !== customer.organisationId) {
    throw new PaymentError('rejected', 'The customer belongs to another organisation.')
  }
  const open = newPayment(request, payer.id, payer.data)
  const failure = declineReason(payer.card, 'automatic')
  const data =
    failure === null ? charged(open, payer.card, Date.now()) : declined(open, payer.card, failure)
  const put = paymentPut(id, payer.organisationId, data)
  // A concurrent call with the same id may have been first; its payment is returned.
  await insertVersioned(env, put, { event: { paymentId, subscriptionId: null, reference: null } })
  const payment = await changePayment(env, id)
  if (!payment) throw new Error(`The payment ${id} does not exist`)
  return stateOf(env, payment)
}

async function refund(
  env: Env,
  { refundId, reference, amount }: Parameters<PaymentProvider['refund']>[0],
): Promise<void> {
  const payment = await changePayment(env, reference, (data) => {
    if (data.refunds[refundId] !== undefined) return data
    if (data.status !== 'paid') throw new PaymentError('rejected', 'The payment is not paid.')
    if (data.dispute === 'open') throw new PaymentError('rejected', 'The payment is disputed.')
    if (!Number.isInteger(amount) || amount < 1 || amount > data.amount - refundedAmount(data)) {
      throw new PaymentError('rejected', 'The refund exceeds the amount that is left.')
    }
    return { ...data, refunds: { ...data.refunds, [refundId]: amount } }
  })
  if (!payment) throw new PaymentError('rejected', 'The payment does not exist.')
}

/** Applies due changes to a bounded number of objects. One failure does not stop the rest. */
async function applyDueChanges(env: Env): Promise<void> {
  for (const id of await dueIds(env, Date.now())) {
    try {
      await (id.startsWith('sub_') ? changeSubscription(env, id) : changePayment(env, id))
    } catch (error) {
      log.error('sandbox object not changed', error, { id })
    }
  }
}

// Compares the payments and the ledger of an organisation with the payment provider.
import { env } from 'cloudflare:workers'
import { findBillingAccount } from '../../src/billing/billing-account.ts'
import { paymentsOf } from '../../src/billing/payments.ts'
import { creditsReversed } from '../../src/billing/settle-payment.ts'
import type { PaymentRow } from '../../src/platform/db/billing-schema.ts'
import { organisationStub } from '../../src/credits/organisation-stub.ts'
import type { FakePaymentProvider } from './fake-payment-provider.ts'

const stateOf = (provider: FakePaymentProvider, { id, providerReference }: PaymentRow) =>
  provider.knownState(id) ?? provider.knownState(providerReference ?? '')

const storedPayments = (organisationId: string) => paymentsOf(env, organisationId, { limit: 1_000 })

/**
 * Whether there is a difference to the provider, a lost message, a receipt that is not sent or a grace
 * period that is over.
 */
export async function hasUnfinishedPayments(
  organisationId: string,
  provider: FakePaymentProvider,
): Promise<boolean> {
  const events = provider.events.filter((event) => event.organisationId === organisationId)
  const stored = await storedPayments(organisationId)
  if (events.length === 0 && stored.length === 0) return false
  const graceUntil = (await findBillingAccount(env, organisationId))?.graceUntil
  if (graceUntil && graceUntil.getTime() <= Date.now()) return true
  const applied = await env.DB.prepare(
    'SELECT count(*) AS n FROM payment_events WHERE id IN (SELECT value FROM json_each(?))',
  )
    .bind(JSON.stringify(events.map(({ id }) => id)))
    .first<number>('n')
  if (applied !== events.length) return true
  return stored.some((payment) => {
    const { status } = stateOf(provider, payment) ?? { status: 'failed' }
    return payment.status !== status || payment.receiptDueAt !== null
  })
}

/**
 * Describes each difference in one sentence: every payment at the provider is stored once, has its status
 * and its credits less refunds in the ledger, and nothing else is granted.
 */
export async function paymentViolations(
  organisationId: string,
  provider: FakePaymentProvider,
): Promise<string[]> {
  const found: string[] = []
  const stored = await storedPayments(organisationId)
  const entries = await organisationStub(env, organisationId).entries({ limit: 1_000_000 })
  const creditsOf = (id: string) =>
    entries
      .filter(({ reference }) => reference === id || reference?.startsWith(`${id}:`))
      .reduce((sum, { amount }) => sum + amount, 0)

  for (const payment of stored) {
    const { id, status, amount, credits, creditsReversed: reversed } = payment
    const state = stateOf(provider, payment)
    const expected = state?.status ?? 'failed'
    if (status !== expected) found.push(`${id} is ${status}, at the provider ${expected}`)
    const isPaid = state?.status === 'paid'
    if (isPaid && amount !== state.amount) found.push(`${id} has the amount ${amount}`)
    const takenBack = isPaid ? creditsReversed(payment, state.amountRefunded) : 0
    if (reversed !== takenBack) found.push(`${id} records ${reversed} credits taken back`)
    const net = isPaid ? credits - takenBack : 0
    if (creditsOf(id) !== net) found.push(`${id} has ${creditsOf(id)} credits instead of ${net}`)
  }
  for (const { paymentId, reference } of provider.paidBy(organisationId)) {
    const rows = stored.filter(
      (payment) => payment.id === paymentId || payment.providerReference === reference,
    )
    if (rows.length !== 1) found.push(`${reference} is stored ${rows.length} times`)
  }
  const known = new Set(stored.map(({ id }) => id))
  for (const { reference } of entries) {
    const [id = ''] = (reference ?? '').split(':')
    if (id.startsWith('pay_') && !known.has(id)) found.push(`${id} has credits but no payment`)
  }
  found.push(...(await planViolations(organisationId, provider)))
  return found
}

/** The plan is the one that was paid last, and the stored subscription runs at the provider. */
async function planViolations(
  organisationId: string,
  provider: FakePaymentProvider,
): Promise<string[]> {
  const subscription = provider.subscriptionOf(organisationId)
  if (!subscription) return []
  const stored = await findBillingAccount(env, organisationId)
  const plan = await env.DB.prepare('SELECT plan FROM organisations WHERE id = ?')
    .bind(organisationId)
    .first<string>('plan')
  const isRunning = subscription.status !== 'ended'
  const expected = isRunning ? provider.paidPlanOf(subscription.id) : 'starter'
  const found: string[] = []
  if (plan !== expected) found.push(`the plan is ${plan} instead of ${expected}`)
  const expectedId = isRunning ? subscription.id : null
  if (stored?.subscriptionId !== expectedId) found.push(`it has ${stored?.subscriptionId}`)
  return found
}

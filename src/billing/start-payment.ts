// Starts a payment. The alarm is set and the payment stored before the provider is called, so that a
// payment whose response is lost is found again.
import type { CreditAccount } from '../credits/organisation-stub.ts'
import type { Actor } from '../domain/actor.ts'
import { currencyOf } from '../domain/organisation.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import type { OrganisationRow } from '../platform/db/schema.ts'
import { log } from '../platform/log.ts'
import { findBillingAccount } from './billing-account.ts'
import {
  PaymentError,
  type PaymentProvider,
  type PaymentRequest,
  type PaymentState,
  type Purchase,
} from './payment-provider.ts'
import { insertPayment, recordState } from './payments.ts'
import { LOST_AFTER_MS, recordCustomer } from './refresh-payment.ts'
import { settlePayment } from './settle-payment.ts'

/** Shown to the customer. The provider's reason is in the log. */
const REJECTED = 'The payment could not be started. You were not charged.'

/**
 * Starts a payment. Does not check the actor.
 * @returns the payment; it is `failed` when the provider rejected it
 * @throws PaymentError `unavailable`: the payment is open, and the alarm asks the provider about it
 */
export async function startPayment(request: {
  env: Env
  account: CreditAccount
  actor: Actor
  organisation: OrganisationRow
  provider: PaymentProvider
  purchase: Purchase
  /** What is granted once it is paid. */
  credits: number
  /** Resumes a payment that was started before. */
  paymentId?: string | undefined
  /** What the provider will charge for an upgrade, which is not the amount of `purchase`. */
  quotedAmount?: number | undefined
  /** Calls the provider. */
  start: (request: PaymentRequest) => Promise<PaymentState>
}): Promise<PaymentRow> {
  const { env, account, actor, provider, purchase, quotedAmount } = request
  const { id: organisationId, name, regionCode } = request.organisation
  const currency = currencyOf(regionCode)
  const user = actor.type === 'user' ? actor : null
  await account.scheduleBilling({ organisationId, at: Date.now() + LOST_AFTER_MS })
  const payment = await insertPayment(env, actor, {
    id: request.paymentId,
    organisationId,
    kind: purchase.kind,
    plan: purchase.kind === 'plan' ? purchase.plan : null,
    credits: request.credits,
    amount: quotedAmount === undefined ? purchase.amount : 0,
    quotedAmount,
    currency,
    provider: provider.name,
    createdBy: user?.userId ?? null,
  })
  if (payment.status !== 'open') return payment
  const stored = await findBillingAccount(env, organisationId)
  const customer = {
    organisationId,
    organisationName: name,
    currency,
    customerId: stored?.provider === provider.name ? stored.customerId : null,
    email: user?.email ?? null,
  }
  let state: PaymentState
  try {
    state = await request.start({ paymentId: payment.id, customer, purchase })
  } catch (error) {
    if (!(error instanceof PaymentError) || error.code !== 'rejected') throw error
    log.error('payment rejected', error, { paymentId: payment.id })
    return recordState(env, payment, { status: 'failed', failure: REJECTED }, 0)
  }
  await recordCustomer(env, payment, state)
  return settlePayment({ env, account, payment, state })
}

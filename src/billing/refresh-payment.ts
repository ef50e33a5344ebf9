// Reads the state of a payment from the provider and applies it: by itself, on its page, and when it is
// discarded.
import { organisationStub } from '../credits/organisation-stub.ts'
import { AppError } from '../domain/errors.ts'
import { requirePermission, type OrganisationRequest } from '../organisations/authorisation.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { log } from '../platform/log.ts'
import {
  endSubscription,
  findBillableOrganisation,
  findBillingAccount,
  NO_SUBSCRIPTION,
  saveBillingAccount,
} from './billing-account.ts'
import { providerNamed } from './choose-provider.ts'
import { PaymentError, type PaymentState } from './payment-provider.ts'
import { claimCheck, findPayment, hasProviderAmount, recordState } from './payments.ts'
import { creditsReversed, settlePayment, type PaymentTask } from './settle-payment.ts'

/** A payment that the provider does not know after this time was never started, ms. */
export const LOST_AFTER_MS = 10 * 60_000
/** The page that waits for a confirmation reads the payment more often than this, also in several windows. */
const REFRESH_AFTER_MS = 2_000
const NOT_STARTED = 'The payment was not started. You were not charged.'

/**
 * Updates a payment from the provider. May be repeated and run concurrently. The payment of a deleted
 * organisation only changes its row.
 * @throws PaymentError when the provider cannot be reached
 */
export async function refreshPayment(task: PaymentTask): Promise<PaymentRow> {
  const { env, payment } = task
  const { id: paymentId, organisationId, createdAt } = payment
  const billing = await findBillingAccount(env, organisationId)
  const state = await providerNamed(env, payment.provider).findPayment({
    paymentId,
    reference: payment.providerReference,
    customerId: billing?.provider === payment.provider ? billing.customerId : null,
    createdAt,
  })
  if (state && !(await findBillableOrganisation(env, organisationId))) {
    // Granting credits or storing a customer would create data of a deleted organisation again.
    log.warn('payment of a deleted organisation', { paymentId, status: state.status })
    const reversed = creditsReversed(payment, state.amountRefunded)
    return recordState(env, payment, { ...state, paymentMethod: null }, reversed)
  }
  if (state) {
    // A refund of an old payment must not bring back its card or its provider.
    if (payment.status !== 'paid') await recordCustomer(env, payment, state)
    return settlePayment({ ...task, state })
  }
  if (Date.now() - createdAt.getTime() < LOST_AFTER_MS) return payment
  return recordState(env, payment, { status: 'failed', failure: NOT_STARTED }, 0)
}

/**
 * Stores the customer and the payment method that a payment has created. With the first paid payment at
 * another provider, the organisation moves there, and its subscription at the earlier one ends.
 */
export async function recordCustomer(
  env: Env,
  { organisationId, provider }: Pick<PaymentRow, 'organisationId' | 'provider'>,
  { status, customerId, paymentMethod }: PaymentState,
): Promise<void> {
  if (customerId === null) return
  const stored = await findBillingAccount(env, organisationId)
  const isOther = stored?.provider && stored.provider !== provider
  if (isOther && status !== 'paid') return
  if (isOther && (await endSubscription(env, stored))) {
    log.warn('subscription at the earlier provider ended', { organisationId })
  }
  await saveBillingAccount(env, organisationId, {
    // A subscription of another provider cannot be read with this one.
    ...(isOther && NO_SUBSCRIPTION),
    provider,
    customerId,
    ...(paymentMethod !== null && { paymentMethod }),
  })
}

/**
 * Reads a payment. Asks the provider about an open one, one reader at a time. For the permission `billing`.
 * @returns the stored payment when the provider cannot be reached
 * @throws AppError not_found
 */
export async function readPayment(request: OrganisationRequest & { paymentId: string }) {
  const { env, organisationId, paymentId } = request
  await requirePermission(request, 'billing')
  const payment = await findPayment(env, paymentId)
  if (payment?.organisationId !== organisationId) throw new AppError('not_found')
  if (payment.status !== 'open' || !(await claimCheck(env, payment, REFRESH_AFTER_MS))) {
    return payment
  }
  try {
    return await refreshPayment({ env, account: organisationStub(env, organisationId), payment })
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error
    log.warn('payment not refreshed', { paymentId, reason: error.message })
    return payment
  }
}

/** Whether a payment waits on a page for the customer, which can be closed. An upgrade has an invoice. */
export const isDiscardable = (payment: PaymentRow): boolean =>
  payment.status === 'open' && payment.actionUrl !== null && !hasProviderAmount(payment)

/**
 * Closes the page of an open payment, which is then expired. A payment that was paid meanwhile stays paid.
 * For the permission `billing`.
 * @throws AppError not_found
 * @throws PaymentError
 */
export async function discardPayment(request: OrganisationRequest & { paymentId: string }) {
  const payment = await readPayment(request)
  const { providerReference: reference } = payment
  if (!isDiscardable(payment) || reference === null) return
  const { env, organisationId } = request
  await providerNamed(env, payment.provider).expireCheckout(reference)
  await refreshPayment({ env, account: organisationStub(env, organisationId), payment })
}

// Synchronises an organisation with its subscription at the provider: settles its invoices, and applies
// its plan, a scheduled change, the grace period after a failed renewal, and its end.
import { SYSTEM } from '../domain/actor.ts'
import type { PaymentProviderName } from '../domain/billing.ts'
import { DAY_MS } from '../domain/limits.ts'
import type { BillingAccountRow } from '../platform/db/billing-schema.ts'
import { log } from '../platform/log.ts'
import { applyPlan } from './apply-plan.ts'
import {
  endSubscription,
  endWithPeriod,
  findBillableOrganisation,
  findBillingAccount,
  hasSubscription,
  NO_SUBSCRIPTION,
  updateSubscription,
  type BillingTask,
  type Subscription,
} from './billing-account.ts'
import { providerNamed } from './choose-provider.ts'
import { sendGraceMail, sendPlanEndedMail } from './notices.ts'
import type { InvoiceState, SubscriptionState } from './payment-provider.ts'
import { findPayment, insertPayment } from './payments.ts'
import { PLAN_TERMS, type SelfServicePlan } from './plans.ts'
import { refreshPayment } from './refresh-payment.ts'
import { settlePayment } from './settle-payment.ts'

/** The grace period after a failed renewal, days. */
const GRACE_DAYS = 7
/** The days of the grace period on which the owners get an email. */
const MAIL_DAYS = [0, 3, 6]
/** A provider renews a subscription shortly after the end of the period. */
const RENEWAL_MARGIN_MS = 10 * 60_000
/** When to ask again while a renewal, or the provider's response, is missing. */
const RETRY_MS = 60 * 60_000

/**
 * Reads the subscription of an organisation and applies it. May be repeated and run concurrently. A
 * subscription never changes the plan `enterprise`.
 * @returns when to call it again, ms since 1970; undefined without a subscription
 * @throws PaymentError when the provider cannot be reached
 */
export async function syncSubscription(subject: BillingTask): Promise<number | undefined> {
  const { env, account, organisationId } = subject
  const billing = await findBillingAccount(env, organisationId)
  if (!hasSubscription(billing)) return undefined
  const { subscriptionId } = billing
  const found = await providerNamed(env, billing.provider).findSubscription(subscriptionId)
  if (found?.organisationId !== organisationId) {
    // Unknown is not ended: the keys of another account may be configured.
    log.error('subscription not found', undefined, { organisationId, subscriptionId })
    return Date.now() + RETRY_MS
  }
  await settleInvoices(subject, billing.provider, found)
  const subscription = await endDuringDeletion(subject, billing, found)
  const paid = subscription.invoices.findLast(({ status }) => status === 'paid')
  const plan = paid?.plan ?? subscription.plan
  if (subscription.status === 'ended') return endPlan(subject, billing, plan)
  if (paid) await applyPlan({ env, account, actor: SYSTEM, organisationId, plan: paid.plan })
  const change = { periodEnd: subscription.periodEnd, nextPlan: nextPlanOf(subscription, paid) }
  if (subscription.status === 'past_due') return runGrace(subject, billing, plan, change)

  const active = { subscriptionStatus: 'active', graceUntil: null, graceMailDay: null } as const
  const isCurrent = await updateSubscription(env, billing, { ...change, ...active })
  if (!isCurrent) return syncSubscription(subject)
  const now = Date.now()
  const renewsAt = subscription.periodEnd.getTime() + RENEWAL_MARGIN_MS
  const isWaiting = renewsAt <= now || subscription.invoices.at(-1)?.status === 'open'
  return isWaiting ? now + RETRY_MS : renewsAt
}

/** Settles each invoice that has changed, and stores new renewals. */
async function settleInvoices(
  subject: BillingTask,
  provider: PaymentProviderName,
  { invoices }: SubscriptionState,
): Promise<void> {
  const { env, organisationId } = subject
  for (const invoice of invoices) {
    const payment =
      invoice.paymentId === null
        ? await insertPayment(env, SYSTEM, {
            organisationId,
            kind: 'renewal',
            plan: invoice.plan,
            credits: PLAN_TERMS[invoice.plan].includedCredits,
            amount: invoice.amount,
            currency: invoice.currency,
            provider,
            providerReference: invoice.reference,
            createdBy: null,
          })
        : await findPayment(env, invoice.paymentId)
    if (payment?.organisationId !== organisationId) {
      const { paymentId, reference } = invoice
      log.error('invoice without payment', undefined, { organisationId, paymentId, reference })
      continue
    }
    const isSettled =
      payment.status === invoice.status && payment.amountRefunded >= invoice.amountRefunded
    if (isSettled) continue
    // The invoice of a payment that we started has another reference than its payment page.
    if (invoice.paymentId !== null) await refreshPayment({ ...subject, payment })
    else await settlePayment({ ...subject, payment, state: invoice })
  }
}

/**
 * Ends the subscription with its period while the deletion of the organisation is scheduled, so that
 * another month is not charged. An owner who cancels the deletion can revert it on Billing.
 */
async function endDuringDeletion(
  { env, organisationId }: BillingTask,
  billing: Subscription,
  subscription: SubscriptionState,
): Promise<SubscriptionState> {
  if (subscription.endsAtPeriodEnd || subscription.status === 'ended') return subscription
  const organisation = await findBillableOrganisation(env, organisationId)
  if (!organisation?.deleteAfter) return subscription
  await endWithPeriod(env, billing, organisation)
  return { ...subscription, endsAtPeriodEnd: true }
}

const nextPlanOf = (subscription: SubscriptionState, paid: InvoiceState | undefined) => {
  if (subscription.endsAtPeriodEnd) return 'starter'
  return paid && paid.plan !== subscription.plan ? subscription.plan : null
}

/** The plan remains for 7 days after a failed renewal. */
async function runGrace(
  subject: BillingTask,
  billing: Subscription,
  plan: SelfServicePlan,
  change: Pick<BillingAccountRow, 'periodEnd' | 'nextPlan'>,
): Promise<number | undefined> {
  const { env } = subject
  const now = Date.now()
  const graceUntil = billing.graceUntil ?? new Date(now + GRACE_DAYS * DAY_MS)
  const pastDue = { ...change, subscriptionStatus: 'past_due', graceUntil } as const
  const isCurrent = await updateSubscription(env, billing, pastDue)
  if (!isCurrent) return syncSubscription(subject)
  if (graceUntil.getTime() <= now) {
    await endSubscription(env, billing)
    return endPlan(subject, { ...billing, graceUntil }, plan)
  }
  const start = graceUntil.getTime() - GRACE_DAYS * DAY_MS
  const day = MAIL_DAYS.findLast((one) => start + one * DAY_MS <= now)
  if (day !== undefined) await sendGraceMail(subject, { day, graceUntil })
  const next = [...MAIL_DAYS, GRACE_DAYS].find((one) => start + one * DAY_MS > now) ?? GRACE_DAYS
  return start + next * DAY_MS
}

/**
 * Applies the plan `starter`, then removes the subscription. This order survives a crash. Informs the
 * owners if a grace period ran.
 */
async function endPlan(subject: BillingTask, billing: Subscription, plan: SelfServicePlan) {
  const { env, account, organisationId } = subject
  await applyPlan({ env, account, actor: SYSTEM, organisationId, plan: 'starter' })
  const isRemoved = await updateSubscription(env, billing, NO_SUBSCRIPTION)
  if (isRemoved && billing.graceUntil !== null) await sendPlanEndedMail(subject, plan)
  // A concurrent payment may have started another subscription, whose plan applies.
  return syncSubscription(subject)
}

// Automatic payments. The Organisation's storage is the source of truth for the attempt in progress: it
// is stored before anything is called, so that there are never two at a time, and an interrupted attempt
// is repeated with the same payment id, for which the provider charges once.
import { and, eq } from 'drizzle-orm'
import type { OwnAccount } from '../credits/organisation-stub.ts'
import { SYSTEM } from '../domain/actor.ts'
import { monthOf, monthStart } from '../domain/month.ts'
import { currencyOf } from '../domain/organisation.ts'
import {
  autoReloadFailedEmail,
  autoReloadLimitEmail,
  autoReloadOffEmail,
} from '../mail/billing-mail.ts'
import { audited } from '../organisations/audit-log.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { database } from '../platform/db/database.ts'
import { organisations, type OrganisationRow } from '../platform/db/schema.ts'
import { newId } from '../platform/ids.ts'
import { autoReloadSettings, isReloadDue } from './auto-reload-settings.ts'
import { findBillingAccount } from './billing-account.ts'
import type { AutoReloadState, BillingState } from './billing-state.ts'
import { chargeableProvider } from './choose-provider.ts'
import { formatMoney } from './money.ts'
import { mailOwners } from './notices.ts'
import type { PaymentProvider } from './payment-provider.ts'
import { autoReloadSpent, findPayment } from './payments.ts'
import { LOST_AFTER_MS } from './refresh-payment.ts'
import { startPayment } from './start-payment.ts'

/** The minimum time between two attempts, ms. */
const MIN_INTERVAL_MS = 60 * 60_000
/** Failures in a row after which auto-reload is turned off. */
const MAX_FAILURES = 3
const NO_PAYMENT_METHOD = 'There is no stored payment method.'
const NOT_CONFIRMED = 'The bank asks for a confirmation. Confirm the payment in Billing.'
const UNKNOWN_REASON = 'The payment failed.'

type Attempt = NonNullable<AutoReloadState['attempt']>

interface AutoReloadRequest {
  env: Env
  account: OwnAccount
  organisation: OrganisationRow
  state: BillingState
}

/**
 * Continues the attempt in progress, or starts one when the balance is below the threshold.
 * @returns when to call it again, ms since 1970
 * @throws PaymentError when the provider cannot be reached; the attempt then remains in progress
 */
export async function autoReload(request: AutoReloadRequest): Promise<number | undefined> {
  const { state } = request
  const { attempt } = state.autoReload
  if (attempt && !(await continueAttempt(request, attempt))) return undefined
  // The run that counted the last failure was interrupted.
  if (state.autoReload.failures >= MAX_FAILURES) await turnOff(request, UNKNOWN_REASON)
  const startAt = nextAttemptAt(request)
  return startAt === undefined || startAt > Date.now() ? startAt : startAttempt(request)
}

/** Whether auto-reload may charge the organisation now. */
const mayCharge = ({ account, organisation }: AutoReloadRequest): boolean =>
  isReloadDue(account.totals().balance, organisation) &&
  organisation.status === 'active' &&
  organisation.deleteAfter === null

/** When an attempt may start; undefined when none is needed. */
function nextAttemptAt(request: AutoReloadRequest): number | undefined {
  const { requested, attemptedAt } = request.state.autoReload
  if (!requested) return undefined
  if (mayCharge(request)) return attemptedAt + MIN_INTERVAL_MS
  request.state.updateAutoReload({ requested: false })
  return undefined
}

/** Starts an attempt unless it exceeds the monthly maximum. @returns when to call `autoReload` again */
async function startAttempt(request: AutoReloadRequest): Promise<number | undefined> {
  const { env, organisation, state } = request
  const { id: organisationId } = organisation
  const billing = await findBillingAccount(env, organisationId)
  const { pack, amount, monthlyMax } = autoReloadSettings(organisation, billing?.enterpriseTerms)
  const now = new Date()
  const spent = await autoReloadSpent(env, organisationId, monthStart(now))
  // A grant may have arrived in the meantime. Nothing is awaited from here until the attempt is stored.
  if (!mayCharge(request)) return nextAttemptAt(request)
  if (spent + amount > monthlyMax) {
    await informOfMaximum(request, now, monthlyMax)
    return monthStart(now, 1).getTime()
  }
  const provider = chargeableProvider(env, billing)
  const attempt = { paymentId: newId('pay'), pack, amount }
  state.updateAutoReload({ attemptedAt: now.getTime(), attempt: provider && attempt })
  if (!provider) await recordFailure(request, NO_PAYMENT_METHOD)
  else if (!(await charge(request, attempt, provider))) return undefined
  return nextAttemptAt(request)
}

/** Ends or repeats the attempt in progress. @returns whether it has ended */
async function continueAttempt(request: AutoReloadRequest, attempt: Attempt): Promise<boolean> {
  const { env, organisation, state } = request
  const payment = await findPayment(env, attempt.paymentId)
  if (payment && payment.status !== 'open') {
    await endAttempt(request, payment)
    return true
  }
  const billing = await findBillingAccount(env, organisation.id)
  const { pack, amount } = autoReloadSettings(organisation, billing?.enterpriseTerms)
  const isCurrent = pack === attempt.pack && amount === attempt.amount
  const provider =
    mayCharge(request) && (payment || isCurrent) ? chargeableProvider(env, billing) : null
  if (provider && mayRepeat(payment)) return charge(request, attempt, provider)
  // The provider may have received a payment that is stored. It blocks others until the provider was
  // asked about it. One that is not stored was never sent, and its settings may have changed since.
  if (!payment) state.updateAutoReload({ attempt: null, attemptedAt: 0 })
  return !payment
}

/** Whether to charge again with the same id instead of asking the provider about the payment. */
const mayRepeat = (payment: PaymentRow | undefined): boolean =>
  !payment ||
  (payment.providerReference === null && Date.now() - payment.createdAt.getTime() < LOST_AFTER_MS)

/**
 * Charges the stored payment method for an attempt. Repeating it charges once.
 * @returns whether the attempt has ended
 */
async function charge(
  request: AutoReloadRequest,
  { paymentId, pack, amount }: Attempt,
  provider: PaymentProvider,
): Promise<boolean> {
  const { env, account, organisation } = request
  const payment = await startPayment({
    env,
    account,
    actor: SYSTEM,
    organisation,
    provider,
    purchase: { kind: 'auto_reload', pack, amount },
    credits: pack,
    paymentId,
    start: (paymentRequest) => provider.charge(paymentRequest),
  })
  if (payment.status === 'open') {
    // Its own task finishes the open payment, which then ends the attempt.
    if (payment.actionUrl !== null) await recordFailure(request, NOT_CONFIRMED)
    return false
  }
  await endAttempt(request, payment)
  return true
}

/** Ends the attempt in progress with the outcome of its payment. */
async function endAttempt(
  request: AutoReloadRequest,
  { status, failure }: Pick<PaymentRow, 'status' | 'failure'>,
): Promise<void> {
  const { state } = request
  const { attempt } = state.autoReload
  state.updateAutoReload({ attempt: null, ...(status === 'paid' && { failures: 0 }) })
  if (status !== 'paid' && !attempt?.isCounted) {
    await recordFailure(request, failure ?? UNKNOWN_REASON)
  }
}

/** Counts a failed attempt. One that waits for a confirmation remains in progress. */
async function recordFailure(request: AutoReloadRequest, reason: string): Promise<void> {
  const { env, organisation, state } = request
  const { attempt, failures: earlier } = state.autoReload
  const failures = earlier + 1
  state.updateAutoReload({ attempt: attempt && { ...attempt, isCounted: true }, failures })
  if (failures >= MAX_FAILURES) return turnOff(request, reason)
  await mailOwners({ env, organisationId: organisation.id }, autoReloadFailedEmail(reason))
}

/** May be repeated: after a failure of D1, the stored number of failures makes the next run repeat it. */
async function turnOff({ env, account, organisation, state }: AutoReloadRequest, reason: string) {
  const { id: organisationId } = organisation
  const isOn = and(eq(organisations.id, organisationId), eq(organisations.autoReloadEnabled, true))
  const entry = { env, organisationId, actor: SYSTEM, target: organisationId, details: { reason } }
  await audited(
    { ...entry, action: 'auto_reload.disabled' },
    database(env).update(organisations).set({ autoReloadEnabled: false }).where(isOn),
  )
  state.updateAutoReload({ failures: 0, requested: false })
  await account.refresh()
  await mailOwners({ env, organisationId }, autoReloadOffEmail(reason))
}

/** Informs the owners once a month. */
async function informOfMaximum(
  { env, organisation, state }: AutoReloadRequest,
  now: Date,
  monthlyMax: number,
): Promise<void> {
  const month = monthOf(now)
  if (state.autoReload.maximumMailMonth === month) return
  state.updateAutoReload({ maximumMailMonth: month })
  const maximum = formatMoney(monthlyMax, currencyOf(organisation.regionCode))
  await mailOwners({ env, organisationId: organisation.id }, autoReloadLimitEmail(maximum))
}

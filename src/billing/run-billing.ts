// The billing tasks of an organisation's alarm. Each reads the current state and applies it, so a task
// may be repeated after an interruption and does not depend on the reason of the run.
import { log } from '../platform/log.ts'
import { autoReload } from './auto-reload.ts'
import type { BillingState } from './billing-state.ts'
import { findBillableOrganisation } from './billing-account.ts'
import type { OwnAccount, CreditAccount } from '../credits/organisation-stub.ts'
import { grantIncludedCredits } from './enterprise-terms.ts'
import { sendBalanceNotice, sendCreditNotices } from './notices.ts'
import { syncSubscription } from './subscription.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { unfinishedPayments, RECEIPT_LEASE_MS } from './payments.ts'
import { sendReceipt } from './settle-payment.ts'
import { refreshPayment } from './refresh-payment.ts'

/**
 * Runs all billing tasks in order: finishes payments, applies the subscription, grants included credits,
 * starts an automatic payment, informs about the balance and about limits of credits. A failure does not stop the tasks after it.
 * @returns when to run them again, ms since 1970, and whether one of them failed
 */
export async function runBilling({
  env,
  account,
  organisationId,
  state,
}: {
  env: Env
  account: OwnAccount
  organisationId: string
  state: BillingState
}): Promise<{ nextAt: number | undefined; failed: boolean }> {
  const instants: number[] = []
  let failed = false
  const attempt = async (task: string, run: () => Promise<number | undefined>) => {
    try {
      const nextAt = await run()
      if (nextAt !== undefined) instants.push(nextAt)
    } catch (error) {
      failed = true
      log.error('billing task failed', error, { organisationId, task })
    }
  }
  const request = { env, account, organisationId }
  await attempt('payments', () => finishPayments(request))
  await attempt('subscription', async () => (await syncSubscription(request)).nextAt)
  await attempt(
    'terms',
    async () => (await grantIncludedCredits({ ...request, now: Date.now() })).nextAt,
  )
  // Reads the organisation only now, since the tasks before may change its plan.
  await attempt('auto-reload', async () => {
    const organisation = await findBillableOrganisation(env, organisationId)
    return organisation && autoReload({ env, account, organisation, state })
  })
  await attempt('notices', async () => {
    const { balance, reserved } = account.totals()
    const notice = state.noticeOf(balance + reserved)
    const organisation = notice && (await findBillableOrganisation(env, organisationId))
    if (organisation) await sendBalanceNotice({ env, account, organisation, state })
    return undefined
  })
  await attempt('credit limits', async () => {
    await sendCreditNotices(request)
    return undefined
  })
  return { nextAt: instants.length === 0 ? undefined : Math.min(...instants), failed }
}

/** The age at which the provider is first asked about an open payment, ms. The interval then doubles. */
const FIRST_CHECK_MS = 10 * 60_000
const MAX_INTERVAL_MS = 6 * 60 * 60_000
/** The minimum pause after a check that has changed nothing, ms. */
const MIN_PAUSE_MS = 60_000

/**
 * Finishes the unfinished payments of an organisation that are due. A failure does not stop the others.
 * @returns when the next one is due, ms since 1970; undefined without any
 * @throws the first failure, after all payments
 */
export async function finishPayments({
  env,
  account,
  organisationId,
}: {
  env: Env
  account: CreditAccount
  organisationId: string
}): Promise<number | undefined> {
  const failures: unknown[] = []
  let nextAt: number | undefined
  for (const payment of await unfinishedPayments(env, organisationId)) {
    try {
      const dueAt = await finish(env, account, payment)
      if (dueAt !== undefined) nextAt = Math.min(dueAt, nextAt ?? Infinity)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return nextAt
}

/** @returns when the payment is due again */
async function finish(
  env: Env,
  account: CreditAccount,
  payment: PaymentRow,
): Promise<number | undefined> {
  const dueAt = dueAtOf(payment)
  if (dueAt === undefined || dueAt > Date.now()) return dueAt
  if (payment.status !== 'open') {
    await sendReceipt(env, payment)
    // Until then, it is sent or due again.
    return Date.now() + RECEIPT_LEASE_MS
  }
  const next = dueAtOf(await refreshPayment({ env, account, payment }))
  return next === undefined ? undefined : Math.max(next, Date.now() + MIN_PAUSE_MS)
}

/** When a payment needs attention, ms since 1970; undefined when it is finished. */
function dueAtOf({ status, createdAt, checkedAt, receiptDueAt }: PaymentRow): number | undefined {
  if (status !== 'open') return receiptDueAt?.getTime()
  const age = checkedAt.getTime() - createdAt.getTime()
  const interval = Math.min(Math.max(age, FIRST_CHECK_MS), MAX_INTERVAL_MS)
  return checkedAt.getTime() + interval
}

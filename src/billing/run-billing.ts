// The billing tasks of an organisation's alarm. Each reads the current state and applies it, so a task
// may be repeated after an interruption and does not depend on the reason of the run.
import type { OwnAccount } from '../credits/organisation-stub.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { log } from '../platform/log.ts'
import { autoReload } from './auto-reload.ts'
import { findBillableOrganisation, type BillingTask } from './billing-account.ts'
import type { BillingState } from './billing-state.ts'
import { grantIncludedCredits } from './enterprise-terms.ts'
import { sendBalanceNotice, sendCreditNotices } from './notices.ts'
import { RECEIPT_LEASE_MS, unfinishedPayments } from './payments.ts'
import { refreshPayment } from './refresh-payment.ts'
import { sendReceipt, type PaymentTask } from './settle-payment.ts'
import { syncSubscription } from './subscription.ts'

/** The age at which the provider is first asked about an open payment, ms. The interval then doubles. */
const FIRST_CHECK_MS = 10 * 60_000
const MAX_INTERVAL_MS = 6 * 60 * 60_000
/** The minimum pause after a check that has changed nothing, ms. */
const MIN_PAUSE_MS = 60_000

/**
 * Runs all billing tasks in order. A failure does not stop the tasks after it.
 * @returns when to run them again, ms since 1970, and whether one of them failed
 */
export async function runBilling({
  state,
  ...request
}: BillingTask & { account: OwnAccount; state: BillingState }) {
  const { env, account, organisationId } = request
  const tasks: Record<string, () => Promise<number | undefined | void>> = {
    payments: () => finishPayments(request),
    subscription: () => syncSubscription(request),
    terms: () => grantIncludedCredits({ ...request, now: Date.now() }),
    // Reads the organisation only now, since the tasks before may change its plan.
    'auto-reload': async () => {
      const organisation = await findBillableOrganisation(env, organisationId)
      return organisation && autoReload({ env, account, organisation, state })
    },
    notices: () => sendBalanceNotice(request, state),
    'credit limits': () => sendCreditNotices(request),
  }
  let nextAt: number | undefined
  let failed = false
  for (const [task, run] of Object.entries(tasks)) {
    try {
      nextAt = earliest(nextAt, (await run()) ?? undefined)
    } catch (error) {
      failed = true
      log.error('billing task failed', error, { organisationId, task })
    }
  }
  return { nextAt, failed }
}

const earliest = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)

/**
 * Finishes the unfinished payments of an organisation that are due. A failure does not stop the others.
 * @returns when the next one is due, ms since 1970; undefined without any
 * @throws the first failure, after all payments
 */
export async function finishPayments(request: BillingTask): Promise<number | undefined> {
  const failures: unknown[] = []
  let nextAt: number | undefined
  for (const payment of await unfinishedPayments(request.env, request.organisationId)) {
    try {
      nextAt = earliest(nextAt, await finish({ ...request, payment }))
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return nextAt
}

/** @returns when the payment is due again */
async function finish(task: PaymentTask): Promise<number | undefined> {
  const { env, payment } = task
  const dueAt = dueAtOf(payment)
  if (dueAt === undefined || dueAt > Date.now()) return dueAt
  if (payment.status !== 'open') {
    await sendReceipt(env, payment)
    // Until then, it is sent or due again.
    return Date.now() + RECEIPT_LEASE_MS
  }
  const next = dueAtOf(await refreshPayment(task))
  return next === undefined ? undefined : Math.max(next, Date.now() + MIN_PAUSE_MS)
}

/** When a payment needs attention, ms since 1970; undefined when it is finished. */
function dueAtOf({ status, createdAt, checkedAt, receiptDueAt }: PaymentRow): number | undefined {
  if (status !== 'open') return receiptDueAt?.getTime()
  const age = checkedAt.getTime() - createdAt.getTime()
  const interval = Math.min(Math.max(age, FIRST_CHECK_MS), MAX_INTERVAL_MS)
  return checkedAt.getTime() + interval
}

// Completes payments after a lost event or a crash.
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import type { CreditAccount } from '../credits/organisation-stub.ts'
import { unfinishedPayments } from './payment-lists.ts'
import { RECEIPT_LEASE_MS } from './payments.ts'
import { sendReceipt } from './receipt.ts'
import { refreshPayment } from './refresh-payment.ts'

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

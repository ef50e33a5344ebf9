// Applies the state of a payment at the provider: grants its credits, takes them back after refunds,
// records it and sends its receipt. Every step is idempotent, so events may be repeated or reordered, and a crash in
// between is harmless.
import { DAY_MS } from '../domain/limits.ts'
import { receiptEmail } from '../mail/billing-mail.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { log } from '../platform/log.ts'
import { startPlan } from './apply-plan.ts'
import type { BillingTask } from './billing-account.ts'
import { formatCredits, formatMoney, nameOfPack, nameOfPlan } from './money.ts'
import { mailOwners } from './notices.ts'
import type { PaymentState } from './payment-provider.ts'
import {
  findPayment,
  hasProviderAmount,
  leaseReceipt,
  recordState,
  updatePayment,
} from './payments.ts'

/** Receipts that could not be sent for this time are given up, ms. */
const GIVE_UP_AFTER_MS = DAY_MS

/** What is done for a payment. */
export interface PaymentTask extends Omit<BillingTask, 'organisationId'> {
  payment: PaymentRow
}

/** Shown to the customer when the provider reports another amount than was asked. */
const MISMATCH = 'The amount or currency does not match the order. Contact support.'

/**
 * Applies what the provider reports about a payment. Its credits are granted and its plan comes into
 * force before it is recorded as paid: after a crash in between, it is still open and settled again.
 * @throws PaymentError when the subscription that the payment replaces cannot be ended
 */
export async function settlePayment(task: PaymentTask & { state: PaymentState }) {
  const { env, account, payment, state } = task
  const { id: reference, organisationId, credits } = payment
  if (state.status !== 'paid') return recordState(env, payment, state, 0)
  const amount = hasProviderAmount(payment) ? state.amount : payment.amount
  // An upgrade without a charge would be free credits.
  const isFree = credits > 0 && state.amount <= 0
  if (isFree || state.amount !== amount || state.currency !== payment.currency) {
    const reported = { amount: state.amount, currency: state.currency }
    log.error('payment does not match', undefined, { paymentId: reference, ...reported })
    return recordState(env, payment, { ...state, status: 'failed', failure: MISMATCH }, 0)
  }
  // Fails when another payment has the same reference, so that one charge is never granted twice.
  if (payment.providerReference !== state.reference) {
    await updatePayment(env, reference, { providerReference: state.reference })
  }
  const reason = REASONS[payment.kind]
  if (credits > 0) await account.grant({ amount: credits, reference, reason })
  const reversed = creditsReversed({ credits, amount }, state.amountRefunded)
  if (reversed > 0) {
    await account.reverse({ reference, credits: reversed, reason: 'Payment refunded' })
  }
  // Only once: a later refund of this payment must not restore its plan, nor must a slow concurrent call
  // replace a subscription that was started since.
  const isNew = payment.status !== 'paid' && (await findPayment(env, reference))?.status !== 'paid'
  if (isNew && payment.kind === 'plan') await startPlan(task, payment, state.subscriptionId)
  if (isNew && payment.kind === 'renewal') {
    await account.scheduleBilling({ organisationId, at: Date.now() })
  }
  const settled = await recordState(env, payment, state, reversed)
  await sendReceipt(env, settled)
  return settled
}

const REASONS: Record<PaymentRow['kind'], string> = {
  pack: 'Credits bought',
  auto_reload: 'Auto-reload',
  plan: 'Credits included in the plan',
  renewal: 'Credits included in the plan',
}

/** The credits that a refund of `amountRefunded` takes back: the same share, rounded up. */
export function creditsReversed(
  { credits, amount }: Pick<PaymentRow, 'credits' | 'amount'>,
  amountRefunded: number,
): number {
  if (amount === 0) return 0
  return Math.min(credits, Math.ceil((credits * amountRefunded) / amount))
}

/**
 * Sends the receipt of a paid payment to the owners if it was not sent. May be repeated. A receipt that
 * could not be sent is due again after 10 minutes.
 */
export async function sendReceipt(env: Env, payment: PaymentRow): Promise<void> {
  const { id, organisationId, currency } = payment
  if (payment.receiptDueAt === null || !(await leaseReceipt(env, id))) return
  const email = receiptEmail({
    paymentId: id,
    item: itemOf(payment),
    amount: formatMoney(payment.amount + (payment.tax ?? 0), currency),
    tax: payment.tax ? formatMoney(payment.tax, currency) : null,
    paymentMethod: payment.paymentMethod,
    invoiceUrl: payment.invoiceUrl,
    credits: formatCredits(payment.credits, currency),
  })
  const isLate = Date.now() - (payment.paidAt?.getTime() ?? 0) > GIVE_UP_AFTER_MS
  const isDone = (await mailOwners({ env, organisationId }, email)) || isLate
  if (isDone) await updatePayment(env, id, { receiptDueAt: null })
}

/** What a payment was for, such as "2,000 credits" or "Plan Growth". */
export function itemOf({ kind, plan, credits, currency }: PaymentRow): string {
  if (plan) return `Plan ${nameOfPlan(plan)}`
  const pack = nameOfPack(credits, currency)
  return kind === 'auto_reload' ? `${pack} (auto-reload)` : pack
}

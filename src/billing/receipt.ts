// Sends the receipt of a payment, once.
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { DAY_MS } from '../domain/limits.ts'
import { receiptEmail } from '../mail/billing-mail.tsx'
import { billingUrl, mailOwners } from './mail-owners.ts'
import { formatCredits, formatMoney, nameOfPack } from './money.ts'
import { recordReceipt, leaseReceipt } from './payments.ts'
import { nameOfPlan } from './plans.ts'

/** Receipts that could not be sent for this time are given up, ms. */
const GIVE_UP_AFTER_MS = DAY_MS

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
    link: billingUrl(env, organisationId),
  })
  const isLate = Date.now() - (payment.paidAt?.getTime() ?? 0) > GIVE_UP_AFTER_MS
  if ((await mailOwners(env, organisationId, email)) || isLate) await recordReceipt(env, id)
}

/** What a payment was for, such as "2,000 credits" or "Plan Growth". */
export function itemOf({ kind, plan, credits, currency }: PaymentRow): string {
  if (plan) return `Plan ${nameOfPlan(plan)}`
  const pack = nameOfPack(credits, currency)
  return kind === 'auto_reload' ? `${pack} (auto-reload)` : pack
}

// The emails about payments, plans and the credit balance. Amounts are texts with their currency.
import type { CreditLimit } from '../domain/credit-limit.ts'
import { dateOf, type MemberEmail } from './templates.tsx'

/** Sent after each payment. */
export const receiptEmail =
  (payment: {
    paymentId: string
    item: string
    amount: string
    credits: string
    tax: string | null
    paymentMethod: string | null
    invoiceUrl: string | null
  }): MemberEmail =>
  () => ({
    subject: `Receipt: ${payment.item}`,
    paragraphs: [
      `Thank you for your payment of ${payment.amount}${payment.tax === null ? '' : ` with ${payment.tax} tax`} for ${payment.item}.`,
      `${payment.credits} credits were added to the balance. The payment ID is ${payment.paymentId}.`,
      payment.paymentMethod === null ? '' : `Payment method: ${payment.paymentMethod}`,
      payment.invoiceUrl === null ? '' : `Invoice: ${payment.invoiceUrl}`,
    ].filter((paragraph) => paragraph !== ''),
    action: 'View payments and invoices',
  })

/**
 * Sent once when the balance is at most 20% of the last grant.
 * @param credits the balance
 * @param reloadBelow the threshold of auto-reload in credits; null while it is off
 */
export const lowBalanceEmail =
  (credits: string, reloadBelow: string | null): MemberEmail =>
  (organisation) => ({
    subject: `${organisation} is running low on credits`,
    paragraphs: [
      `${organisation} has ${credits} credits left, at most 20% of the last credits added.`,
      reloadBelow === null
        ? 'Add credits so that live submissions are not rejected, or turn on auto-reload.'
        : `Auto-reload is on. It adds credits when the balance falls below ${reloadBelow}.`,
    ],
    action: 'Open Billing',
  })

/** Sent once when the balance is used up. */
export const emptyBalanceEmail: MemberEmail = (organisation) => ({
  subject: `${organisation} has no credits left`,
  paragraphs: [
    `${organisation} has used all of its credits. Live submissions are rejected with the error insufficient_credits until credits are added.`,
    'Test mode is not affected.',
  ],
  action: 'Add credits',
})

/** Sent once a month when 80% of a limit of credits are used. @param nextMonth such as "1 December 2026" */
export const creditLimitEmail =
  (
    { holder, name, monthlyCredits }: CreditLimit,
    { used, nextMonth }: { used: number; nextMonth: string },
  ): MemberEmail =>
  (organisation) => ({
    subject: `The ${holder} “${name}” of ${organisation} has used ${Math.floor((used * 100) / monthlyCredits)}% of its limit`,
    paragraphs: [
      `The ${holder} “${name}” has used ${used.toLocaleString('en')} of its ${monthlyCredits.toLocaleString('en')} credits of this month. Credits of jobs that have not ended are included, and return if the jobs fail.`,
      `When the limit is reached, live submissions are rejected with the error insufficient_credits until ${nextMonth} (UTC), or until the limit is raised.`,
    ],
    action: 'Change the limit',
  })

/**
 * Sent after each failed automatic payment that does not turn auto-reload off.
 * @param reason for the customer, such as "The card was declined."
 */
export const autoReloadFailedEmail =
  (reason: string): MemberEmail =>
  (organisation) => ({
    subject: `Auto-reload failed for ${organisation}`,
    paragraphs: [
      `An automatic payment for credits of ${organisation} failed: ${reason}`,
      'Auto-reload tries again in an hour at the earliest. After three failures in a row it is turned off. To add credits now, change the payment method or buy a pack in Billing.',
    ],
    action: 'Open Billing',
  })

/** Sent when repeated failures turn auto-reload off. @param reason for the customer */
export const autoReloadOffEmail =
  (reason: string): MemberEmail =>
  (organisation) => ({
    subject: `Auto-reload is off for ${organisation}`,
    paragraphs: [
      `Auto-reload of ${organisation} was turned off after three failed payments in a row. The last one failed: ${reason}`,
      'Change the payment method in Billing, then turn auto-reload on again.',
    ],
    action: 'Open Billing',
  })

/** Sent once a month when another automatic payment would exceed the monthly maximum. */
export const autoReloadLimitEmail =
  (monthlyMax: string): MemberEmail =>
  (organisation) => ({
    subject: `Auto-reload limit reached for ${organisation}`,
    paragraphs: [
      `The balance of ${organisation} is below the threshold of auto-reload, but another payment would exceed the limit of ${monthlyMax} per month.`,
      'No automatic payment is made until the first day of the next month (UTC). Raise the limit or buy a pack in Billing.',
    ],
    action: 'Open Billing',
  })

/** Sent on days 0, 3 and 6 after a failed renewal. @param plan that was not paid, such as "Growth" */
export const graceEmail =
  (plan: string, graceUntil: Date): MemberEmail =>
  (organisation) => ({
    subject: `Payment failed for the plan ${plan} of ${organisation}`,
    paragraphs: [
      `The monthly payment for the plan ${plan} of ${organisation} failed.`,
      `Update the payment method before ${dateOf(graceUntil)}. Otherwise, the plan changes to Starter. The remaining credits stay available.`,
    ],
    action: 'Update the payment method',
  })

/** Sent when the plan ends with the grace period. @param plan that ended, such as "Growth" */
export const planEndedEmail =
  (plan: string): MemberEmail =>
  (organisation) => ({
    subject: `The plan ${plan} of ${organisation} has ended`,
    paragraphs: [
      `The plan ${plan} of ${organisation} has ended, and the organisation is now on the plan Starter.`,
      'The remaining credits stay available. You can choose a plan again in Billing.',
    ],
    action: 'Open Billing',
  })

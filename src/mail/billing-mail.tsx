// The emails about payments, plans and the credit balance. Their links lead to the billing page. Amounts
// are texts with their currency.
import { BECAUSE_OF_ROLE, dateOf, emailFrom, emailToOwners } from './templates.tsx'
import type { CreditLimit } from '../domain/credit-limit.ts'
import type { Email, OrganisationEmail } from './templates.tsx'

/** Sent after each payment. */
export const receiptEmail = ({
  paymentId,
  item,
  amount,
  tax,
  credits,
  paymentMethod,
  invoiceUrl,
  link,
}: Record<'paymentId' | 'item' | 'amount' | 'credits' | 'link', string> & {
  tax: string | null
  paymentMethod: string | null
  invoiceUrl: string | null
}): Email =>
  emailToOwners(link, {
    subject: `Receipt: ${item}`,
    paragraphs: [
      `Thank you for your payment of ${amount}${tax === null ? '' : ` with ${tax} tax`} for ${item}.`,
      `${credits} credits were added to the balance. The payment ID is ${paymentId}.`,
      paymentMethod === null ? '' : `Payment method: ${paymentMethod}`,
      invoiceUrl === null ? '' : `Invoice: ${invoiceUrl}`,
    ].filter((paragraph) => paragraph !== ''),
    action: 'View payments and invoices',
  })

/**
 * Sent once when the balance is at most 20% of the last grant.
 * @param credits the balance
 * @param reloadBelow the threshold of auto-reload in credits; null while it is off
 */
export const lowBalanceEmail = ({
  organisationName,
  credits,
  reloadBelow,
  link,
}: OrganisationEmail & { credits: string; reloadBelow: string | null }): Email =>
  emailFrom(link, {
    subject: `${organisationName} is running low on credits`,
    paragraphs: [
      `${organisationName} has ${credits} credits left, at most 20% of the last credits added.`,
      reloadBelow === null
        ? 'Add credits so that live submissions are not rejected, or turn on auto-reload.'
        : `Auto-reload is on. It adds credits when the balance falls below ${reloadBelow}.`,
    ],
    action: 'Open Billing',
    footer: BECAUSE_OF_ROLE,
  })

/** Sent once when the balance is used up. */
export const emptyBalanceEmail = ({ organisationName, link }: OrganisationEmail): Email =>
  emailFrom(link, {
    subject: `${organisationName} has no credits left`,
    paragraphs: [
      `${organisationName} has used all of its credits. Live submissions are rejected with the error insufficient_credits until credits are added.`,
      'Test mode is not affected.',
    ],
    action: 'Add credits',
    footer: BECAUSE_OF_ROLE,
  })

/** Sent once a month when 80% of a limit of credits are used. @param nextMonth such as "1 December 2026" */
export const creditLimitEmail = ({
  organisationName,
  limit: { holder, name, monthlyCredits },
  used,
  nextMonth,
  link,
}: OrganisationEmail & { limit: CreditLimit; used: number; nextMonth: string }): Email =>
  emailFrom(link, {
    subject: `The ${holder} “${name}” of ${organisationName} has used ${Math.floor((used * 100) / monthlyCredits)}% of its limit`,
    paragraphs: [
      `The ${holder} “${name}” has used ${used.toLocaleString('en')} of its ${monthlyCredits.toLocaleString('en')} credits of this month. Credits of jobs that have not ended are included, and return if the jobs fail.`,
      `When the limit is reached, live submissions are rejected with the error insufficient_credits until ${nextMonth} (UTC), or until the limit is raised.`,
    ],
    action: 'Change the limit',
    footer: BECAUSE_OF_ROLE,
  })

/** `reason` is for the customer, such as "The card was declined." */
type ReloadFailure = OrganisationEmail & { reason: string }

/** Sent after each failed automatic payment that does not turn auto-reload off. */
export const autoReloadFailedEmail = ({ organisationName, reason, link }: ReloadFailure): Email =>
  emailToOwners(link, {
    subject: `Auto-reload failed for ${organisationName}`,
    paragraphs: [
      `An automatic payment for credits of ${organisationName} failed: ${reason}`,
      'Auto-reload tries again in an hour at the earliest. After three failures in a row it is turned off. To add credits now, change the payment method or buy a pack in Billing.',
    ],
    action: 'Open Billing',
  })

/** Sent when repeated failures turn auto-reload off. */
export const autoReloadOffEmail = ({ organisationName, reason, link }: ReloadFailure): Email =>
  emailToOwners(link, {
    subject: `Auto-reload is off for ${organisationName}`,
    paragraphs: [
      `Auto-reload of ${organisationName} was turned off after three failed payments in a row. The last one failed: ${reason}`,
      'Change the payment method in Billing, then turn auto-reload on again.',
    ],
    action: 'Open Billing',
  })

/** Sent once a month when another automatic payment would exceed the monthly maximum. */
export const autoReloadLimitEmail = ({
  organisationName,
  monthlyMax,
  link,
}: OrganisationEmail & { monthlyMax: string }): Email =>
  emailToOwners(link, {
    subject: `Auto-reload limit reached for ${organisationName}`,
    paragraphs: [
      `The balance of ${organisationName} is below the threshold of auto-reload, but another payment would exceed the limit of ${monthlyMax} per month.`,
      'No automatic payment is made until the first day of the next month (UTC). Raise the limit or buy a pack in Billing.',
    ],
    action: 'Open Billing',
  })

/** Sent on days 0, 3 and 6 after a failed renewal. @param plan that was not paid, such as "Growth" */
export const graceEmail = ({
  organisationName,
  plan,
  graceUntil,
  link,
}: OrganisationEmail & { plan: string; graceUntil: Date }): Email =>
  emailToOwners(link, {
    subject: `Payment failed for the plan ${plan} of ${organisationName}`,
    paragraphs: [
      `The monthly payment for the plan ${plan} of ${organisationName} failed.`,
      `Update the payment method before ${dateOf(graceUntil)}. Otherwise, the plan changes to Starter. The remaining credits stay available.`,
    ],
    action: 'Update the payment method',
  })

/** Sent when the plan ends with the grace period. @param plan that ended, such as "Growth" */
export const planEndedEmail = ({
  organisationName,
  plan,
  link,
}: OrganisationEmail & { plan: string }): Email =>
  emailToOwners(link, {
    subject: `The plan ${plan} of ${organisationName} has ended`,
    paragraphs: [
      `The plan ${plan} of ${organisationName} has ended, and the organisation is now on the plan Starter.`,
      'The remaining credits stay available. You can choose a plan again in Billing.',
    ],
    action: 'Open Billing',
  })

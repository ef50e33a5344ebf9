// The emails about billing. Members are informed that few or no credits are left, once each until the next
// grant, and that a limit of credits is nearly reached, once a month. Reserved credits are left of the balance,
// since they return if their jobs fail. They count for a limit, since it rejects submissions that exceed it
// together with them. The owners are informed about payments and their plan.
import { eq, isNull, lt, or } from 'drizzle-orm'
import type { OwnAccount } from '../credits/organisation-stub.ts'
import { nextMonth } from '../domain/credit-limit.ts'
import { currencyOf } from '../domain/organisation.ts'
import {
  creditLimitEmail,
  emptyBalanceEmail,
  graceEmail,
  lowBalanceEmail,
  planEndedEmail,
} from '../mail/billing-mail.ts'
import { mailMembers } from '../mail/mail-members.ts'
import type { MemberEmail } from '../mail/templates.tsx'
import { billingAccounts } from '../platform/db/billing-schema.ts'
import { thresholdOf } from './auto-reload-settings.ts'
import {
  findBillableOrganisation,
  updateBillingAccount,
  type BillingSubject,
} from './billing-account.ts'
import type { BillingState } from './billing-state.ts'
import { formatCredits, nameOfPlan } from './money.ts'
import type { SelfServicePlan } from './plans.ts'

const BILLING = '/billing'

/**
 * Sends an email about billing to the owners. Does not throw, because a failure of email must not stop a payment.
 * @returns false when the email has to be sent again
 */
export const mailOwners = (recipient: BillingSubject, email: MemberEmail): Promise<boolean> =>
  mailMembers({ ...recipient, to: 'owners', page: BILLING, email })

/**
 * Sends the email about the balance that is due, if any, and then records it.
 * @throws Error when it could not be sent; the next call sends it
 */
export async function sendBalanceNotice(
  { account, ...recipient }: BillingSubject & { account: OwnAccount },
  state: BillingState,
): Promise<void> {
  const creditsLeft = () => account.totals().balance + account.totals().reserved
  if (state.noticeOf(creditsLeft()) === undefined) return
  const organisation = await findBillableOrganisation(recipient.env, recipient.organisationId)
  // A grant may have arrived in the meantime.
  const credits = creditsLeft()
  const notice = state.noticeOf(credits)
  if (notice === undefined || !organisation || organisation.deleteAfter !== null) return
  const format = (amount: number) => formatCredits(amount, currencyOf(organisation.regionCode))
  const reloadBelow = organisation.autoReloadEnabled ? format(thresholdOf(organisation)) : null
  const email =
    notice === 'empty' ? emptyBalanceEmail : lowBalanceEmail(format(credits), reloadBelow)
  if (!(await mailMembers({ ...recipient, to: 'low_balance', page: BILLING, email }))) {
    throw new Error('The email was not sent')
  }
  state.recordNotice(notice)
}

/**
 * Sends the emails about limits of credits that are due, and records each.
 * @throws Error when one could not be sent; the next call sends it
 */
export async function sendCreditNotices({
  account,
  ...recipient
}: BillingSubject & { account: OwnAccount }): Promise<void> {
  for (const { limit, used } of await account.creditNotices(recipient.organisationId)) {
    const organisation = await findBillableOrganisation(recipient.env, recipient.organisationId)
    if (!organisation || organisation.deleteAfter !== null) return
    const page = limit.holder === 'workspace' ? '/settings/workspaces' : '/settings/api-keys'
    const email = creditLimitEmail(limit, { used, nextMonth: nextMonth(new Date()) })
    if (!(await mailMembers({ ...recipient, to: 'credit_limit', page, email }))) {
      throw new Error('The email was not sent')
    }
    account.recordCreditNotice(limit.countId)
  }
}

/**
 * Sends the email of a day of the grace period, once.
 * @throws Error when it could not be sent; the next call sends it
 */
export async function sendGraceMail(
  recipient: BillingSubject,
  { day, graceUntil }: { day: number; graceUntil: Date },
): Promise<void> {
  const organisation = await findBillableOrganisation(recipient.env, recipient.organisationId)
  if (!organisation || organisation.plan === 'enterprise') return
  const { graceMailDay } = billingAccounts
  const isUnsent = or(isNull(graceMailDay), lt(graceMailDay, day))
  if (!(await updateBillingAccount(recipient, { graceMailDay: day }, isUnsent))) return
  if (await mailOwners(recipient, graceEmail(nameOfPlan(organisation.plan), graceUntil))) return
  await updateBillingAccount(recipient, { graceMailDay: null }, eq(graceMailDay, day))
  throw new Error('The email of the grace period was not sent')
}

/** Informs the owners that the plan has ended with the grace period. */
export async function sendPlanEndedMail(recipient: BillingSubject, plan: SelfServicePlan) {
  const organisation = await findBillableOrganisation(recipient.env, recipient.organisationId)
  if (!organisation || organisation.plan === 'enterprise') return
  await mailOwners(recipient, planEndedEmail(nameOfPlan(plan)))
}

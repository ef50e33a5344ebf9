// Informs members that few or no credits are left, once each until the next grant, and that a limit of credits is
// nearly reached, once a month. Reserved credits are left of the balance, since they return if their jobs fail.
// They count for a limit, since it rejects submissions that exceed it together with them.
import type { OrganisationRow } from '../platform/db/schema.ts'
import { consolePath } from '../domain/console-path.ts'
import { nextMonth } from '../domain/credit-limit.ts'
import { currencyOf } from '../domain/organisation.ts'
import {
  creditLimitEmail,
  emptyBalanceEmail,
  lowBalanceEmail,
  graceEmail,
  planEndedEmail,
} from '../mail/billing-mail.tsx'
import type { OwnAccount } from '../credits/organisation-stub.ts'
import { thresholdOf } from './auto-reload-settings.ts'
import { mailRecipients } from '../mail/notify.ts'
import type { BillingState } from './billing-state.ts'
import { findBillableOrganisation, claimGraceMail, releaseGraceMail } from './billing-account.ts'
import { formatCredits } from './money.ts'
import { settingsOf } from '../platform/settings.ts'
import { ownerEmailsOf } from '../organisations/owners.ts'
import { log } from '../platform/log.ts'
import { sendEmail } from '../mail/send.ts'
import type { Email } from '../mail/templates.tsx'
import { nameOfPlan } from './plans.ts'
import type { SelfServicePlan } from './plans.ts'

/**
 * Sends the email that is due, if any, and then records it.
 * @throws Error when it could not be sent; the next call sends it
 */
export async function sendBalanceNotice({
  env,
  account,
  organisation,
  state,
}: {
  env: Env
  account: Pick<OwnAccount, 'totals'>
  organisation: OrganisationRow
  state: BillingState
}): Promise<void> {
  const { balance, reserved } = account.totals()
  const notice = state.noticeOf(balance + reserved)
  if (notice === undefined || organisation.deleteAfter !== null) return
  const { id, name: organisationName, autoReloadEnabled } = organisation
  const format = (credits: number) => formatCredits(credits, currencyOf(organisation.regionCode))
  const link = billingUrl(env, id)
  const email =
    notice === 'empty'
      ? emptyBalanceEmail({ organisationName, link })
      : lowBalanceEmail({
          organisationName,
          credits: format(balance + reserved),
          reloadBelow: autoReloadEnabled ? format(thresholdOf(organisation)) : null,
          link,
        })
  const isSent = await mailRecipients({ env, organisationId: id, kind: 'low_balance', email })
  if (!isSent) throw new Error('The email was not sent')
  state.recordNotice(notice)
}

/**
 * Sends the emails about limits of credits that are due, and records each.
 * @throws Error when one could not be sent; the next call sends it
 */
export async function sendCreditNotices({
  env,
  account,
  organisationId,
}: {
  env: Env
  account: Pick<OwnAccount, 'creditNotices' | 'recordCreditNotice'>
  organisationId: string
}): Promise<void> {
  for (const notice of await account.creditNotices(organisationId)) {
    const organisation = await findBillableOrganisation(env, organisationId)
    if (!organisation || organisation.deleteAfter !== null) return
    const page = notice.limit.holder === 'workspace' ? 'workspaces' : 'api-keys'
    const path = consolePath(organisationId, `/settings/${page}`)
    const email = creditLimitEmail({
      ...notice,
      organisationName: organisation.name,
      nextMonth: nextMonth(new Date()),
      link: `${settingsOf(env).baseUrl ?? ''}${path}`,
    })
    const isSent = await mailRecipients({ env, organisationId, kind: 'credit_limit', email })
    if (!isSent) throw new Error('The email was not sent')
    account.recordCreditNotice(notice.limit.countId)
  }
}

/** The address of the billing page. Relative without BASE_URL, which email requires anyway. */
export const billingUrl = (env: Env, organisationId: string): string =>
  `${settingsOf(env).baseUrl ?? ''}${consolePath(organisationId, '/billing')}`

/**
 * Does not throw, because a failure of email must not stop a payment. Failures are logged.
 * @returns false when the email has to be sent again: no owner has received it
 */
export async function mailOwners(env: Env, organisationId: string, email: Email): Promise<boolean> {
  const { devMailbox, mailFrom } = settingsOf(env)
  // Without email in this deployment, a repetition does not help.
  if (!devMailbox && !mailFrom) return true
  try {
    const addresses = await ownerEmailsOf(env, organisationId)
    const sent = await Promise.all(addresses.map((to) => sendEmail({ env, to, email })))
    return addresses.length === 0 || sent.includes(true)
  } catch (error) {
    log.error('owners not informed', error, { organisationId, subject: email.subject })
    return false
  }
}

/**
 * Sends the email of a day of the grace period, once.
 * @throws Error when it could not be sent; the next call sends it
 */
export async function sendGraceMail({
  env,
  organisationId,
  day,
  graceUntil,
}: {
  env: Env
  organisationId: string
  day: number
  graceUntil: Date
}): Promise<void> {
  const organisation = await findBillableOrganisation(env, organisationId)
  if (!organisation || organisation.plan === 'enterprise') return
  if (!(await claimGraceMail(env, organisationId, day))) return
  const email = graceEmail({
    organisationName: organisation.name,
    plan: nameOfPlan(organisation.plan),
    graceUntil,
    link: billingUrl(env, organisationId),
  })
  if (await mailOwners(env, organisationId, email)) return
  await releaseGraceMail(env, organisationId, day)
  throw new Error('The email of the grace period was not sent')
}

/** Informs the owners that the plan has ended with the grace period. */
export async function sendPlanEndedMail({
  env,
  organisationId,
  plan,
}: {
  env: Env
  organisationId: string
  /** The plan that has ended. */
  plan: SelfServicePlan
}): Promise<void> {
  const organisation = await findBillableOrganisation(env, organisationId)
  if (!organisation || organisation.plan === 'enterprise') return
  const email = planEndedEmail({
    organisationName: organisation.name,
    plan: nameOfPlan(plan),
    link: billingUrl(env, organisationId),
  })
  await mailOwners(env, organisationId, email)
}

// The emails to the owners after a failed renewal.
import { graceEmail, planEndedEmail } from '../mail/billing-mail.tsx'
import { claimGraceMail, releaseGraceMail } from './billing-account.ts'
import { findBillableOrganisation } from './buyer.ts'
import { billingUrl, mailOwners } from './mail-owners.ts'
import { nameOfPlan } from './plans.ts'
import type { SelfServicePlan } from './plans.ts'

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

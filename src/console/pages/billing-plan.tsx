// The section of Billing for the plan: what is in force, what is scheduled, and the other plans.
import type { Child } from 'hono/jsx'
import { formatCredits, formatMoney } from '../../billing/money.ts'
import {
  isSelfServicePlan,
  nameOfPlan,
  PLAN_TERMS,
  SELF_SERVICE_PLANS,
} from '../../billing/plans.ts'
import type { SelfServicePlan } from '../../billing/plans.ts'
import type { BillingAccountRow } from '../../platform/db/billing-schema.ts'
import type { OrganisationRow } from '../../platform/db/schema.ts'
import { currencyOf } from '../../domain/organisation.ts'
import type { Plan } from '../../domain/organisation.ts'
import { ActionForm, FormError } from '../components/form.tsx'
import { Details } from '../components/section.tsx'
import { ContactLink } from '../components/contact-link.tsx'
import { Notice } from '../components/notice.tsx'
import { PlanCards } from '../components/plan-cards.tsx'
import { Timestamp } from '../components/time.tsx'
import type { BillingView } from './billing-view.ts'

const ACTION = '/billing/plan'

/** The plan in force, and what an owner can change. */
export const PlanSection = ({ view, canChange }: { view: BillingView; canChange: boolean }) => {
  const { c, account } = view
  const { organisation } = c.var.membership
  const { plan, rateLimitPerMinute, rateLimitOverridden } = organisation
  const offersPlans = canChange && plan !== 'enterprise'
  return (
    <section aria-labelledby="plan-heading">
      <h2 id="plan-heading">Plan {nameOfPlan(plan)}</h2>
      <FormError state={view.stateOf('plan')} />
      {!offersPlans && <PlanInForce organisation={organisation} account={account} />}
      {plan === 'enterprise' && <ContactLink env={c.env} label="Contact us to change the terms" />}
      {offersPlans && (
        <>
          <PlanCards
            currency={currencyOf(organisation.regionCode)}
            current={plan}
            action={(other) => <PlanAction view={view} plan={other} />}
          />
          <p class="muted">
            {rateLimitOverridden &&
              `We have set ${rateLimitPerMinute} requests per minute for this organisation. `}
            Prices exclude tax. An upgrade takes effect at once. A downgrade takes effect at the end
            of the billing period. <a href={pricingUrl(organisation)}>Compare all prices</a>
          </p>
        </>
      )}
    </section>
  )
}

const pricingUrl = ({ regionCode }: OrganisationRow) =>
  `/pricing?currency=${currencyOf(regionCode)}`

/** What the cards of the plans do not say. */
const PlanInForce = ({
  organisation,
  account,
}: {
  organisation: OrganisationRow
  account: BillingAccountRow | undefined
}) => {
  const currency = currencyOf(organisation.regionCode)
  const terms = termsOf(organisation, account)
  return (
    <Details
      rows={[
        terms !== null && ['Monthly fee', formatMoney(terms.monthlyFee, currency)],
        terms !== null && [
          'Included credits',
          `${formatCredits(terms.includedCredits, currency)} per month`,
        ],
        [
          'Rate limit',
          `${formatCredits(organisation.rateLimitPerMinute, currency)} requests per minute`,
        ],
      ]}
    />
  )
}

/** The fee and the credits of the plan in force; null for `enterprise` without terms. */
export function termsOf(
  { plan, regionCode }: OrganisationRow,
  account: BillingAccountRow | undefined,
) {
  if (!isSelfServicePlan(plan)) return account?.enterpriseTerms ?? null
  const { monthlyFee, includedCredits } = PLAN_TERMS[plan]
  return { monthlyFee: monthlyFee[currencyOf(regionCode)], includedCredits }
}

/** A failed renewal, or a scheduled change, which can be reverted. */
export const PlanNotices = ({
  organisation: { plan, regionCode },
  account: { subscriptionStatus, graceUntil, nextPlan, periodEnd },
}: {
  organisation: OrganisationRow
  account: BillingAccountRow
}) => {
  if (subscriptionStatus === 'past_due' && graceUntil) {
    return (
      <Notice kind="bad">
        <strong>The renewal of {nameOfPlan(plan)} failed.</strong> Update the payment method before{' '}
        <Timestamp at={graceUntil} />. After that, the plan changes to Starter.{' '}
        <a href="#payment-method">Update payment method</a>
      </Notice>
    )
  }
  if (!nextPlan || !periodEnd || nextPlan === plan) return null
  return (
    <Notice kind="info">
      The plan changes to {nameOfPlan(nextPlan)} on <Timestamp at={periodEnd} as="day" />. Until
      then, it remains {nameOfPlan(plan)}.{' '}
      {isSelfServicePlan(plan) && (
        <PlanForm plan={plan} currency={currencyOf(regionCode)} label="Keep the plan" />
      )}
    </Notice>
  )
}

const PlanAction = ({ view, plan }: { view: BillingView; plan: Plan }): Child => {
  const { c, account } = view
  const { organisation } = c.var.membership
  const current = organisation.plan
  const nextPlan = account?.nextPlan === current ? null : account?.nextPlan
  if (!isSelfServicePlan(plan)) return <ContactLink env={c.env} />
  if (!isSelfServicePlan(current)) return null
  const form = { plan, currency: currencyOf(organisation.regionCode) }
  if (plan === current || view.problem !== null) return null
  if (plan === nextPlan) return <span class="muted">Scheduled</span>
  const rankOf = (other: SelfServicePlan) => SELF_SERVICE_PLANS.indexOf(other)
  if (rankOf(plan) < rankOf(current)) {
    return (
      <PlanForm
        {...form}
        label="Downgrade"
        confirm={
          account?.subscriptionId
            ? `The plan changes to ${nameOfPlan(plan)} at the end of the billing period. Until then, nothing changes.`
            : `The plan changes to ${nameOfPlan(plan)} at once.`
        }
      />
    )
  }
  return <PlanForm {...form} label="Upgrade" />
}

const PlanForm = ({
  plan,
  currency,
  label,
  confirm,
}: {
  plan: SelfServicePlan
  currency: ReturnType<typeof currencyOf>
  label: string
  confirm?: string | undefined
}) => (
  <ActionForm
    to={ACTION}
    label={label}
    on={label === 'Keep the plan' ? nameOfPlan(plan) : `to ${nameOfPlan(plan)}`}
    confirm={confirm}
    isSafe
    fields={{ plan, amount: String(PLAN_TERMS[plan].monthlyFee[currency]), currency }}
  />
)

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
import type { BillingAccountRow } from '../../db/billing-schema.ts'
import type { OrganisationRow } from '../../db/schema.ts'
import { currencyOf } from '../../domain/organisation.ts'
import type { Plan } from '../../domain/organisation.ts'
import { ActionForm, FormError } from '../components/form.tsx'
import { ContactLink } from '../components/contact-link.tsx'
import { Notice } from '../components/notice.tsx'
import { PlanCards } from '../components/plan-cards.tsx'
import { Timestamp } from '../components/time.tsx'
import type { BillingView } from './billing-page.tsx'

const ACTION = '/billing/plan'

/** The plan in force, its notices, and what an owner can change. */
export const PlanSection = ({ view, canChange }: { view: BillingView; canChange: boolean }) => {
  const { c, account } = view
  const { organisation } = c.var.membership
  return (
    <section id="plan" aria-labelledby="plan-heading">
      <h2 id="plan-heading">Plan {nameOfPlan(organisation.plan)}</h2>
      <FormError state={view.stateOf('plan')} />
      {account && <PlanNotices organisation={organisation} account={account} />}
      <PlanInForce organisation={organisation} account={account} />
      {organisation.plan === 'enterprise' && (
        <ContactLink env={c.env} label="Contact us to change the terms" />
      )}
      {canChange && organisation.plan !== 'enterprise' && (
        <>
          <PlanCards
            currency={currencyOf(organisation.regionCode)}
            current={organisation.plan}
            action={(plan) => <PlanAction view={view} plan={plan} />}
          />
          <p class="muted">
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

const PlanInForce = ({
  organisation,
  account,
}: {
  organisation: OrganisationRow
  account: BillingAccountRow | undefined
}) => {
  const { plan, rateLimitPerMinute, rateLimitOverridden, regionCode } = organisation
  const currency = currencyOf(regionCode)
  const terms = termsOf(organisation, account)
  const hasSubscription = account?.subscriptionStatus === 'active'
  return (
    <dl class="card plan-in-force">
      {terms && (
        <>
          <dt>Monthly fee</dt>
          <dd>{terms.monthlyFee === 0 ? 'None' : formatMoney(terms.monthlyFee, currency)}</dd>
          <dt>Included credits</dt>
          <dd>
            {terms.includedCredits === 0
              ? 'None'
              : `${formatCredits(terms.includedCredits, currency)} per month`}
          </dd>
        </>
      )}
      <dt>Rate limit</dt>
      <dd>
        {formatCredits(rateLimitPerMinute, currency)} requests per minute
        {rateLimitOverridden && plan !== 'enterprise' && (
          <span class="muted"> (set by us for this organisation)</span>
        )}
      </dd>
      {hasSubscription && account.periodEnd && (
        <>
          <dt>{account.nextPlan === 'starter' ? 'Ends on' : 'Renews on'}</dt>
          <dd>
            <Timestamp at={account.periodEnd} />
          </dd>
        </>
      )}
    </dl>
  )
}

function termsOf({ plan, regionCode }: OrganisationRow, account: BillingAccountRow | undefined) {
  if (!isSelfServicePlan(plan)) return account?.enterpriseTerms ?? null
  const { monthlyFee, includedCredits } = PLAN_TERMS[plan]
  return { monthlyFee: monthlyFee[currencyOf(regionCode)], includedCredits }
}

/** A failed renewal, or a scheduled change. */
const PlanNotices = ({
  organisation: { plan },
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
      The plan changes to {nameOfPlan(nextPlan)} on <Timestamp at={periodEnd} />. Until then, it
      remains {nameOfPlan(plan)}.
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
  if (plan === current) {
    return nextPlan ? <PlanForm {...form} label="Keep the plan" /> : null
  }
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
  const fee = formatMoney(PLAN_TERMS[plan].monthlyFee[form.currency], form.currency)
  return (
    <PlanForm
      {...form}
      label="Upgrade"
      confirm={
        // The first payment of a plan has a page of the provider. An upgrade charges at once.
        account?.subscriptionId
          ? `The plan changes to ${nameOfPlan(plan)} at once, for ${fee} per month. Your payment method is charged the difference for the rest of the billing period.`
          : undefined
      }
    />
  )
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
    kind="primary"
    confirm={confirm}
    isSafe
    fields={{ plan, amount: String(PLAN_TERMS[plan].monthlyFee[currency]), currency }}
  />
)

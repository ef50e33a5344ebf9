// The section of Billing for the plan: what is in force, what is scheduled, the other plans, and the
// confirmation of an upgrade, which charges the stored payment method at once.
import type { Child } from 'hono/jsx'
import type { Quote } from '../../billing/change-plan.ts'
import { formatCredits, formatMoney, nameOfPlan } from '../../billing/money.ts'
import {
  isSelfServicePlan,
  PLAN_TERMS,
  SELF_SERVICE_PLANS,
  type SelfServicePlan,
} from '../../billing/plans.ts'
import type { Plan } from '../../domain/organisation.ts'
import { ActionForm, Button, FormError, PostForm } from '../components/form.tsx'
import { ContactLink, PlanCards } from '../components/plan-cards.tsx'
import { memberPage } from '../components/layout.tsx'
import { Notice, Timestamp, ButtonLink } from '../components/text.tsx'
import { detailList, Section } from '../components/section.tsx'
import type { ConsoleContext } from '../console-context.ts'
import type { BillingView } from './billing-view.ts'

/** The plan in force, and what an owner can change. */
export const PlanSection = ({ view }: { view: BillingView }) => {
  const { c, organisation, currency, terms, money, count } = view
  const { plan, rateLimitPerMinute, rateLimitOverridden } = organisation
  const offersPlans = view.isSetUp && plan !== 'enterprise'
  return (
    <Section id="plan-heading" title={`Plan ${nameOfPlan(plan)}`}>
      <FormError state={view.stateOf('plan')} />
      {!offersPlans &&
        detailList({
          'Monthly fee': terms !== null && money(terms.monthlyFee),
          'Included credits': terms !== null && `${count(terms.includedCredits)} per month`,
          'Rate limit': `${count(rateLimitPerMinute)} requests per minute`,
        })}
      {plan === 'enterprise' && <ContactLink env={c.env} label="Contact us to change the terms" />}
      {offersPlans && (
        <>
          <PlanCards
            currency={currency}
            current={plan}
            action={(other) => planAction(view, other)}
          />
          <p class="muted">
            {rateLimitOverridden &&
              `We have set ${rateLimitPerMinute} requests per minute for this organisation. `}
            Prices exclude tax. An upgrade takes effect at once. A downgrade takes effect at the end
            of the billing period. <a href={`/pricing?currency=${currency}`}>Compare all prices</a>
          </p>
        </>
      )}
    </Section>
  )
}

/** A failed renewal, or a scheduled change, which can be reverted. */
export const PlanNotices = ({ view }: { view: BillingView }) => {
  const { plan } = view.organisation
  const { subscriptionStatus, graceUntil, nextPlan, periodEnd } = view.account ?? {}
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
      {isSelfServicePlan(plan) && planForm(view, plan, 'Keep the plan')}
    </Notice>
  )
}

function planAction(view: BillingView, plan: Plan): Child {
  const { c, account, organisation } = view
  const current = organisation.plan
  if (!isSelfServicePlan(plan)) return <ContactLink env={c.env} />
  if (!isSelfServicePlan(current) || plan === current || view.problem !== null) return null
  if (plan === account?.nextPlan) return <span class="muted">Scheduled</span>
  const rankOf = (other: SelfServicePlan) => SELF_SERVICE_PLANS.indexOf(other)
  if (rankOf(plan) > rankOf(current)) return planForm(view, plan, 'Upgrade')
  const when = account?.subscriptionId
    ? 'at the end of the billing period. Until then, nothing changes.'
    : 'at once.'
  return planForm(view, plan, 'Downgrade', `The plan changes to ${nameOfPlan(plan)} ${when}`)
}

const planForm = (
  { currency }: BillingView,
  plan: SelfServicePlan,
  label: 'Upgrade' | 'Downgrade' | 'Keep the plan',
  confirm?: string,
) => (
  <ActionForm
    to="/billing/plan"
    label={label}
    on={label === 'Keep the plan' ? nameOfPlan(plan) : `to ${nameOfPlan(plan)}`}
    confirm={confirm}
    isSafe
    fields={{ plan, amount: String(PLAN_TERMS[plan].monthlyFee[currency]), currency }}
  />
)

/** Shows what an upgrade charges, and charges it with its button. */
export const upgradePage = (c: ConsoleContext, quote: Quote) => {
  const { plan, amount, monthlyFee, currency, credits, paymentMethod, renewsAt, at } = quote
  const charge = formatMoney(amount, currency)
  return memberPage(
    {
      c,
      title: 'Confirm upgrade',
      above: { '/billing': 'Billing' },
      heading: `Upgrade to ${nameOfPlan(plan)}`,
      credits: null,
    },
    <section class="card" aria-label="Upgrade">
      {detailList({
        'Charged now': <strong>{charge} plus tax</strong>,
        'Payment method': paymentMethod ?? 'The stored payment method',
        'Credits added now': formatCredits(credits, currency),
        Then: (
          <>
            {formatMoney(monthlyFee, currency)} per month
            {renewsAt && (
              <>
                , next on <Timestamp at={renewsAt} />
              </>
            )}
          </>
        ),
      })}
      <p class="muted">
        The charge is the difference between the plans for the rest of the billing period. The plan
        changes at once.
      </p>
      <PostForm
        to="/billing/plan"
        class="buttons"
        fields={{
          plan,
          amount: String(monthlyFee),
          currency,
          charge: String(amount),
          at: at.toISOString(),
        }}
      >
        <Button>Pay {charge} and upgrade</Button>
        <ButtonLink to="/billing" label="Back" />
      </PostForm>
    </section>,
  )
}

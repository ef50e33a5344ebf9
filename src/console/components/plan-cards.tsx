// The plans side by side, for the pricing page and for Billing.
import { ButtonLink } from './text.tsx'
import type { Child, PropsWithChildren } from 'hono/jsx'
import { formatCredits, formatMoney, nameOfPlan } from '../../billing/money.ts'
import { PLAN_TERMS, SELF_SERVICE_PLANS } from '../../billing/plans.ts'
import type { Currency, Plan } from '../../domain/organisation.ts'
import { settingsOf } from '../../platform/settings.ts'

interface PlanCardsProps {
  currency: Currency
  current?: Plan
  action: (plan: Plan) => Child
}

/**
 * The cards of all plans.
 * @param current the plan in force, which is highlighted
 * @param action what the customer can do with each plan
 */
export const PlanCards = ({ currency, current, action }: PlanCardsProps) => (
  <div class="plans">
    {SELF_SERVICE_PLANS.map((plan) => {
      const { monthlyFee, includedCredits, rateLimitPerMinute, tiers } = PLAN_TERMS[plan]
      const prices = tiers.map(({ price }) => price[currency])
      return (
        <PlanCard name={nameOfPlan(plan)} isCurrent={plan === current} action={action(plan)}>
          <p class="price">
            {formatMoney(monthlyFee[currency], currency)} <small>per month</small>
          </p>
          <ul>
            <li>
              {includedCredits === 0
                ? 'No monthly fee: pay per credit'
                : `${formatCredits(includedCredits, currency)} credits per month included`}
            </li>
            <li>
              Further credits for {formatMoney(Math.max(...prices), currency)} to{' '}
              {formatMoney(Math.min(...prices), currency)} each
            </li>
            <li>{formatCredits(rateLimitPerMinute, currency)} requests per minute</li>
          </ul>
        </PlanCard>
      )
    })}
    <PlanCard name="Enterprise" isCurrent={current === 'enterprise'} action={action('enterprise')}>
      <p class="price">Custom</p>
      <ul>
        <li>Included credits and prices by agreement</li>
        <li>
          At least {formatCredits(PLAN_TERMS.scale.rateLimitPerMinute, currency)} requests per
          minute
        </li>
        <li>Payment by invoice</li>
      </ul>
    </PlanCard>
  </div>
)

type PlanCardProps = PropsWithChildren<{ name: string; isCurrent: boolean; action: Child }>

const PlanCard = ({ name, isCurrent, action, children }: PlanCardProps) => (
  <article class={isCurrent ? 'card plan current' : 'card plan'} aria-label={`Plan ${name}`}>
    <h3>
      {name} {isCurrent && <span class="badge good">Current</span>}
    </h3>
    {children}
    <div class="plan-action">{action}</div>
  </article>
)

/** A button that writes to support; a text when no address is set. */
export const ContactLink = ({ env, label = 'Contact us' }: { env: Env; label?: string }) => {
  const { supportEmail } = settingsOf(env)
  if (!supportEmail) return <span class="muted">Contact support</span>
  return <ButtonLink href={`mailto:${supportEmail}`} label={label} />
}

// The confirmation of an upgrade, which charges the stored payment method at once.
import type { Quote } from '../../billing/change-plan.ts'
import { formatCredits, formatMoney } from '../../billing/money.ts'
import { nameOfPlan } from '../../billing/plans.ts'
import { Button, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Link } from '../components/link.tsx'
import { Details } from '../components/section.tsx'
import { Timestamp } from '../components/time.tsx'
import type { ConsoleContext } from '../console-context.ts'

/** Shows what the upgrade charges, and charges it with its button. */
export const upgradePage = (c: ConsoleContext, quote: Quote) => {
  const { plan, amount, monthlyFee, currency, credits, paymentMethod, renewsAt, at } = quote
  const charge = formatMoney(amount, currency)
  const fields = { plan, amount: monthlyFee, currency, charge: amount, at: at.toISOString() }
  return memberPage(
    c,
    { title: 'Confirm upgrade', credits: null },
    <>
      <p class="breadcrumb">
        <Link to="/billing">Billing</Link>
      </p>
      <h1>Upgrade to {nameOfPlan(plan)}</h1>
      <section class="card" aria-label="Upgrade">
        <Details
          rows={[
            ['Charged now', <strong>{charge} plus tax</strong>],
            ['Payment method', paymentMethod ?? 'The stored payment method'],
            ['Credits added now', formatCredits(credits, currency)],
            [
              'Then',
              <>
                {formatMoney(monthlyFee, currency)} per month
                {renewsAt && (
                  <>
                    , next on <Timestamp at={renewsAt} />
                  </>
                )}
              </>,
            ],
          ]}
        />
        <p class="muted">
          The charge is the difference between the plans for the rest of the billing period. The
          plan changes at once.
        </p>
        <PostForm to="/billing/plan" class="buttons">
          {Object.entries(fields).map(([name, value]) => (
            <input type="hidden" name={name} value={String(value)} />
          ))}
          <Button>Pay {charge} and upgrade</Button>
          <Link to="/billing" role="button" class="secondary">
            Back
          </Link>
        </PostForm>
      </section>
    </>,
  )
}

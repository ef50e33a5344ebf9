// The page Billing puts its sections together.
import { isSandbox } from '../../billing/choose-provider.ts'
import { nameOfPlan } from '../../billing/money.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { usageOf, type Usage } from '../../jobs/reports/usage.ts'
import type { CreditStatus } from '../../credits/rpc.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { Chart, dayPeriod } from '../components/chart.tsx'
import { Button, FormError, PostForm } from '../components/form.tsx'
import { memberPage, SandboxBanner } from '../components/layout.tsx'
import { Figures, Section, Tabs } from '../components/section.tsx'
import { Timestamp, Notice } from '../components/text.tsx'
import type { ConsoleContext } from '../console-context.ts'
import { AutoReloadForm, Packs } from './billing-credits.tsx'
import { Payments } from './billing-payment.tsx'
import { PlanNotices, PlanSection } from './billing-plan.tsx'
import { readView, type BillingView, type RejectedForm } from './billing-view.ts'

export async function billingPage(
  c: ConsoleContext,
  rejected?: RejectedForm,
  status: 200 | 422 | 503 = rejected ? 422 : 200,
) {
  const organisationId = c.var.membership.organisation.id
  const [credits, usage, view] = await Promise.all([
    organisationStub(c.env, organisationId).creditStatus(),
    usageOf({ env: c.env, organisationId, now: Date.now() }),
    readView(c, rejected),
  ])
  const shown =
    view.rejected === 'plan' ? 'plan' : view.rejected === 'portal' ? 'payments' : 'credits'
  return memberPage(
    c,
    { title: 'Billing', status, script: '/static/chart.js', credits: null },
    <>
      <h1>Billing</h1>
      {isSandbox(c.env, baseUrlOf(c)) && <SandboxBanner />}
      {view.problem && <Notice kind="bad">{view.problem}</Notice>}
      <PlanNotices view={view} />
      {summary(view, credits, usage)}
      <Tabs
        label="Billing"
        shown={shown}
        tabs={[
          ['credits', 'Credits', <Credits view={view} usage={usage} />],
          ['plan', 'Plan', <PlanSection view={view} />],
          [
            'payments',
            'Payments',
            <>
              {view.isSetUp && <PaymentMethod view={view} />}
              <Payments view={view} />
            </>,
          ],
        ]}
      />
    </>,
  )
}

function summary(view: BillingView, credits: CreditStatus, usage: Usage) {
  const { account, organisation, terms, money, count } = view
  const renews = account?.subscriptionStatus === 'active' && account.nextPlan !== 'starter'
  return (
    <Figures
      figures={[
        [
          'Credit balance',
          <>
            {count(credits.balance)}{' '}
            {credits.level === 'low' && <span class="badge waiting">Low</span>}
            {credits.level === 'empty' && <span class="badge bad">Live jobs are rejected</span>}
          </>,
          `${count(usage.total)} used this month`,
        ],
        [
          'Plan',
          <a href="#plan">{nameOfPlan(organisation.plan)}</a>,
          terms?.monthlyFee ? `${money(terms.monthlyFee)} per month` : 'No monthly fee',
        ],
        [
          'Payment method',
          <a href="#payment-method">{account?.paymentMethod ?? 'None'}</a>,
          `Auto-reload ${organisation.autoReloadEnabled ? 'on' : 'off'}`,
        ],
        [
          'Next charge',
          renews && account.periodEnd ? <Timestamp at={account.periodEnd} as="day" /> : 'None',
          renews && terms ? money(terms.monthlyFee) : 'Pay per pack',
        ],
      ]}
    />
  )
}

const Credits = ({ view, usage: { days } }: { view: BillingView; usage: Usage }) => (
  <>
    {view.isSetUp ? (
      <>
        <Packs view={view} />
        <AutoReloadForm view={view} />
      </>
    ) : (
      <Notice kind="info">
        Payments are not set up. Contact support to add credits or to change the plan.
      </Notice>
    )}
    <Section id="usage-heading" title="Usage this month">
      <Chart
        caption="Credits used per day"
        unit="Day"
        periods={days.map(({ startsAt }) => dayPeriod(startsAt))}
        series={[{ label: 'Credits used', colour: 'good', counts: days.map((day) => day.credits) }]}
      />
    </Section>
  </>
)

/** The stored payment method, with a link to the provider's portal. */
const PaymentMethod = ({ view }: { view: BillingView }) => (
  <section id="payment-method" class="card" aria-labelledby="payment-method-heading">
    <h2 id="payment-method-heading">Payment method and billing details</h2>
    <FormError state={view.stateOf('portal')} />
    {view.account?.customerId ? (
      <>
        <p>
          {view.account.paymentMethod ?? 'No payment method is stored.'}{' '}
          <span class="muted">
            The payment provider stores the payment method, billing address and tax ID.
          </span>
        </p>
        <PostForm to="/billing/portal">
          <Button kind="secondary">Manage billing details</Button>
        </PostForm>
      </>
    ) : (
      <p>
        You enter the payment method, billing address and tax ID with the first payment. After that,
        you can change them here.
      </p>
    )}
  </section>
)

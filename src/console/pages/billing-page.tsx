// The page Billing puts its sections together.
import { isSandbox, providerFor } from '../../billing/choose-provider.ts'
import { formatCredits, formatMoney } from '../../billing/money.ts'
import { nameOfPlan } from '../../billing/plans.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { usageOf } from '../../jobs/reports/usage.ts'
import type { Usage } from '../../jobs/reports/usage.ts'
import type { CreditStatus } from '../../credits/rpc.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { Chart, dayPeriod } from '../components/chart.tsx'
import { memberPage } from '../components/layout.tsx'
import { Figures } from '../components/section.tsx'
import { Tabs } from '../components/tabs.tsx'
import { Timestamp } from '../components/time.tsx'
import { Notice } from '../components/notice.tsx'
import { SandboxBanner } from '../components/notice.tsx'
import type { ConsoleContext } from '../console-context.ts'
import { AutoReloadForm, Packs } from './billing-credits.tsx'
import { PaymentMethod, Payments } from './billing-payments.tsx'
import { PlanNotices, PlanSection, termsOf } from './billing-plan.tsx'
import { readView } from './billing-view.ts'
import type { BillingView, RejectedForm } from './billing-view.ts'

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
  return memberPage(
    c,
    {
      title: 'Billing',
      status,
      script: '/static/chart.js',
      credits: null,
    },
    <>
      <h1>Billing</h1>
      {isSandbox(c.env, baseUrlOf(c)) && <SandboxBanner />}
      {view.problem && <Notice kind="bad">{view.problem}</Notice>}
      {view.account && (
        <PlanNotices organisation={c.var.membership.organisation} account={view.account} />
      )}
      <Summary view={view} credits={credits} usage={usage} />
      <Sections view={view} usage={usage} />
    </>,
  )
}

const Sections = ({ view, usage }: { view: BillingView; usage: Usage }) => {
  const { c, rejected } = view
  const isSetUp = providerFor(c.env, baseUrlOf(c)) !== null
  const shown = rejected === 'plan' ? 'plan' : rejected === 'portal' ? 'payments' : 'credits'
  return (
    <Tabs
      label="Billing"
      shown={shown}
      tabs={[
        [
          'credits',
          'Credits',
          <>
            {isSetUp ? (
              <Packs view={view} />
            ) : (
              <Notice kind="info">
                Payments are not set up. Contact support to add credits or to change the plan.
              </Notice>
            )}
            {isSetUp && <AutoReloadForm view={view} />}
            <UsageSection usage={usage} />
          </>,
        ],
        ['plan', 'Plan', <PlanSection view={view} canChange={isSetUp} />],
        [
          'payments',
          'Payments',
          <>
            {isSetUp && <PaymentMethod view={view} />}
            <Payments view={view} />
          </>,
        ],
      ]}
    />
  )
}

const Summary = ({
  view: { c, account },
  credits,
  usage,
}: {
  view: BillingView
  credits: CreditStatus
  usage: Usage
}) => {
  const { organisation } = c.var.membership
  const currency = currencyOf(organisation.regionCode)
  const terms = termsOf(organisation, account)
  const renews = account?.subscriptionStatus === 'active' && account.nextPlan !== 'starter'
  return (
    <Figures
      figures={[
        [
          'Credit balance',
          <>
            {formatCredits(credits.balance, currency)}{' '}
            {credits.level === 'low' && <span class="badge waiting">Low</span>}
            {credits.level === 'empty' && <span class="badge bad">Live jobs are rejected</span>}
          </>,
          `${formatCredits(usage.total, currency)} used this month`,
        ],
        [
          'Plan',
          <a href="#plan">{nameOfPlan(organisation.plan)}</a>,
          terms && terms.monthlyFee > 0
            ? `${formatMoney(terms.monthlyFee, currency)} per month`
            : 'No monthly fee',
        ],
        [
          'Payment method',
          <a href="#payment-method">{account?.paymentMethod ?? 'None'}</a>,
          `Auto-reload ${organisation.autoReloadEnabled ? 'on' : 'off'}`,
        ],
        [
          'Next charge',
          renews && account.periodEnd ? <Timestamp at={account.periodEnd} as="day" /> : 'None',
          renews && terms ? formatMoney(terms.monthlyFee, currency) : 'Pay per pack',
        ],
      ]}
    />
  )
}

const UsageSection = ({ usage }: { usage: Usage }) => (
  <section aria-labelledby="usage-heading">
    <h2 id="usage-heading">Usage this month</h2>
    <Chart
      caption="Credits used per day"
      unit="Day"
      periods={usage.days.map(({ startsAt }) => dayPeriod(startsAt))}
      series={[
        { label: 'Credits used', colour: 'good', counts: usage.days.map((day) => day.credits) },
      ]}
    />
  </section>
)

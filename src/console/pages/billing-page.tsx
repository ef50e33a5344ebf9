// The page Billing: reads what its sections show and puts them together.
import type { Child } from 'hono/jsx'
import { isSandbox, providerFor } from '../../billing/choose.ts'
import { formatCredits } from '../../billing/money.ts'
import { nameOfPlan } from '../../billing/plans.ts'
import { readBilling } from '../../billing/read-billing.ts'
import type { BillingAccountRow, PaymentRow } from '../../db/billing-schema.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { isId } from '../../ids.ts'
import { usageOf } from '../../jobs/usage.ts'
import type { Usage } from '../../jobs/usage.ts'
import type { CreditStatus } from '../../organisation/rpc.ts'
import { organisationStub } from '../../organisation/stub.ts'
import { Chart, dayPeriod } from '../components/chart.tsx'
import { memberPage } from '../components/layout.tsx'
import { Notice } from '../components/notice.tsx'
import { SandboxBanner } from '../components/sandbox-banner.tsx'
import type { ConsoleContext } from '../context.ts'
import { scopeOf } from '../middleware/session.ts'
import type { FormState } from '../read-form.ts'
import { AutoReloadForm, Packs } from './billing-credits.tsx'
import { PaymentMethod, Payments } from './billing-payments.tsx'
import { PlanSection } from './billing-plan.tsx'

export type BillingForm = 'packs' | 'plan' | 'auto-reload' | 'portal'

/** A form that was rejected, and its errors. */
export interface RejectedForm {
  form: BillingForm
  state: FormState
}

/** What the sections show. */
export interface BillingView {
  c: ConsoleContext
  account: BillingAccountRow | undefined
  payments: PaymentRow[]
  hasMore: boolean
  /** Of automatic payments in this month, minor units. */
  autoReloadSpent: number
  stateOf: (form: BillingForm) => FormState
}

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
  const done = doneMessage(c)
  return memberPage(
    c,
    {
      title: 'Billing',
      status,
      stylesheet: ['/static/billing.css', '/static/chart.css'],
      script: '/static/chart.js',
      credits: null,
    },
    <>
      <h1>Billing</h1>
      {isSandbox(c.env, baseUrlOf(c)) && <SandboxBanner />}
      {done && <Notice kind="good">{done}</Notice>}
      <p>
        The <a href="/docs/billing">billing guide</a> explains what costs a credit.
      </p>
      <Summary c={c} credits={credits} usage={usage} />
      <Sections view={view} usage={usage} />
    </>,
  )
}

async function readView(
  c: ConsoleContext,
  rejected: RejectedForm | undefined,
): Promise<BillingView> {
  const before = c.req.query('before')
  const beforeId = before !== undefined && isId('pay', before) ? before : undefined
  const billing = await readBilling({ ...scopeOf(c), beforeId })
  return {
    c,
    ...billing,
    stateOf: (form) => (rejected?.form === form ? rejected.state : {}),
  }
}

function doneMessage(c: ConsoleContext): string | undefined {
  const plan = nameOfPlan(c.var.membership.organisation.plan)
  const messages: Record<string, string> = {
    scheduled: 'Plan change scheduled for the end of the billing period.',
    changed: `Your plan is now ${plan}.`,
    unchanged: `Your plan remains ${plan}.`,
    'auto-reload': 'Auto-reload settings saved.',
  }
  return messages[c.req.query('done') ?? '']
}

const Sections = ({ view, usage }: { view: BillingView; usage: Usage }) => {
  const { c } = view
  const isSetUp = providerFor(c.env, baseUrlOf(c)) !== null
  return (
    <>
      {isSetUp ? (
        <Packs view={view} />
      ) : (
        <Notice kind="info">
          Payments are not set up. Contact support to add credits or to change the plan.
        </Notice>
      )}
      <PlanSection view={view} canChange={isSetUp} />
      <UsageSection usage={usage} />
      {isSetUp && <AutoReloadForm view={view} />}
      {isSetUp && <PaymentMethod view={view} />}
      <Payments view={view} />
    </>
  )
}

const Summary = ({
  c,
  credits,
  usage,
}: {
  c: ConsoleContext
  credits: CreditStatus
  usage: Usage
}) => {
  const { organisation } = c.var.membership
  const currency = currencyOf(organisation.regionCode)
  return (
    <dl class="metrics">
      <Figure label="Credit balance" value={formatCredits(credits.balance, currency)}>
        {credits.level === 'low' && <span class="badge waiting">low</span>}
        {credits.level === 'empty' && <span class="badge bad">live jobs are rejected</span>}
      </Figure>
      <Figure label="Credits used this month" value={formatCredits(usage.total, currency)} />
      <Figure label="Auto-reload" value={organisation.autoReloadEnabled ? 'On' : 'Off'} />
    </dl>
  )
}

const Figure = ({ label, value, children }: { label: string; value: string; children?: Child }) => (
  <div>
    <dt>{label}</dt>
    <dd>
      {value} {children}
    </dd>
  </div>
)

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

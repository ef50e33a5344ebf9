// The page Billing: its summary, buying credits, auto-reload and the payment method.
import { isSandbox } from '../../billing/choose-provider.ts'
import { MINOR_UNITS, nameOfPack, nameOfPlan } from '../../billing/money.ts'
import { PACKS, type Pack } from '../../billing/plans.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { usageOf, type Usage } from '../../jobs/reports/usage.ts'
import { Chart, dayPeriod } from '../components/chart.tsx'
import { Button, Field, FormError, PostForm, Select } from '../components/form.tsx'
import { memberPage, SandboxBanner } from '../components/layout.tsx'
import { tiles, Section, Tabs } from '../components/section.tsx'
import { Timestamp, Notice } from '../components/text.tsx'
import type { ConsoleContext } from '../console-context.ts'
import { Payments } from './billing-payment.tsx'
import { PlanNotices, PlanSection } from './billing-plan.tsx'
import { readView, type BillingView } from './billing-view.ts'

export async function billingPage(c: ConsoleContext, status?: 422 | 503) {
  const organisationId = c.var.membership.organisation.id
  const [usage, view] = await Promise.all([
    usageOf({ env: c.env, organisationId, now: Date.now() }),
    readView(c),
  ])
  const shown = view.stateOf('plan') ? 'plan' : view.stateOf('portal') ? 'payments' : 'credits'
  return memberPage(
    { c, title: 'Billing', status, script: '/static/chart.js', credits: null },
    <>
      {isSandbox(c.env, baseUrlOf(c)) && <SandboxBanner />}
      {view.problem && <Notice kind="bad">{view.problem}</Notice>}
      <PlanNotices view={view} />
      {summary(view, usage)}
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

function summary(view: BillingView, usage: Usage) {
  const { account, organisation, terms, money, count, creditStatus } = view
  const renews = account?.subscriptionStatus === 'active' && account.nextPlan !== 'starter'
  return tiles([
    [
      'Credit balance',
      <>
        {count(creditStatus.balance)}{' '}
        {creditStatus.level === 'low' && <span class="badge waiting">Low</span>}
        {creditStatus.level === 'empty' && <span class="badge bad">Live jobs are rejected</span>}
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
  ])
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

/** The pack whose button is the primary one. */
const USUAL_PACK: Pack = 500

const Packs = ({ view }: { view: BillingView }) => {
  const { currency, money } = view
  return (
    <Section id="packs-heading" title="Buy credits">
      <FormError state={view.stateOf('packs')} />
      <div class="packs">
        {PACKS.map((pack) => {
          const amount = view.priceOf(pack)
          const credits = nameOfPack(pack, currency)
          const fields = { pack: String(pack), amount: String(amount), currency }
          return (
            <PostForm to="/billing/packs" class="card pack" state={{}} fields={fields}>
              <h3>{credits}</h3>
              <p class="price">{money(amount)}</p>
              <p class="muted">{money(amount / pack)} per credit</p>
              <Button
                kind={pack === USUAL_PACK ? 'primary' : 'secondary'}
                disabled={view.problem !== null}
                aria-label={`Buy ${credits} for ${money(amount)}`}
              >
                Buy
              </Button>
            </PostForm>
          )
        })}
      </div>
      <p class="muted">
        Prices exclude tax. Credits do not expire. The <a href="/docs/billing">billing guide</a>{' '}
        explains what costs a credit.
      </p>
    </Section>
  )
}

const AutoReloadForm = ({ view }: { view: BillingView }) => {
  const { currency, money, count, priceOf, autoReload } = view
  const values = view.stateOf('auto-reload')?.values
  const isEnabled = values ? 'enabled' in values : view.organisation.autoReloadEnabled
  return (
    <section id="auto-reload" class="card" aria-labelledby="auto-reload-heading">
      <h2 id="auto-reload-heading">Auto-reload</h2>
      <p>
        Buys a pack with the stored payment method when the balance falls below the threshold. At
        most one payment is attempted per hour. After three failed payments in a row, auto-reload is
        turned off and the owners are notified by email.
      </p>
      <PostForm to="/billing/auto-reload">
        <div class="field">
          <label class="switch">
            <input type="checkbox" role="switch" name="enabled" checked={isEnabled} />
            Turn on auto-reload
          </label>
          {!view.account?.paymentMethod && (
            <small>Requires a payment method, which is stored when you buy credits.</small>
          )}
        </div>
        <div class="columns">
          <Field
            name="threshold"
            label="When the balance is below"
            type="number"
            value={String(autoReload.threshold)}
            hint="Credits"
          />
          <Select
            name="pack"
            label="Buy"
            value={String(autoReload.pack)}
            options={PACKS.map((size) => [
              String(size),
              `${count(size)} credits for ${money(priceOf(size))}`,
            ])}
          />
          <Field
            name="monthly_max"
            label={`Monthly maximum in ${currency}`}
            type="number"
            value={String(Math.ceil(autoReload.monthlyMax / MINOR_UNITS))}
            hint={`${money(view.autoReloadSpent)} spent this month`}
          />
        </div>
        <Button kind="secondary">Save</Button>
      </PostForm>
    </section>
  )
}

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
        <PostForm to="/billing/portal" state={{}}>
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

// The public page of plans and prices.
import { ButtonLink } from '../components/text.tsx'
import type { Child } from 'hono/jsx'
import { isSandbox } from '../../billing/choose-provider.ts'
import { formatCredits, formatMoney, nameOfPack, nameOfPlan } from '../../billing/money.ts'
import { PACKS, PLAN_TERMS, priceOfPack, SELF_SERVICE_PLANS } from '../../billing/plans.ts'
import { FREE_CREDITS } from '../../domain/limits.ts'
import { CURRENCIES, type Currency, type Plan } from '../../domain/organisation.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { settingsOf } from '../../platform/settings.ts'
import { ContactLink, PlanCards } from '../components/plan-cards.tsx'
import { guestPage, SandboxBanner } from '../components/layout.tsx'
import { detailList, Section, Table } from '../components/section.tsx'
import { createApp } from '../console-context.ts'

const DEFAULT_CURRENCY: Currency = 'USD'

export const pricing = createApp().get('/', (c) => {
  const asked = c.req.query('currency')?.toUpperCase()
  const currency = CURRENCIES.find((known) => known === asked) ?? DEFAULT_CURRENCY
  const { supportEmail } = settingsOf(c.env)
  return guestPage(
    { c, title: 'Pricing', wide: true },
    <>
      <div class="bar">
        <div>
          <h1>Pricing</h1>
          <p class="muted">
            Pay per result. Start with {FREE_CREDITS} free credits, no card required.
          </p>
        </div>
        <CurrencyLinks current={currency} />
      </div>
      {isSandbox(c.env, baseUrlOf(c)) && <SandboxBanner />}
      <h2 class="visually-hidden">Plans</h2>
      <PlanCards currency={currency} action={(plan) => actionOf(plan, c.env)} />
      <p class="muted">
        Prices exclude tax. The billing region of an organisation determines its currency: India is
        billed in INR, the European Union in EUR, and all other regions in USD.
      </p>
      <Section id="packs-heading" title="Credit packs">
        <p>
          Buy further credits on any plan. The price per credit depends on the plan and on the size
          of the pack. Credits do not expire.
        </p>
        <Packs currency={currency} />
      </Section>
      <Questions />
      <footer class="links">
        <a href="/console/sign-up">Create an account</a>
        <a href="/console/sign-in">Sign in</a>
        {supportEmail && <a href={`mailto:${supportEmail}`}>Support</a>}
      </footer>
    </>,
  )
})

function actionOf(plan: Plan, env: Env): Child {
  if (plan === 'enterprise') return <ContactLink env={env} />
  const kind = plan === 'growth' ? 'primary' : 'secondary'
  const on = `with ${nameOfPlan(plan)}`
  return <ButtonLink href="/console/sign-up" label="Get started" on={on} kind={kind} />
}

const CurrencyLinks = ({ current }: { current: Currency }) => (
  <nav aria-label="Currency" class="segments">
    {CURRENCIES.map((currency) => (
      <a
        href={`/pricing?currency=${currency}`}
        aria-current={currency === current ? 'true' : undefined}
      >
        {currency}
      </a>
    ))}
  </nav>
)

const Packs = ({ currency }: { currency: Currency }) => {
  const columns = SELF_SERVICE_PLANS.map(nameOfPlan)
  return (
    <Table
      label="Credit packs"
      columns={['Pack', ...columns]}
      numeric={columns}
      rows={PACKS.map((pack) => [
        nameOfPack(pack, currency),
        ...SELF_SERVICE_PLANS.map((plan) => {
          const price = priceOfPack(pack, plan, currency)
          return (
            <>
              {formatMoney(price, currency)}{' '}
              <span class="subline">{formatMoney(price / pack, currency)} per credit</span>
            </>
          )
        }),
      ])}
    />
  )
}

const included = (plan: 'growth' | 'scale') =>
  formatCredits(PLAN_TERMS[plan].includedCredits, DEFAULT_CURRENCY)

const Questions = () => (
  <Section id="questions-heading" title="How billing works">
    {detailList(
      {
        'What is a credit?':
          'A completed live job costs one credit. Jobs that fail or are cancelled cost nothing, and jobs in test mode are free.',
        'What is free?': `Your company’s first organisation receives ${FREE_CREDITS} credits. No card is required until you buy more.`,
        'What happens when the credits are used up?':
          'Live jobs are rejected until you buy credits. With auto-reload, credits are bought when the balance falls below a threshold, up to a maximum per month.',
        'Can I change the plan?':
          'Yes, at any time. An upgrade takes effect at once: you pay the difference and receive the additional credits for the rest of the period. A downgrade takes effect at the end of the period.',
        'Do included credits expire?': `No. The included ${included('growth')} or ${included('scale')} credits are added with each monthly payment and remain until they are used.`,
      },
      'questions',
    )}
  </Section>
)

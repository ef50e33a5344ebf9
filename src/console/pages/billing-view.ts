// What the sections of the page Billing show.
import { autoReloadSettings } from '../../billing/auto-reload-settings.ts'
import { paymentProblem } from '../../billing/buy-pack.ts'
import { providerFor } from '../../billing/choose-provider.ts'
import { formatCredits, formatMoney } from '../../billing/money.ts'
import { isSelfServicePlan, packPriceFor, PLAN_TERMS, type Pack } from '../../billing/plans.ts'
import { readBilling } from '../../billing/billing-account.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { idParameter } from '../forms.ts'
import { pathOf, scopeOf, type ConsoleContext } from '../console-context.ts'

export type BillingForm = 'packs' | 'plan' | 'auto-reload' | 'portal'

export type BillingView = Awaited<ReturnType<typeof readView>>

export async function readView(c: ConsoleContext) {
  const { organisation } = c.var.membership
  const currency = currencyOf(organisation.regionCode)
  const beforeId = idParameter('pay').parse(c.req.query('before'))
  const [billing, creditStatus] = await Promise.all([
    readBilling({ ...scopeOf(c), beforeId }),
    organisationStub(c.env, organisation.id).creditStatus(),
  ])
  const negotiated = billing.account?.enterpriseTerms
  const { plan } = organisation
  return {
    c,
    organisation,
    currency,
    isPaged: beforeId !== undefined,
    ...billing,
    creditStatus,
    /** The fee and the credits of the plan in force; null for `enterprise` without terms. */
    terms: isSelfServicePlan(plan)
      ? { ...PLAN_TERMS[plan], monthlyFee: PLAN_TERMS[plan].monthlyFee[currency] }
      : (negotiated ?? null),
    autoReload: autoReloadSettings(organisation, negotiated),
    isSetUp: providerFor(c.env, baseUrlOf(c)) !== null,
    /** Why the organisation cannot pay; null when it can. */
    problem: paymentProblem(organisation)?.message ?? null,
    stateOf: (form: BillingForm) =>
      c.req.path === pathOf(c, `/billing/${form}`) ? c.var.form : undefined,
    priceOf: (pack: Pack) => packPriceFor(organisation, negotiated, pack),
    money: (amount: number) => formatMoney(amount, currency),
    count: (credits: number) => formatCredits(credits, currency),
  }
}

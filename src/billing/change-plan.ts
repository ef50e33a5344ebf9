// Changes the plan of an organisation. The first plan is bought on the provider's payment page, an
// upgrade is charged at once, and a downgrade applies at the end of the period.
import { organisationStub } from '../credits/organisation-stub.ts'
import { SYSTEM } from '../domain/actor.ts'
import { AppError, invalid } from '../domain/errors.ts'
import { DAY_MS } from '../domain/limits.ts'
import { currencyOf } from '../domain/organisation.ts'
import { auditInsert } from '../organisations/audit-log.ts'
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import type { OrganisationRow } from '../platform/db/schema.ts'
import { applyPlan } from './apply-plan.ts'
import {
  findBillableOrganisation,
  findBillingAccount,
  hasSubscription,
  updateSubscription,
  type Subscription,
} from './billing-account.ts'
import {
  openCheckout,
  requireBuyer,
  requireCurrentPrice,
  type PurchaseRequest,
} from './buy-pack.ts'
import { providerNamed } from './choose-provider.ts'
import type { PaymentProvider } from './payment-provider.ts'
import { hasProviderAmount, openPlanPayment } from './payments.ts'
import {
  isSelfServicePlan,
  PLAN_CHOICES,
  PLAN_TERMS,
  SELF_SERVICE_PLANS,
  type SelfServicePlan,
} from './plans.ts'
import { refreshPayment } from './refresh-payment.ts'
import { startPayment } from './start-payment.ts'
import { syncSubscription } from './subscription.ts'

/** A monthly period, for the share of the included credits that an upgrade grants. */
const PERIOD_MS = 30 * DAY_MS

/** How old the quote of an upgrade may be. */
const QUOTE_TTL_MS = 30 * 60_000

/** What an upgrade charges at once, for the customer to confirm. */
export type Quote = Awaited<ReturnType<typeof quoteOf>>

/** The quote that the customer has confirmed. */
interface Confirmed {
  amount: number
  at: Date
}

type PlanChange =
  | { kind: 'payment'; payment: PaymentRow }
  | { kind: 'quote'; quote: Quote }
  | { kind: 'scheduled'; at: Date }
  | { kind: 'changed' }
  | { kind: 'unchanged' }

type Order = Pick<PurchaseRequest, 'env' | 'actor' | 'baseUrl'> & {
  organisation: OrganisationRow
  provider: PaymentProvider
  current: SelfServicePlan
  plan: SelfServicePlan
  confirmed: Confirmed | undefined
}

/**
 * Changes the plan. The current plan reverts a scheduled change. For the permission `billing`.
 * @param request.amount the monthly fee that the page showed
 * @param request.confirmed the quote of an upgrade, which charges at once
 * @returns `quote`: an upgrade that is not confirmed; `payment`: its `actionUrl`, if any, is the page where the customer pays or confirms;
 *   `scheduled`: the plan changes at the end of the period; `changed`: it has changed at once
 * @throws AppError not_found, deletion_scheduled or validation_error
 * @throws PaymentError
 */
export async function changePlan(
  request: PurchaseRequest & { plan: string; confirmed?: Confirmed | undefined },
): Promise<PlanChange> {
  const { env, organisationId, plan: name, confirmed } = request
  const { provider, ...buyer } = await requireBuyer(request)
  const plan = SELF_SERVICE_PLANS.find((one) => one === name)
  if (plan === undefined) {
    throw invalid(`The plan must be one of ${PLAN_CHOICES}.`)
  }
  const fee = PLAN_TERMS[plan].monthlyFee[currencyOf(buyer.organisation.regionCode)]
  requireCurrentPrice(request, buyer.organisation, fee)

  // What follows depends on the provider's current state, not on the last event.
  await syncSubscription({ env, account: organisationStub(env, organisationId), organisationId })
  const [organisation, billing] = await Promise.all([
    findBillableOrganisation(env, organisationId),
    findBillingAccount(env, organisationId),
  ])
  if (!organisation) throw new AppError('not_found')
  const { plan: current } = organisation
  if (!isSelfServicePlan(current)) {
    throw invalid('Contact support to change this plan.')
  }
  const order = { ...request, organisation, provider, current, plan, confirmed }
  if (hasSubscription(billing)) return changeSubscription(order, billing)
  if (plan === current) return { kind: 'unchanged' }
  if (fee > 0) return { kind: 'payment', payment: await payPlan(order) }
  // An operator has set a plan without a subscription.
  await applyPlan({ env, actor: SYSTEM, organisationId, plan })
  return { kind: 'changed' }
}

async function changeSubscription(order: Order, subscription: Subscription): Promise<PlanChange> {
  const { current, plan } = order
  if (plan === (subscription.nextPlan ?? current)) return { kind: 'unchanged' }
  if (SELF_SERVICE_PLANS.indexOf(plan) <= SELF_SERVICE_PLANS.indexOf(current)) {
    return scheduleChange(order, subscription)
  }
  if (subscription.subscriptionStatus === 'past_due') {
    throw invalid('The last payment has failed. Update the payment method, then change the plan.')
  }
  const quote = await quoteOf(order, subscription)
  if (!order.confirmed) return { kind: 'quote', quote }
  const age = Date.now() - order.confirmed.at.getTime()
  if (quote.amount !== order.confirmed.amount || age < 0 || age > QUOTE_TTL_MS) {
    throw invalid('The price has changed. Start the upgrade again.')
  }
  return { kind: 'payment', payment: await payPlan(order, { ...subscription, quote }) }
}

/**
 * The price of an upgrade since the confirmed instant, otherwise since now.
 * @returns `amount` and `monthlyFee`: minor units without tax; `credits`: those that it adds; `renewsAt`: when
 *   the monthly fee is charged next; `at`: from when on the difference is charged
 */
async function quoteOf(order: Order, subscription: Subscription) {
  const { env, organisation, plan, confirmed } = order
  const currency = currencyOf(organisation.regionCode)
  const monthlyFee = PLAN_TERMS[plan].monthlyFee[currency]
  // Stripe prorates by whole seconds.
  const at = confirmed?.at ?? new Date(Math.floor(Date.now() / 1_000) * 1_000)
  const { subscriptionId, periodEnd: renewsAt, paymentMethod } = subscription
  const change = { subscriptionId, plan, amount: monthlyFee, currency, at }
  const amount = await providerNamed(env, subscription.provider).quoteUpgrade(change)
  const credits = upgradeCredits(order, subscription, at)
  return { plan, amount, monthlyFee, currency, credits, paymentMethod, renewsAt, at }
}

/** Sets the plan from the end of the period on; the current plan reverts an earlier change. */
async function scheduleChange(
  { env, actor, organisation: { id: organisationId, regionCode }, current, plan }: Order,
  subscription: Subscription,
): Promise<PlanChange> {
  const { provider, subscriptionId, periodEnd } = subscription
  const change = { subscriptionId, plan, currency: currencyOf(regionCode) }
  await providerNamed(env, provider).setNextPlan(change)
  // After a crash here, the next synchronisation reads the change from the provider.
  const nextPlan = plan === current ? null : plan
  await updateSubscription(env, subscription, { nextPlan })
  const details = { plan, at: periodEnd?.toISOString() ?? null }
  const entry = { env, organisationId, actor, target: organisationId, details }
  await auditInsert({ ...entry, action: 'plan.change_scheduled' })
  if (plan === current) return { kind: 'unchanged' }
  return { kind: 'scheduled', at: periodEnd ?? new Date() }
}

/** Starts the payment of a plan, or continues one that is open, so that it is not paid twice. */
async function payPlan(order: Order, subscription?: Subscription & { quote: Quote }) {
  const { env, actor, baseUrl, organisation, plan } = order
  const account = organisationStub(env, organisation.id)
  const isProrated = subscription !== undefined
  const found = await openPlanPayment(env, organisation.id, plan)
  const open = found && hasProviderAmount(found) === isProrated ? found : undefined
  if (open && open.providerReference !== null) {
    const payment = await refreshPayment({ env, account, payment: open })
    if (payment.status === 'open' || payment.status === 'paid') return payment
  }
  const { includedCredits, monthlyFee } = PLAN_TERMS[plan]
  const provider = subscription ? providerNamed(env, subscription.provider) : order.provider
  return startPayment({
    env,
    account,
    actor,
    organisation,
    provider,
    purchase: { kind: 'plan', plan, amount: monthlyFee[currencyOf(organisation.regionCode)] },
    credits: subscription ? subscription.quote.credits : includedCredits,
    quotedAmount: subscription?.quote.amount,
    paymentId: open?.providerReference === null ? open.id : undefined,
    start(request) {
      if (!subscription) return openCheckout(provider, baseUrl, request)
      const { subscriptionId, quote } = subscription
      return provider.upgrade({ ...request, subscriptionId, at: quote.at })
    },
  })
}

/**
 * The additional credits of an upgrade: for the rest of the period, as the provider prorates the price.
 * With all of them, an upgrade at the end of the period would be almost free.
 */
function upgradeCredits({ current, plan }: Order, { periodEnd }: Subscription, at: Date): number {
  const difference = PLAN_TERMS[plan].includedCredits - PLAN_TERMS[current].includedCredits
  const rest = periodEnd === null ? 0 : (periodEnd.getTime() - at.getTime()) / PERIOD_MS
  return Math.round(difference * Math.min(1, Math.max(0, rest)))
}

// Plans, packs and prices: the only place that contains them. Amounts are whole minor units (cents,
// paise) and exclude tax.
import type { EnterpriseTerms } from '../domain/billing.ts'
import { currencyOf, type Currency, type Plan, type Region } from '../domain/organisation.ts'

/** The plans that customers choose themselves, cheapest first. Operators set `enterprise`. */
export const SELF_SERVICE_PLANS = ['starter', 'growth', 'scale'] as const satisfies readonly Plan[]
export type SelfServicePlan = (typeof SELF_SERVICE_PLANS)[number]

/** The sizes of packs, credits. */
export const PACKS = [100, 500, 2_000, 10_000] as const
export type Pack = (typeof PACKS)[number]

const LIST = new Intl.ListFormat('en-GB')
/** The self-service plans and the sizes of packs, for messages. */
export const PLAN_CHOICES = LIST.format(SELF_SERVICE_PLANS)
export const PACK_CHOICES = LIST.format(PACKS.map((pack) => pack.toLocaleString('en-US')))

type Prices = Record<Currency, number>

interface PlanTerms {
  /** Minor units per month. 0: no subscription. */
  monthlyFee: Prices
  /** Credits granted with each monthly payment. They do not expire. */
  includedCredits: number
  rateLimitPerMinute: number
  /**
   * The price of one further credit, in ascending order from 1 credit. The tier of a pack's size applies to the
   * whole pack.
   */
  tiers: { fromCredits: number; price: Prices }[]
}

export const PLAN_TERMS: Record<SelfServicePlan, PlanTerms> = {
  starter: {
    monthlyFee: { INR: 0, USD: 0, EUR: 0 },
    includedCredits: 0,
    rateLimitPerMinute: 60,
    tiers: [
      { fromCredits: 1, price: { INR: 700, USD: 8, EUR: 8 } },
      { fromCredits: 2_000, price: { INR: 610, USD: 7, EUR: 7 } },
      { fromCredits: 10_000, price: { INR: 520, USD: 6, EUR: 6 } },
    ],
  },
  growth: {
    monthlyFee: { INR: 399_900, USD: 4_900, EUR: 4_900 },
    includedCredits: 750,
    rateLimitPerMinute: 300,
    tiers: [
      { fromCredits: 1, price: { INR: 610, USD: 7, EUR: 7 } },
      { fromCredits: 2_000, price: { INR: 520, USD: 6, EUR: 6 } },
      { fromCredits: 10_000, price: { INR: 430, USD: 5, EUR: 5 } },
    ],
  },
  scale: {
    monthlyFee: { INR: 2_499_900, USD: 29_900, EUR: 29_900 },
    includedCredits: 6_000,
    rateLimitPerMinute: 1_200,
    tiers: [
      { fromCredits: 1, price: { INR: 520, USD: 6, EUR: 6 } },
      { fromCredits: 2_000, price: { INR: 430, USD: 5, EUR: 5 } },
      { fromCredits: 10_000, price: { INR: 350, USD: 4, EUR: 4 } },
    ],
  },
}

/** Whether customers can choose the plan themselves. */
export const isSelfServicePlan = (plan: Plan): plan is SelfServicePlan => plan !== 'enterprise'

/** Whether packs of this size are sold. */
export const isPack = (credits: number | null): credits is Pack =>
  PACKS.some((pack) => pack === credits)

/** `enterprise` has its own terms. Where it has none, those of `scale` apply. */
const termsOf = (plan: Plan): PlanTerms => PLAN_TERMS[isSelfServicePlan(plan) ? plan : 'scale']

/** The list price of a pack, minor units. */
export function priceOfPack(pack: Pack, plan: Plan, currency: Currency): number {
  const tier = termsOf(plan).tiers.findLast(({ fromCredits }) => fromCredits <= pack)
  if (!tier) throw new Error(`No price for ${pack} credits on the plan ${plan}`)
  return pack * tier.price[currency]
}

/** The price of a pack for an organisation, minor units of its currency. */
export const packPriceFor = (
  { plan, regionCode }: { plan: Plan; regionCode: Region },
  terms: EnterpriseTerms | null | undefined,
  pack: Pack,
): number =>
  plan === 'enterprise' && terms
    ? pack * terms.creditPrice
    : priceOfPack(pack, plan, currencyOf(regionCode))

/** The rate limit of a plan, requests per minute. */
export const rateLimitOf = (plan: Plan): number => termsOf(plan).rateLimitPerMinute

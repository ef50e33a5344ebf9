// Products and prices of plans at Stripe, created from plans.ts when they are first needed. A new
// amount in plans.ts makes a new price; existing subscriptions continue with theirs.
import type Stripe from 'stripe'
import type { Currency } from '../../domain/organisation.ts'
import { nameOfPlan, SELF_SERVICE_PLANS } from '../plans.ts'
import type { SelfServicePlan } from '../plans.ts'
import { idOf } from './stripe-client.ts'

const PRODUCT_PREFIX = 'try_on_'

interface PlanPrice {
  plan: SelfServicePlan
  currency: Currency
  /** Minor units per month without tax. */
  amount: number
}

/** The id of a plan's price at Stripe. */
export async function priceOfPlan(client: Stripe, price: PlanPrice): Promise<string> {
  const { plan, amount } = price
  const currency = price.currency.toLowerCase()
  const product = PRODUCT_PREFIX + plan
  const lookupKey = `${product}_${currency}_${amount}`
  const { data } = await client.prices.list({ lookup_keys: [lookupKey], active: true })
  if (data[0]) return data[0].id

  await createProduct(client, product, plan)
  const created = await client.prices.create(
    {
      product,
      currency,
      unit_amount: amount,
      recurring: { interval: 'month' },
      tax_behavior: 'exclusive',
      lookup_key: lookupKey,
      // From an archived price.
      transfer_lookup_key: true,
    },
    { idempotencyKey: lookupKey },
  )
  return created.id
}

async function createProduct(client: Stripe, id: string, plan: SelfServicePlan): Promise<void> {
  try {
    await client.products.create({ id, name: `Plan ${nameOfPlan(plan)}` })
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === CODE_EXISTS
    if (!exists) throw error
  }
}
const CODE_EXISTS = 'resource_already_exists'

/** The plan of a product; undefined for a product of another system. */
export function planOfProduct(
  product: string | { id: string } | null | undefined,
): SelfServicePlan | undefined {
  const id = idOf(product)
  return SELF_SERVICE_PLANS.find((plan) => id === PRODUCT_PREFIX + plan)
}

// Owners, payments and credits for tests of billing.
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import { buyPack } from '../../src/billing/buy-pack.ts'
import { changePlan } from '../../src/billing/change-plan.ts'
import { PLAN_TERMS, type SelfServicePlan } from '../../src/billing/plans.ts'
import { receiveEvent } from '../../src/billing/receive-event.ts'
import type { ProviderEvent } from '../../src/billing/payment-provider.ts'
import { members, users } from '../../src/platform/db/auth-schema.ts'
import { database } from '../../src/platform/db/database.ts'
import type { PaymentRow } from '../../src/platform/db/billing-schema.ts'
import type { UserActor } from '../../src/domain/actor.ts'
import type { Plan } from '../../src/domain/organisation.ts'
import { newId } from '../../src/platform/ids.ts'
import { organisationStub } from '../../src/credits/organisation-stub.ts'
import type { FakePaymentProvider } from './fake-payment-provider.ts'
import { newOrganisation } from './world.ts'

/** Where the sandbox is allowed without a setting. */
export const baseUrl = 'http://localhost:8787'

/** A new user with a role in an organisation, or without one. */
export async function newUser(
  organisationId: string,
  role: 'owner' | 'developer' | 'billing' | null = 'owner',
): Promise<UserActor> {
  const userId = newId('usr')
  const email = `${userId}@shop.test`
  const now = new Date()
  const db = database(env)
  await db.insert(users).values({ id: userId, name: '', email, createdAt: now, updatedAt: now })
  if (role) await db.insert(members).values({ organisationId, userId, role, createdAt: now })
  return { type: 'user', userId, email, ipAddress: null }
}

export interface Shop {
  organisationId: string
  owner: UserActor
  /** Of the owner, for use cases. */
  request: { env: Env; actor: UserActor; organisationId: string; baseUrl: string }
}

/** An organisation without credits, with an owner and the rate limit of its plan. */
export async function newShop(options: object = {}): Promise<Shop> {
  const { orgId: organisationId } = await newOrganisation({ credits: 0, ...options })
  await env.DB.prepare(
    'UPDATE organisations SET rate_limit_overridden = 0, rate_limit_per_minute = 60 WHERE id = ?',
  )
    .bind(organisationId)
    .run()
  const owner = await newUser(organisationId)
  return { organisationId, owner, request: { env, actor: owner, organisationId, baseUrl } }
}

export const balanceOf = async (organisationId: string): Promise<number> =>
  (await organisationStub(env, organisationId).totals()).balance

export const accountOf = (organisationId: string) => organisationStub(env, organisationId)

export async function organisationOf(organisationId: string) {
  const row = await env.DB.prepare(
    'SELECT plan, rate_limit_per_minute AS rateLimit FROM organisations WHERE id = ?',
  )
    .bind(organisationId)
    .first<{ plan: string; rateLimit: number }>()
  if (!row) throw new Error('The organisation does not exist')
  return row
}

/** Starts the purchase of 500 credits for 4,000 cents. */
export const startPack = ({ request }: Shop): Promise<PaymentRow> =>
  buyPack({ ...request, pack: 500, amount: 4_000, currency: 'USD' })

/** An organisation that has paid 4,000 cents for 500 credits. */
export async function paidPack(provider: FakePaymentProvider) {
  const shop = await newShop()
  const { id } = await startPack(shop)
  await deliver(provider, provider.pay(id))
  return { ...shop, paymentId: id }
}

/** Changes the plan, and confirms the price of an upgrade. */
export async function confirmPlan(order: Parameters<typeof changePlan>[0]) {
  const change = await changePlan(order)
  return change.kind === 'quote' ? changePlan({ ...order, confirmed: change.quote }) : change
}

/** Starts a change of plan at its current price. */
export const choosePlan = ({ request }: Shop, plan: SelfServicePlan) =>
  confirmPlan({ ...request, plan, amount: PLAN_TERMS[plan].monthlyFee.USD, currency: 'USD' })

/** Delivers an event to the service. */
export const deliver = (provider: FakePaymentProvider, event: ProviderEvent) =>
  receiveEvent({ env, provider, ...provider.delivery(event) })

/** An organisation that has paid the first month of a plan. */
export async function shopOnPlan(
  provider: FakePaymentProvider,
  plan: SelfServicePlan,
): Promise<Shop & { subscriptionId: string; paymentId: string }> {
  const shop = await newShop()
  const change = await choosePlan(shop, plan)
  if (change.kind !== 'payment') throw new Error(`The change of plan is ${change.kind}`)
  await deliver(provider, provider.pay(change.payment.id))
  const subscriptionId = provider.subscriptionOf(shop.organisationId)?.id
  if (subscriptionId === undefined) throw new Error('There is no subscription')
  return { ...shop, subscriptionId, paymentId: change.payment.id }
}

/** Advances the clock. Tests restore it with `vi.useRealTimers`. */
export const passTime = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })

/** Sets the plan as an operator does, without its rate limit. */
export const setPlan = (organisationId: string, plan: Plan) =>
  env.DB.prepare('UPDATE organisations SET plan = ? WHERE id = ?').bind(plan, organisationId).run()

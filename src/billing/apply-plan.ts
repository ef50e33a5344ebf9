// Puts a plan into force: the plan of the organisation and the rate limit that follows from it, and the
// subscription of a paid plan.
import { and, eq, ne, sql } from 'drizzle-orm'
import { organisationStub, type CreditAccount } from '../credits/organisation-stub.ts'
import { SYSTEM } from '../domain/actor.ts'
import type { Plan } from '../domain/organisation.ts'
import { audited } from '../organisations/audit-log.ts'
import { requireOperator, type OrganisationRequest } from '../organisations/authorisation.ts'
import { billingAccounts, type PaymentRow } from '../platform/db/billing-schema.ts'
import { database, hasChanged } from '../platform/db/database.ts'
import { organisations } from '../platform/db/schema.ts'
import { log } from '../platform/log.ts'
import {
  endSubscription,
  findBillingAccount,
  NO_SUBSCRIPTION,
  saveBillingAccount,
  type BillingTask,
} from './billing-account.ts'
import { providerNamed } from './choose-provider.ts'
import { isSelfServicePlan, rateLimitOf } from './plans.ts'

/**
 * Sets the plan of an organisation and, unless an operator has set another one, its rate limit. Only
 * operators change the plan `enterprise`; a change by the system then does nothing.
 * @param account the Organisation itself, when its alarm calls this
 * @throws AppError not_found
 */
export async function applyPlan(
  request: OrganisationRequest & { plan: Plan; account?: CreditAccount },
): Promise<void> {
  const { env, actor, organisationId, plan } = request
  const { account = organisationStub(env, organisationId) } = request
  requireOperator(actor)
  const db = database(env)
  const isChanged = and(
    eq(organisations.id, organisationId),
    ne(organisations.plan, plan),
    actor.type === 'system' ? ne(organisations.plan, 'enterprise') : undefined,
  )
  const before = await db
    .select({ plan: organisations.plan })
    .from(organisations)
    .where(isChanged)
    .get()
  if (!before) return
  const details = { plan_old: before.plan, plan_new: plan }
  await audited(
    { env, organisationId, actor, action: 'plan.changed', target: organisationId, details },
    db
      .update(organisations)
      .set({
        plan,
        rateLimitPerMinute: sql`case when ${organisations.rateLimitOverridden}
          then ${organisations.rateLimitPerMinute} else ${rateLimitOf(plan)} end`,
      })
      .where(isChanged),
  )
  await account.refresh()
}

/**
 * Stores the subscription of a paid payment and applies its plan. May be repeated. When the customer has
 * paid two payment pages, the subscription that was paid last remains.
 * @throws PaymentError when the replaced subscription cannot be ended
 */
export async function startPlan(
  { env, account }: Pick<BillingTask, 'env' | 'account'>,
  payment: PaymentRow,
  subscriptionId: string | null,
): Promise<void> {
  const { id: paymentId, organisationId, plan, provider, currency } = payment
  if (plan === null || !isSelfServicePlan(plan)) {
    throw new Error(`The payment ${paymentId} has no plan`)
  }
  if (subscriptionId === null) log.error('plan without subscription', undefined, { paymentId })
  else {
    const stored = await findBillingAccount(env, organisationId)
    if (stored?.subscriptionId !== subscriptionId) {
      // Before the new one is stored: otherwise, a crash would leave both running.
      await endSubscription(env, stored)
      const started = { provider, subscriptionId, subscriptionStatus: 'active' } as const
      const change = { ...NO_SUBSCRIPTION, ...started }
      const isSame = sql`${billingAccounts.subscriptionId} is ${stored?.subscriptionId ?? null}`
      // The caller is repeated.
      if (!(await hasChanged(saveBillingAccount(env, organisationId, change, isSame)))) {
        throw new Error('The subscription was replaced concurrently')
      }
    } else {
      // An upgrade reverts a scheduled change, also when it is confirmed long after it was requested.
      await providerNamed(env, provider).setNextPlan({ subscriptionId, plan, currency })
      await saveBillingAccount(env, organisationId, { nextPlan: null })
    }
  }
  await applyPlan({ env, account, actor: SYSTEM, organisationId, plan })
  // The alarm reads the end of the period.
  await account.scheduleBilling({ organisationId, at: Date.now() })
}

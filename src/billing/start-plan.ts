// Puts the plan of a paid payment into force.
import type { PaymentRow } from '../platform/db/billing-schema.ts'
import { SYSTEM } from '../domain/actor.ts'
import { log } from '../platform/log.ts'
import { applyPlan } from './apply-plan.ts'
import {
  findBillingAccount,
  NO_SUBSCRIPTION,
  replaceSubscription,
  saveBillingAccount,
} from './billing-account.ts'
import { providerNamed } from './choose-provider.ts'
import type { CreditAccount } from '../credits/organisation-stub.ts'
import { isSelfServicePlan } from './plans.ts'
import type { PaymentState } from './payment-provider.ts'

/**
 * Stores the subscription of a paid payment and applies its plan. May be repeated. When the customer has
 * paid two payment pages, the subscription that was paid last remains.
 * @throws PaymentError when the replaced subscription cannot be ended
 */
export async function startPlan({
  env,
  account,
  payment,
  state: { subscriptionId },
}: {
  env: Env
  account: CreditAccount
  payment: Pick<PaymentRow, 'id' | 'organisationId' | 'plan' | 'provider' | 'currency'>
  state: Pick<PaymentState, 'subscriptionId'>
}): Promise<void> {
  const { id: paymentId, organisationId, plan, provider, currency } = payment
  if (plan === null || !isSelfServicePlan(plan)) {
    throw new Error(`The payment ${paymentId} has no plan`)
  }
  if (subscriptionId === null) log.error('plan without subscription', undefined, { paymentId })
  else {
    const stored = await findBillingAccount(env, organisationId)
    if (stored?.subscriptionId !== subscriptionId) {
      // Before the new one is stored: otherwise, a crash would leave both running.
      if (stored?.provider && stored.subscriptionId !== null) {
        await providerNamed(env, stored.provider).endSubscription(stored.subscriptionId)
      }
      await replaceSubscription(env, organisationId, stored?.subscriptionId ?? null, {
        ...NO_SUBSCRIPTION,
        provider,
        subscriptionId,
        subscriptionStatus: 'active',
      })
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

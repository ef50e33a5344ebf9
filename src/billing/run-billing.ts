// The billing tasks of an organisation's alarm. Each reads the current state and applies it, so a task
// may be repeated after an interruption and does not depend on the reason of the run.
import { log } from '../platform/log.ts'
import { autoReload } from './auto-reload.ts'
import type { BillingState } from './billing-state.ts'
import { findBillableOrganisation } from './buyer.ts'
import type { OwnAccount } from '../credits/organisation-stub.ts'
import { grantIncludedCredits } from './enterprise-terms.ts'
import { finishPayments } from './finish-payments.ts'
import { sendBalanceNotice, sendCreditNotices } from './notices.ts'
import { syncSubscription } from './subscription.ts'

/**
 * Runs all billing tasks in order: finishes payments, applies the subscription, grants included credits,
 * starts an automatic payment, informs about the balance and about limits of credits. A failure does not stop the tasks after it.
 * @returns when to run them again, ms since 1970, and whether one of them failed
 */
export async function runBilling({
  env,
  account,
  organisationId,
  state,
}: {
  env: Env
  account: OwnAccount
  organisationId: string
  state: BillingState
}): Promise<{ nextAt: number | undefined; failed: boolean }> {
  const instants: number[] = []
  let failed = false
  const attempt = async (task: string, run: () => Promise<number | undefined>) => {
    try {
      const nextAt = await run()
      if (nextAt !== undefined) instants.push(nextAt)
    } catch (error) {
      failed = true
      log.error('billing task failed', error, { organisationId, task })
    }
  }
  const request = { env, account, organisationId }
  await attempt('payments', () => finishPayments(request))
  await attempt('subscription', async () => (await syncSubscription(request)).nextAt)
  await attempt(
    'terms',
    async () => (await grantIncludedCredits({ ...request, now: Date.now() })).nextAt,
  )
  // Reads the organisation only now, since the tasks before may change its plan.
  await attempt('auto-reload', async () => {
    const organisation = await findBillableOrganisation(env, organisationId)
    return organisation && autoReload({ env, account, organisation, state })
  })
  await attempt('notices', async () => {
    const { balance, reserved } = account.totals()
    const notice = state.noticeOf(balance + reserved)
    const organisation = notice && (await findBillableOrganisation(env, organisationId))
    if (organisation) await sendBalanceNotice({ env, account, organisation, state })
    return undefined
  })
  await attempt('credit limits', async () => {
    await sendCreditNotices(request)
    return undefined
  })
  return { nextAt: instants.length === 0 ? undefined : Math.min(...instants), failed }
}

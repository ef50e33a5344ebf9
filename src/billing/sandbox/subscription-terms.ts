// The periods and amounts of subscriptions. Pure functions.
import { DAY_MS } from '../../domain/limits.ts'
import type { sandboxSubscriptions } from '../../platform/db/billing-schema.ts'
import { newId } from '../../platform/ids.ts'

export type SandboxSubscription = typeof sandboxSubscriptions.$inferSelect

/** The subscription that the first payment of a plan starts. */
export const newSubscription = (
  terms: Pick<SandboxSubscription, 'id' | 'organisationId' | 'plan' | 'amount' | 'currency'>,
  startedAt: Date,
): SandboxSubscription =>
  withDueAt({
    ...terms,
    startedAt,
    periods: 1,
    nextPlan: null,
    status: 'active',
    retryAt: null,
    dueAt: null,
    version: newId('evt'),
    changedAt: startedAt,
  })

/** The end of the current period. */
export const periodEnd = ({ startedAt, periods }: SandboxSubscription): Date =>
  new Date(addMonths(startedAt.getTime(), periods))

/** The subscription with the time of its next change: the end of the period, or a retry before it. */
export function withDueAt(subscription: SandboxSubscription): SandboxSubscription {
  const { status, retryAt } = subscription
  const end = periodEnd(subscription)
  const next = retryAt !== null && retryAt < end ? retryAt : end
  return { ...subscription, dueAt: status === 'ended' ? null : next }
}

/**
 * The price of an upgrade: the difference of the monthly fees for the days that are left, with the
 * current one. Whole minor units, rounded down.
 */
export function upgradeAmount(
  subscription: SandboxSubscription,
  monthlyFee: number,
  now: number,
): number {
  const { startedAt, periods, amount } = subscription
  const end = periodEnd(subscription).getTime()
  const start = addMonths(startedAt.getTime(), periods - 1)
  const days = Math.round((end - start) / DAY_MS)
  const daysLeft = Math.min(days, Math.ceil((end - now) / DAY_MS))
  return Math.floor(((monthlyFee - amount) * daysLeft) / days)
}

/** Adds months in UTC. The 31st becomes the last day of a shorter month. */
export function addMonths(at: number, months: number): number {
  const date = new Date(at)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0))
  date.setUTCDate(Math.min(day, lastDay.getUTCDate()))
  return date.getTime()
}

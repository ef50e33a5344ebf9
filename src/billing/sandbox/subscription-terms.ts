// The periods and amounts of subscriptions. Pure functions.
import { DAY_MS } from '../../domain/limits.ts'
import { newId } from '../../ids.ts'
import type { PaymentData, SubscriptionData } from './objects.ts'
import type { Put } from './store.ts'

/** The subscription that the first payment of a plan starts. */
export function newSubscription(
  { customerId, plan, amount, currency, paidAt }: PaymentData,
  id: string,
  organisationId: string,
): Put<SubscriptionData> {
  if (plan === null || paidAt === null) throw new Error('Not the first payment of a plan')
  const data: SubscriptionData = {
    type: 'subscription',
    version: newId('evt'),
    customerId,
    plan,
    amount,
    currency,
    startedAt: paidAt,
    periods: 1,
    nextPlan: null,
    status: 'active',
    unpaidId: null,
    retryAt: null,
  }
  return { id, organisationId, data, dueAt: subscriptionDueAt(data) }
}

/** The end of the current period, ms since 1970. */
export const periodEnd = ({ startedAt, periods }: SubscriptionData): number =>
  addMonths(startedAt, periods)

/** When the next change of a subscription is due, ms since 1970; null once it has ended. */
export function subscriptionDueAt(data: SubscriptionData): number | null {
  if (data.status === 'ended') return null
  return Math.min(periodEnd(data), data.retryAt ?? Infinity)
}

/**
 * The price of an upgrade: the difference of the monthly fees for the days that are left, with the
 * current one. Whole minor units, rounded down.
 */
export function upgradeAmount(data: SubscriptionData, monthlyFee: number, now: number): number {
  const end = periodEnd(data)
  const start = addMonths(data.startedAt, data.periods - 1)
  const days = Math.round((end - start) / DAY_MS)
  const daysLeft = Math.min(days, Math.ceil((end - now) / DAY_MS))
  return Math.floor(((monthlyFee - data.amount) * daysLeft) / days)
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

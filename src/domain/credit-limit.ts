// Monthly limits of credits.
import { monthStart } from './month.ts'

export interface CreditLimit {
  /** What has the limit. */
  holder: 'API key' | 'workspace'
  name: string
  /** Whose credits count: a key counts together with those that it replaces. */
  countId: string
  /** The maximum of credits in a calendar month (UTC). */
  monthlyCredits: number
}

export const MAX_MONTHLY_CREDITS = 1_000_000_000

/** The part of a limit of which the members are informed. */
const NOTICE_SHARE = 0.8

/** @param used credits in this month, with the reserved ones */
export const isNearLimit = ({ monthlyCredits }: CreditLimit, used: number): boolean =>
  used >= monthlyCredits * NOTICE_SHARE

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** When the count starts again, such as "1 December 2026". */
export const nextMonth = (now: Date): string => DAY.format(monthStart(now, 1))

/** Why a submission is rejected. */
export const spentLimitMessage = ({ holder, name, monthlyCredits }: CreditLimit): string =>
  `The ${holder} “${name}” has used its limit of ${monthlyCredits.toLocaleString('en')} credits per month. The next month starts on ${nextMonth(new Date())} (UTC). Members of the organisation can raise the limit in the console.`

// The credits that live jobs have consumed in the current month, for the console.
import { DAY_MS } from '../../domain/limits.ts'
import { monthStart } from '../../domain/month.ts'
import { countsPerDay } from './job-statistics.ts'

export interface Usage {
  /** One entry per UTC day from the first of the month to today. A job counts on the day it was submitted. */
  days: { startsAt: number; credits: number }[]
  total: number
}

/**
 * Reads the credits that live jobs of an organisation have consumed since the first of the month: one for
 * each completed job.
 */
export async function usageOf({
  env,
  organisationId,
  now,
}: {
  env: Env
  organisationId: string
  /** ms since 1970 */
  now: number
}): Promise<Usage> {
  const today = new Date(now)
  const first = monthStart(today).getTime() / DAY_MS
  const { periods } = await countsPerDay(
    { env, organisationId, mode: 'live', workspaceIds: null },
    { first, count: today.getUTCDate() },
  )
  const days = periods.map(({ completed }, index) => ({
    startsAt: (first + index) * DAY_MS,
    credits: completed,
  }))
  return { days, total: days.reduce((total, entry) => total + entry.credits, 0) }
}

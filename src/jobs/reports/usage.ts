// The jobs and credits of each day: of the current month for the console, of up to 90 days for /v1.
import { requirePermission } from '../../organisations/authorisation.ts'
import type { OrganisationRequest } from '../../organisations/authorisation.ts'
import { RecentValues } from '../../platform/recent-values.ts'
import type { Mode } from '../../domain/job.ts'
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

/** The latest days that `readUsage` knows, with today: all of them have statistics. */
export const USAGE_DAYS = 90

/** The jobs that were submitted on one day (UTC). */
export interface DayOfUsage {
  /** Days since 1970. */
  day: number
  completed: number
  failed: number
  /** Cancelled and refunded jobs; of a day that is not counted yet, also unfinished ones. */
  other: number
}

const recent = new RecentValues<{ days: DayOfUsage[]; isComplete: boolean }>({
  ttlMs: 60_000,
  maxEntries: 200,
})

/**
 * The jobs of one mode on each of the latest `USAGE_DAYS` days, oldest first. At most a minute old, so that
 * repeated requests do not count the jobs of today again. For members who may read jobs.
 * @returns `isComplete`: false when there are too many jobs that cron has not counted
 * @throws AppError not_found
 */
export async function readUsage({ mode, ...request }: OrganisationRequest & { mode: Mode }) {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const { env, organisationId } = request
  const first = Math.floor(Date.now() / DAY_MS) - USAGE_DAYS + 1
  return recent.get([organisationId, workspaceIds, mode, first], async () => {
    const selection = { env, organisationId, mode, workspaceIds }
    const { periods, isLimited } = await countsPerDay(selection, { first, count: USAGE_DAYS })
    const days = periods.map(({ completed, failed, other }, index) => ({
      day: first + index,
      completed,
      failed,
      other,
    }))
    return { days, isComplete: !isLimited }
  })
}

// The jobs and credits of each day: of the current month for the console, of up to 90 days for /v1, also by key.
import { requirePermission, type OrganisationRequest } from '../../organisations/authorisation.ts'
import { listKeyNames } from '../../organisations/api-keys.ts'
import { RecentValues } from '../../platform/recent-values.ts'
import type { Mode } from '../../domain/job.ts'
import { DAY_MS } from '../../domain/limits.ts'
import { monthStart } from '../../domain/month.ts'
import type { JobCounts, Outcomes } from './job-counts.ts'
import { countsPerDay } from './job-statistics.ts'

export type Usage = Awaited<ReturnType<typeof usageOf>>

/**
 * Reads the credits that live jobs of an organisation have consumed since the first of the month: one for
 * each completed job.
 * @returns `days`: one entry per UTC day from the first of the month to today. A job counts on the day it was
 *   submitted
 */
export async function usageOf(request: {
  env: Env
  organisationId: string
  /** ms since 1970 */
  now: number
}) {
  const { env, organisationId, now } = request
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
export interface DayOfUsage extends Outcomes {
  /** Days since 1970. */
  day: number
}

interface RecentUsage {
  days: (DayOfUsage & Pick<JobCounts, 'keys'>)[]
  isComplete: boolean
}

const CACHE = { ttlMs: 60_000, maxEntries: 200 }
const recent = new RecentValues<RecentUsage>(CACHE)
/** The names of an organisation's API keys by their id. */
const recentNames = new RecentValues<Map<string, string>>(CACHE)

/**
 * The jobs of one mode on each of the latest `USAGE_DAYS` days, oldest first. At most a minute old, so that
 * repeated requests do not count the jobs of today again. For members who may read jobs.
 * @param withNames whether to read the names of the API keys
 * @returns `isComplete`: false when there are too many jobs that cron has not counted
 * @throws AppError not_found
 */
export async function readUsage({
  mode,
  withNames,
  ...request
}: OrganisationRequest & { mode: Mode; withNames: boolean }) {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const { env, organisationId } = request
  const first = Math.floor(Date.now() / DAY_MS) - USAGE_DAYS + 1
  const [usage, names] = await Promise.all([
    recent.get([organisationId, workspaceIds, mode, first], async () => {
      const selection = { env, organisationId, mode, workspaceIds }
      const { periods, isLimited } = await countsPerDay(selection, { first, count: USAGE_DAYS })
      const days = periods.map(({ completed, failed, other, keys }, index) => ({
        day: first + index,
        completed,
        failed,
        other,
        keys,
      }))
      return { days, isComplete: !isLimited }
    }),
    withNames
      ? recentNames.get([organisationId], async () => {
          const keys = await listKeyNames(request)
          return new Map(keys.map(({ id, name }) => [id, name]))
        })
      : new Map<string, string>(),
  ])
  return { ...usage, names }
}

/**
 * Divides days by API key.
 * @returns for each key the days with jobs that it submitted, keys in the order of their ids; last, with
 *   the id null, the jobs whose key is not stored
 */
export function usageByKey(days: RecentUsage['days']): { id: string | null; days: DayOfUsage[] }[] {
  const parts = days.flatMap(({ day, keys, ...others }) => {
    const ofKeys = Object.entries(keys).map(([id, outcomes]) => {
      others.completed -= outcomes.completed
      others.failed -= outcomes.failed
      others.other -= outcomes.other
      return { id, day, ...outcomes }
    })
    const isAll = others.completed + others.failed + others.other === 0
    return isAll ? ofKeys : [...ofKeys, { id: null, day, ...others }]
  })
  // The text of null follows those of keys.
  return [...Map.groupBy(parts, ({ id }) => id)]
    .map(([id, of]) => ({ id, days: of }))
    .sort((a, b) => (`${a.id}` < `${b.id}` ? -1 : 1))
}

// Statistics of an organisation's jobs for the console. Finished days are read from the counts that cron
// writes (daily-statistics). Only the days since then, or the last 24 hours, are counted from the jobs
// themselves, and at most the newest MAX_COUNTED of them, so that the cost of a page is bounded.
import { and, desc, eq, gte, inArray, sql } from 'drizzle-orm'
import { requirePermission, type OrganisationRequest } from '../../organisations/authorisation.ts'
import { selectedWorkspaces, inWorkspaces } from '../../organisations/workspace-rights.ts'
import { listed, jobsDatabase } from '../../platform/db/database.ts'
import { jobs } from '../../platform/db/schema.ts'
import { jobStatistics, jobStatisticsDays } from '../../platform/db/statistics-schema.ts'
import { firstIdSince } from '../../platform/ids.ts'
import { JOB_ERROR_CODES, type Mode } from '../../domain/job.ts'
import { DAY_MS, HOUR_MS, RETENTION_DAYS } from '../../domain/limits.ts'
import { addCounts, addGroup, GROUPED, noJobs, percentileOf, type JobCounts } from './job-counts.ts'

/** The ranges of the statistics and the periods that they are divided into. */
export const STATISTICS_RANGES = {
  '24h': { periods: 24, periodMs: HOUR_MS },
  '7d': { periods: 7, periodMs: DAY_MS },
  '30d': { periods: 30, periodMs: DAY_MS },
  '90d': { periods: 90, periodMs: DAY_MS },
} as const
export type StatisticsRange = keyof typeof STATISTICS_RANGES

/** The maximum number of jobs that one page counts: about 100 ms in D1. */
const MAX_COUNTED = 50_000
/** More days are not counted from their jobs if cron has not counted them. */
const MAX_CURRENT_DAYS = 3

/** The jobs of a time. */
export type JobFigures = ReturnType<typeof figuresOf>
export type Statistics = Awaited<ReturnType<typeof readStatistics>>

interface Selection {
  env: Env
  organisationId: string
  mode: Mode
  /** null selects all workspaces. */
  workspaceIds: string[] | null
}

/**
 * The statistics of one workspace, or of all that the member may access. For the permission `jobs`.
 * @throws AppError not_found
 */
export async function readStatistics(
  request: OrganisationRequest & {
    mode: Mode
    range: StatisticsRange
    workspaceId?: string | undefined
    now?: number
  },
) {
  const { env, organisationId, mode, range, workspaceId, now = Date.now() } = request
  const access = await requirePermission(request, 'jobs')
  const workspaceIds = selectedWorkspaces(access, workspaceId)
  const selection = { env, organisationId, mode, workspaceIds }
  const { periods: count, periodMs } = STATISTICS_RANGES[range]
  const isKept = 2 * count * periodMs <= RETENTION_DAYS.statistics * DAY_MS
  const earlierCount = isKept ? count : 0
  const first = Math.floor(now / periodMs) - count + 1
  const both = { first: first - earlierCount, count: earlierCount + count }
  const counts =
    periodMs === DAY_MS
      ? await countsPerDay(selection, both)
      : await collect(both, [countJobs(selection, both.first, periodMs)])
  const { periods: all, otherMode, isLimited } = counts
  const periods = all.slice(earlierCount)
  const total = sumOf(periods)
  const before = figuresOf(sumOf(all.slice(0, earlierCount)))
  // The newest jobs are counted first, so hours before the range are missing first.
  const isCut = isLimited && (periodMs === DAY_MS || before.total === 0)
  return {
    ...figuresOf(total),
    /** The range before, of the same length; null without jobs, and where they cannot be counted. */
    before: isLimited || before.total === 0 ? null : before,
    /** The hours or days (UTC) of the range, oldest first. The last one is not over. */
    periods: periods.map(({ completed, failed, other }, index) => ({
      startsAt: (first + index) * periodMs,
      completed,
      failed,
      other,
    })),
    /** The most frequent error first. */
    errors: JOB_ERROR_CODES.map((code) => ({ code, count: total.errors[code] ?? 0 }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count),
    /** The number of jobs in the other mode, in this range and the one before. */
    otherMode,
    /** Set when there were too many jobs to count: older jobs of the current days are missing. */
    limitedTo: isCut ? MAX_COUNTED : null,
  }
}

function sumOf(periods: JobCounts[]): JobCounts {
  const total = noJobs()
  for (const counts of periods) addCounts(total, counts)
  return total
}

const figuresOf = ({ completed, failed, other, durations }: JobCounts) => ({
  completed,
  failed,
  total: completed + failed + other,
  /** Durations of completed jobs, ms, at most 5 % off; null when there are none. */
  medianMs: percentileOf(durations, 0.5),
  p95Ms: percentileOf(durations, 0.95),
})

interface Range {
  /** Periods since 1970. */
  first: number
  count: number
}

interface Counts<Period extends JobCounts = JobCounts> {
  periods: Period[]
  otherMode: number
  isLimited: boolean
}

/** Counts of the periods that have jobs, with their number since 1970. */
type Source = Counts<JobCounts & { period: number }>

/** The counts of each day of a range that ends today. */
export async function countsPerDay(selection: Selection, range: Range): Promise<Counts> {
  const { first, count } = range
  const uncounted = await firstUncountedDay(selection, first, first + count - 1)
  return collect(range, [
    countsOfDays(selection, first, uncounted),
    countJobs(selection, uncounted, DAY_MS),
  ])
}

/** Adds up the counts of each period from several sources. */
async function collect({ first, count }: Range, sources: Promise<Source>[]): Promise<Counts> {
  const periods = Array.from({ length: count }, noJobs)
  const found = await Promise.all(sources)
  for (const { period, ...counts } of found.flatMap((source) => source.periods)) {
    const known = periods[period - first]
    if (known) addCounts(known, counts)
  }
  return {
    periods,
    otherMode: found.reduce((sum, source) => sum + source.otherMode, 0),
    isLimited: found.some((source) => source.isLimited),
  }
}

/**
 * The first day of the range to count from its jobs: the earliest that cron has not counted. It may be
 * before a counted day, because a day with unfinished jobs waits for them.
 */
async function firstUncountedDay({ env, organisationId }: Selection, first: number, today: number) {
  const earliest = Math.max(first, today - MAX_CURRENT_DAYS + 1)
  const counted = await jobsDatabase(env, organisationId)
    .select({ day: jobStatisticsDays.day })
    .from(jobStatisticsDays)
    .where(gte(jobStatisticsDays.day, earliest))
  const days = new Set(counted.map(({ day }) => day))
  let uncounted = earliest
  while (days.has(uncounted)) uncounted++
  return uncounted
}

/** The counts that cron has written for the days from `first` to `end` (exclusive). */
async function countsOfDays(
  { env, organisationId, mode, workspaceIds }: Selection,
  first: number,
  end: number,
): Promise<Source> {
  const db = jobsDatabase(env, organisationId)
  const days = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index)
  const where = and(
    // A list and not a range: the primary key then finds the organisation's rows of each day.
    inArray(jobStatistics.day, listed(days)),
    eq(jobStatistics.organisationId, organisationId),
    inWorkspaces(workspaceIds, jobStatistics.workspaceId),
  )
  const { day: period, completed, failed, other, errors, durations, keys } = jobStatistics
  const [rows, [inOther]] = await db.batch([
    db
      .select({ period, completed, failed, other, errors, durations, keys })
      .from(jobStatistics)
      .where(and(where, eq(jobStatistics.mode, mode))),
    db
      .select({ count: sql<number>`coalesce(sum(${completed} + ${failed} + ${other}), 0)` })
      .from(jobStatistics)
      .where(and(where, eq(jobStatistics.mode, mode === 'live' ? 'test' : 'live'))),
  ])
  return { periods: rows, otherMode: inOther?.count ?? 0, isLimited: false }
}

/** Counts the newest jobs that were created in the period `first` or later. */
async function countJobs(
  { env, organisationId, mode, workspaceIds }: Selection,
  first: number,
  periodMs: number,
): Promise<Source> {
  const db = jobsDatabase(env, organisationId)
  const onlyId = workspaceIds?.length === 1 ? workspaceIds[0] : undefined
  const newest = db
    .select({
      mode: jobs.mode,
      workspaceId: jobs.workspaceId,
      // A literal, since D1 binds numbers as REAL, and the division would return fractions.
      period: sql<number>`${jobs.createdAt} / ${sql.raw(String(periodMs))}`.as('period'),
      ...GROUPED,
    })
    .from(jobs)
    .where(
      and(
        eq(jobs.organisationId, organisationId),
        // One workspace has an index. Several are selected from the limited rows, so that the limit bounds
        // the rows that are read.
        onlyId === undefined ? undefined : eq(jobs.workspaceId, onlyId),
        gte(jobs.id, firstIdSince('job', first * periodMs)),
      ),
    )
    .orderBy(desc(jobs.id))
    .limit(MAX_COUNTED)
    .as('newest')
  const isSelected =
    workspaceIds && onlyId === undefined
      ? sql<boolean>`${newest.workspaceId} in ${listed(workspaceIds)}`
      : sql<boolean>`true`
  const groups = await db
    .select({
      mode: newest.mode,
      period: newest.period,
      outcome: newest.outcome,
      durationMs: newest.durationMs,
      apiKeyId: newest.apiKeyId,
      isSelected: isSelected.mapWith(Boolean),
      count: sql<number>`count(*)`,
    })
    .from(newest)
    .groupBy(sql`1`, sql`2`, sql`3`, sql`4`, sql`5`, sql`6`)
  const periods = new Map<number, Source['periods'][number]>()
  let counted = 0
  let otherMode = 0
  for (const { mode: modeOfGroup, period, isSelected: selected, ...group } of groups) {
    counted += group.count
    if (!selected) continue
    if (modeOfGroup !== mode) {
      otherMode += group.count
      continue
    }
    const counts = periods.get(period) ?? { period, ...noJobs() }
    addGroup(counts, group)
    periods.set(period, counts)
  }
  return { periods: [...periods.values()], otherMode, isLimited: counted >= MAX_COUNTED }
}

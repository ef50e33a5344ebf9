// Counts of jobs by outcome and duration: the SQL expressions and the arithmetic that the statistics of
// the current days (statistics) and of finished days (daily-statistics) share.
import { sql, type SQL } from 'drizzle-orm'
import { jobs } from '../../platform/db/schema.ts'
import type { jobStatistics } from '../../platform/db/statistics-schema.ts'
import { JOB_ERROR_CODES, type JobErrorCode } from '../../domain/job.ts'

type Statistics = typeof jobStatistics.$inferSelect

/** Jobs by how they ended. */
export type Outcomes = Pick<Statistics, 'completed' | 'failed' | 'other'>

/** Counts of one group of jobs. */
export type JobCounts = Outcomes & Pick<Statistics, 'errors' | 'durations' | 'keys'>

const noOutcomes = (): Outcomes => ({ completed: 0, failed: 0, other: 0 })
export const noJobs = (): JobCounts => ({ ...noOutcomes(), errors: {}, durations: {}, keys: {} })

/** `completed`, `other`, or the error code of a failed job. */
const OUTCOME = sql<'completed' | 'other' | JobErrorCode>`case ${jobs.status}
  when 'completed' then 'completed'
  when 'failed' then coalesce(${jobs.errorCode}, 'internal_error')
  else 'other' end`

/**
 * The duration of a completed job, ms, rounded to two significant digits: at most 5 % off. So many jobs
 * have few different durations, and percentiles can be read from counts.
 */
const ROUNDED_DURATION = sql<number | null>`case
  when ${jobs.status} <> 'completed' then null
  when ${jobs.durationMs} < 100 then ${jobs.durationMs}
  when ${jobs.durationMs} < 1000 then ${roundedTo(10)}
  when ${jobs.durationMs} < 10000 then ${roundedTo(100)}
  when ${jobs.durationMs} < 100000 then ${roundedTo(1_000)}
  else ${roundedTo(10_000)} end`

/** Literals, since D1 binds numbers as REAL, whose division returns fractions. */
function roundedTo(step: number): SQL {
  return sql`(${jobs.durationMs} + ${sql.raw(String(step / 2))}) / ${sql.raw(String(step))} * ${sql.raw(String(step))}`
}

/** The columns of a group of jobs besides their number. */
export const GROUPED = {
  outcome: OUTCOME.as('outcome'),
  durationMs: ROUNDED_DURATION.as('rounded_duration'),
  apiKeyId: jobs.apiKeyId,
}

interface GroupOfJobs {
  outcome: 'completed' | 'other' | JobErrorCode
  /** Null unless completed. */
  durationMs: number | null
  apiKeyId: string | null
  count: number
}

/** Adds a group of jobs with the same outcome, rounded duration and API key. */
export function addGroup(counts: JobCounts, group: GroupOfJobs): void {
  const { outcome, durationMs, apiKeyId, count } = group
  const isFailure = outcome !== 'completed' && outcome !== 'other'
  const outcomes = { ...noOutcomes(), [isFailure ? 'failed' : outcome]: count }
  addCounts(counts, {
    ...outcomes,
    errors: isFailure ? { [outcome]: count } : {},
    durations: durationMs === null ? {} : { [durationMs]: count },
    keys: apiKeyId === null ? {} : { [apiKeyId]: outcomes },
  })
}

function addOutcomes(counts: Outcomes, more: Outcomes): void {
  counts.completed += more.completed
  counts.failed += more.failed
  counts.other += more.other
}

/** Adds `more` to `counts`. */
export function addCounts(counts: JobCounts, more: JobCounts): void {
  addOutcomes(counts, more)
  for (const [key, outcomes] of Object.entries(more.keys)) {
    addOutcomes((counts.keys[key] ??= noOutcomes()), outcomes)
  }
  for (const code of JOB_ERROR_CODES) {
    const count = more.errors[code]
    if (count) counts.errors[code] = (counts.errors[code] ?? 0) + count
  }
  for (const [duration, count] of Object.entries(more.durations)) {
    counts.durations[duration] = (counts.durations[duration] ?? 0) + count
  }
}

/**
 * The smallest duration (ms) that at least `fraction` of the jobs do not exceed.
 * @returns null without jobs
 */
export function percentileOf(durations: JobCounts['durations'], fraction: number): number | null {
  const sorted = Object.entries(durations)
    .map(([ms, count]) => ({ ms: Number(ms), count }))
    .sort((a, b) => a.ms - b.ms)
  const total = sorted.reduce((sum, { count }) => sum + count, 0)
  let seen = 0
  for (const { ms, count } of sorted) {
    seen += count
    if (seen >= total * fraction) return ms
  }
  return null
}

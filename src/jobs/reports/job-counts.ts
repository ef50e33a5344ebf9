// Counts of jobs by outcome and duration: the SQL expressions and the arithmetic that the statistics of
// the current days (statistics) and of finished days (daily-statistics) share.
import { sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { jobs } from '../../platform/db/schema.ts'
import { JOB_ERROR_CODES } from '../../domain/job.ts'
import type { JobErrorCode } from '../../domain/job.ts'

/** Counts of one group of jobs. */
export interface JobCounts {
  completed: number
  failed: number
  /** Cancelled, refunded and unfinished jobs. */
  other: number
  /** The failed jobs by error code. */
  errors: Partial<Record<JobErrorCode, number>>
  /** The completed jobs by rounded duration (ms). */
  durations: Record<string, number>
}

export const noJobs = (): JobCounts => ({
  completed: 0,
  failed: 0,
  other: 0,
  errors: {},
  durations: {},
})

/** `completed`, `other`, or the error code of a failed job. */
export const OUTCOME = sql<'completed' | 'other' | JobErrorCode>`case ${jobs.status}
  when 'completed' then 'completed'
  when 'failed' then coalesce(${jobs.errorCode}, 'internal_error')
  else 'other' end`

/**
 * The duration of a completed job, ms, rounded to two significant digits: at most 5 % off. So many jobs
 * have few different durations, and percentiles can be read from counts.
 */
export const ROUNDED_DURATION = sql<number | null>`case
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

/** Adds a group of jobs with the same outcome and rounded duration. */
export function addGroup(counts: JobCounts, { outcome, durationMs, count }: GroupOfJobs): void {
  if (outcome === 'completed') {
    counts.completed += count
    if (durationMs !== null) {
      counts.durations[durationMs] = (counts.durations[durationMs] ?? 0) + count
    }
  } else if (outcome === 'other') {
    counts.other += count
  } else {
    counts.failed += count
    counts.errors[outcome] = (counts.errors[outcome] ?? 0) + count
  }
}

export interface GroupOfJobs {
  outcome: 'completed' | 'other' | JobErrorCode
  durationMs: number | null
  count: number
}

/** Adds `more` to `counts`. */
export function addCounts(counts: JobCounts, more: JobCounts): void {
  counts.other += more.other
  counts.completed += more.completed
  counts.failed += more.failed
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

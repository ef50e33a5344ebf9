// Counts the jobs of each finished day, once, for the statistics of the console. Cron runs it. Counting a
// day again gives the same rows, so a run may be repeated and two runs may overlap.
import { and, eq, gte, inArray, lt, sql } from 'drizzle-orm'
import { deletedAmong } from '../../organisations/closed-organisations.ts'
import { listed, type Database, forEachShard, jobsDatabase } from '../../platform/db/database.ts'
import { IS_IN_SWEEP_INDEX, IS_UNFINISHED, jobs } from '../../platform/db/schema.ts'
import { jobStatistics, jobStatisticsDays } from '../../platform/db/statistics-schema.ts'
import { DAY_MS, RETENTION_DAYS } from '../../domain/limits.ts'
import { firstIdSince } from '../../platform/ids.ts'
import { log } from '../../platform/log.ts'
import { addGroup, GROUPED, noJobs } from './job-counts.ts'

/** The statements that count one day, so that each is short on a busy day. */
const SLICES_PER_DAY = 24
/** The time after the end of a day in which inserts of its last jobs end. */
const MARGIN_MS = 10 * 60_000
/** A day with unfinished jobs waits for them, but not longer than this. */
const MAX_WAIT_DAYS = 2
/** With every active key and duration, these rows stay below the 2 MB of a bound value. */
const ROWS_PER_STATEMENT = 100

type DayRow = Omit<typeof jobStatistics.$inferSelect, 'day'>

/** Counts the latest finished day that is not counted yet, at most one per run and shard. */
export async function countFinishedDay(env: Env): Promise<void> {
  await forEachShard(env, 'job statistics', (db) => countDayOf(env, db))
}

async function countDayOf(env: Env, db: Database): Promise<void> {
  const day = await nextDay(db)
  if (day === undefined) return
  const rows = await countDay(db, day)
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
    await store(env, db, day, rows.slice(at, at + ROWS_PER_STATEMENT))
  }
  await db.insert(jobStatisticsDays).values({ day }).onConflictDoNothing()
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10)
  if (rows.length > 0) log.info('jobs counted', { day: date, rows: rows.length })
}

/** The latest day first: after the first deployment, older days follow one per run. */
async function nextDay(db: Database): Promise<number | undefined> {
  const now = Date.now()
  const last = Math.floor((now - MARGIN_MS) / DAY_MS) - 1
  const first = last - RETENTION_DAYS.statistics + 2
  const counted = await db
    .select({ day: jobStatisticsDays.day })
    .from(jobStatisticsDays)
    .where(gte(jobStatisticsDays.day, first))
  const known = new Set(counted.map(({ day }) => day))
  for (let day = last; day >= first; day--) {
    if (known.has(day)) continue
    if (last - day >= MAX_WAIT_DAYS || !(await hasUnfinished(db, day))) return day
  }
  return undefined
}

/** Whether a job of that day is unfinished. Reads unfinished jobs only. */
async function hasUnfinished(db: Database, day: number): Promise<boolean> {
  // Without the name of the index SQLite would read all jobs of the day.
  const unfinished = await db.all<{ id: string }>(
    sql`select ${jobs.id} from ${jobs} indexed by jobs_unfinished
      where ${and(IS_IN_SWEEP_INDEX, IS_UNFINISHED, gte(jobs.id, firstJob(day)), lt(jobs.id, firstJob(day + 1)))}
      limit 1`,
  )
  return unfinished.length > 0
}

async function countDay(db: Database, day: number): Promise<DayRow[]> {
  const rows = new Map<string, DayRow>()
  for (let slice = 0; slice < SLICES_PER_DAY; slice++) {
    const groups = await db
      .select({
        organisationId: jobs.organisationId,
        mode: jobs.mode,
        workspaceId: jobs.workspaceId,
        ...GROUPED,
        count: sql<number>`count(*)`,
      })
      .from(jobs)
      .where(
        and(
          gte(jobs.id, firstJob(day + slice / SLICES_PER_DAY)),
          lt(jobs.id, firstJob(day + (slice + 1) / SLICES_PER_DAY)),
        ),
      )
      .groupBy(sql`1`, sql`2`, sql`3`, sql`4`, sql`5`, sql`6`)
    for (const { organisationId, mode, workspaceId, ...group } of groups) {
      const key = `${organisationId} ${mode} ${workspaceId}`
      const row = rows.get(key) ?? { organisationId, mode, workspaceId, ...noJobs() }
      addGroup(row, group)
      rows.set(key, row)
    }
  }
  return [...rows.values()]
}

/**
 * Writes rows, then deletes those of organisations that are being deleted. In this order no row remains:
 * a deletion that starts after the check deletes the organisation's statistics itself. A crash before
 * the check repeats the day.
 */
async function store(env: Env, db: Database, day: number, rows: DayRow[]): Promise<void> {
  await db.run(sql`
    insert or replace into ${jobStatistics}
      (day, organisation_id, mode, workspace_id, completed, failed, other, errors, durations, keys)
    select ${day}, value ->> 'organisationId', value ->> 'mode', value ->> 'workspaceId',
      value ->> 'completed', value ->> 'failed', value ->> 'other',
      value -> 'errors', value -> 'durations', value -> 'keys'
    from json_each(${JSON.stringify(rows)})`)
  const ids = [...new Set(rows.map(({ organisationId }) => organisationId))]
  const deleted = await deletedAmong(env, ids)
  if (deleted.length === 0) return
  await db
    .delete(jobStatistics)
    .where(and(eq(jobStatistics.day, day), inArray(jobStatistics.organisationId, listed(deleted))))
}

const firstJob = (day: number): string => firstIdSince('job', Math.round(day * DAY_MS))

/** The statement that deletes an organisation's statistics. */
export function deleteStatistics(env: Env, organisationId: string) {
  const today = Math.floor(Date.now() / DAY_MS)
  // With the days, the statement uses the primary key, whose first column is the day.
  const days = Array.from({ length: RETENTION_DAYS.statistics + 2 }, (_, age) => today - age)
  return jobsDatabase(env, organisationId)
    .delete(jobStatistics)
    .where(
      and(
        inArray(jobStatistics.day, listed(days)),
        eq(jobStatistics.organisationId, organisationId),
      ),
    )
}

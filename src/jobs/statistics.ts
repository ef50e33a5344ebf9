// Statistics of an organisation's jobs in the last 30 days, for the console.
import { and, eq, gte, isNotNull, sql } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { jobs } from '../db/schema.ts'
import { firstIdSince } from '../ids.ts'
import { DAY_MS } from '../domain/limits.ts'

export const STATISTICS_DAYS = 30

export interface Statistics {
  /** One entry per UTC day, oldest first. The last one is today. */
  days: { day: string; completed: number; failed: number; other: number }[]
  completed: number
  failed: number
  total: number
  /** The median duration of completed jobs, ms; null when there are none. */
  medianMs: number | null
}

export async function statisticsOf({
  env,
  organisationId,
  now,
}: {
  env: Env
  organisationId: string
  now: number
}): Promise<Statistics> {
  const db = database(env)
  const firstDay = Math.floor(now / DAY_MS) - STATISTICS_DAYS + 1
  const recent = and(
    eq(jobs.organisationId, organisationId),
    gte(jobs.id, firstIdSince('job', firstDay * DAY_MS)),
  )
  // Uses a literal, since D1 binds numbers as REAL and the division would return fractions of days.
  const day = sql<number>`${jobs.createdAt} / ${sql.raw(String(DAY_MS))}`
  const ranked = db
    .select({
      durationMs: jobs.durationMs,
      rank: sql<number>`row_number() over (order by ${jobs.durationMs})`.as('rank'),
      count: sql<number>`count(*) over ()`.as('count'),
    })
    .from(jobs)
    .where(and(recent, eq(jobs.status, 'completed'), isNotNull(jobs.durationMs)))
    .as('ranked')
  const [rows, [median]] = await db.batch([
    db
      .select({ day, status: jobs.status, count: sql<number>`count(*)` })
      .from(jobs)
      .where(recent)
      .groupBy(sql`1`, jobs.status),
    db
      .select({ durationMs: ranked.durationMs })
      .from(ranked)
      .where(sql`${ranked.rank} = (${ranked.count} + 1) / 2`),
  ])
  const days = Array.from({ length: STATISTICS_DAYS }, (_, index) => ({
    day: new Date((firstDay + index) * DAY_MS).toISOString().slice(0, 10),
    completed: 0,
    failed: 0,
    other: 0,
  }))
  for (const row of rows) {
    const entry = days[row.day - firstDay]
    if (!entry) continue
    const kind = row.status === 'completed' || row.status === 'failed' ? row.status : 'other'
    entry[kind] += row.count
  }
  const sum = (kind: 'completed' | 'failed' | 'other') =>
    days.reduce((total, entry) => total + entry[kind], 0)
  const completed = sum('completed')
  const failed = sum('failed')
  return {
    days,
    completed,
    failed,
    total: completed + failed + sum('other'),
    medianMs: median?.durationMs ?? null,
  }
}

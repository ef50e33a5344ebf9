// The credits that live jobs have consumed in the current month, for the console.
import { and, eq, gte, sql } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { jobs } from '../db/schema.ts'
import { DAY_MS } from '../domain/limits.ts'
import { monthStart } from '../domain/month.ts'
import { firstIdSince } from '../ids.ts'

export interface Usage {
  /** One entry per UTC day from the first of the month to today. A job counts on the day it was submitted. */
  days: { day: string; credits: number }[]
  total: number
}

/** Reads the credits that live jobs of an organisation have consumed since the first of the month. */
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
  const firstDay = monthStart(today).getTime() / DAY_MS
  // Uses a literal, since D1 binds numbers as REAL and the division would return fractions of days.
  const day = sql<number>`${jobs.createdAt} / ${sql.raw(String(DAY_MS))}`
  const rows = await database(env)
    .select({ day, credits: sql<number>`count(*)` })
    .from(jobs)
    .where(
      and(
        eq(jobs.organisationId, organisationId),
        eq(jobs.status, 'completed'),
        eq(jobs.mode, 'live'),
        gte(jobs.id, firstIdSince('job', firstDay * DAY_MS)),
      ),
    )
    .groupBy(sql`1`)
  const credits = new Map(rows.map((row) => [row.day, row.credits]))
  const days = Array.from({ length: today.getUTCDate() }, (_, index) => ({
    day: new Date((firstDay + index) * DAY_MS).toISOString().slice(0, 10),
    credits: credits.get(firstDay + index) ?? 0,
  }))
  return { days, total: days.reduce((total, entry) => total + entry.credits, 0) }
}

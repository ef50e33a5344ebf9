// Limits how often something can be attempted, such as a password or an email. An attempt is counted
// before it is made, so that concurrent attempts cannot exceed a limit. A successful attempt can be
// refunded.
import { and, eq, inArray, lt, or, sql } from 'drizzle-orm'
import { database } from './database.ts'
import { rateLimits } from './auth-schema.ts'

export interface RateLimit {
  /** What is limited, such as `sign-in:network:203.0.113.7`. */
  key: string
  max: number
  windowSeconds: number
}

/** An attempt as counted under one limit: the window ends at `endsAt`. */
type CountedAttempt = Pick<typeof rateLimits.$inferSelect, 'key' | 'endsAt'>

export type RateLimitResult =
  { ok: true; counted: CountedAttempt[] } | { ok: false; waitSeconds: number }

/** The statement that deletes the counts of windows that have ended. */
export const deleteExpiredRateLimits = (env: Env) =>
  database(env).delete(rateLimits).where(lt(rateLimits.endsAt, new Date()))

/** Counts an attempt under every limit, or under none if one of them is reached. */
export async function consumeRateLimit(env: Env, limits: RateLimit[]): Promise<RateLimitResult> {
  const db = database(env)
  const now = Date.now()
  const wanted = JSON.stringify(
    limits.map((limit) => ({ ...limit, endsAt: now + limit.windowSeconds * 1_000 })),
  )
  const keys = limits.map(({ key }) => key)
  // One statement checks all limits, so that concurrent attempts cannot exceed any of them.
  const [, counted, rows] = await db.batch([
    deleteExpiredRateLimits(env),
    db
      .insert(rateLimits)
      .select(
        sql`
          SELECT value ->> '$.key', 1, value ->> '$.endsAt' FROM json_each(${wanted})
          WHERE NOT EXISTS (
            SELECT 1 FROM json_each(${wanted}) AS wanted
            JOIN attempts AS reached ON reached.key = wanted.value ->> '$.key'
            WHERE reached.count >= wanted.value ->> '$.max'
          )`,
      )
      .onConflictDoUpdate({ target: rateLimits.key, set: { count: sql`${rateLimits.count} + 1` } })
      .returning({ key: rateLimits.key, endsAt: rateLimits.endsAt }),
    db.select().from(rateLimits).where(inArray(rateLimits.key, keys)),
  ])
  if (counted.length > 0) return { ok: true, counted }
  const waits = limits.map(({ key, max }) => {
    const row = rows.find((row) => row.key === key)
    return row && row.count >= max ? Math.ceil((row.endsAt.getTime() - now) / 1_000) : 0
  })
  return { ok: false, waitSeconds: Math.max(1, ...waits) }
}

/** Removes an attempt from the counts of all windows that have not ended. */
export async function refundRateLimit(env: Env, counted: CountedAttempt[]): Promise<void> {
  const windows = counted.map(({ key, endsAt }) =>
    and(eq(rateLimits.key, key), eq(rateLimits.endsAt, endsAt)),
  )
  await database(env)
    .update(rateLimits)
    .set({ count: sql`max(${rateLimits.count} - 1, 0)` })
    .where(or(...windows))
}

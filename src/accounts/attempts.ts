// Limits how often something may be attempted, such as a password or a mail. An attempt is counted
// before it is made, so that parallel ones cannot exceed a limit, and is returned if it succeeds.
import { and, eq, inArray, lt, or, sql } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { attempts } from '../db/auth-schema.ts'

export interface AttemptLimit {
  /** What is limited, such as `sign-in:network:203.0.113.7`. */
  key: string
  max: number
  windowSeconds: number
}

/** An attempt as it was counted under one limit. */
interface CountedAttempt {
  key: string
  endsAt: Date
}

type Taken = { ok: true; counted: CountedAttempt[] } | { ok: false; waitSeconds: number }

/** The statement that deletes the counts of windows that have ended. */
export const deleteExpiredAttempts = (env: Env) =>
  database(env).delete(attempts).where(lt(attempts.endsAt, new Date()))

/** Counts an attempt under every limit, or under none if one of them is reached. */
export async function takeAttempt(env: Env, limits: AttemptLimit[]): Promise<Taken> {
  const db = database(env)
  const now = Date.now()
  const wanted = JSON.stringify(
    limits.map(({ key, max, windowSeconds }) => ({
      key,
      max,
      endsAt: now + windowSeconds * 1_000,
    })),
  )
  const keys = limits.map(({ key }) => key)
  // One statement decides about all limits, so concurrent attempts cannot pass between two of them.
  const [, counted, rows] = await db.batch([
    deleteExpiredAttempts(env),
    db
      .insert(attempts)
      .select(
        sql`
          SELECT value ->> '$.key', 1, value ->> '$.endsAt' FROM json_each(${wanted})
          WHERE NOT EXISTS (
            SELECT 1 FROM json_each(${wanted}) AS wanted
            JOIN attempts AS reached ON reached.key = wanted.value ->> '$.key'
            WHERE reached.count >= wanted.value ->> '$.max'
          )`,
      )
      .onConflictDoUpdate({ target: attempts.key, set: { count: sql`${attempts.count} + 1` } })
      .returning({ key: attempts.key, endsAt: attempts.endsAt }),
    db.select().from(attempts).where(inArray(attempts.key, keys)),
  ])
  if (counted.length > 0) return { ok: true, counted }
  const waits = limits.map(({ key, max }) => {
    const row = rows.find((row) => row.key === key)
    return row && row.count >= max ? Math.ceil((row.endsAt.getTime() - now) / 1_000) : 0
  })
  return { ok: false, waitSeconds: Math.max(1, ...waits) }
}

/** Returns an attempt that turned out not to be a failure, unless its window has ended. */
export async function returnAttempt(env: Env, counted: CountedAttempt[]): Promise<void> {
  await database(env)
    .update(attempts)
    .set({ count: sql`max(${attempts.count} - 1, 0)` })
    .where(
      or(
        ...counted.map(({ key, endsAt }) =>
          and(eq(attempts.key, key), eq(attempts.endsAt, endsAt)),
        ),
      ),
    )
}

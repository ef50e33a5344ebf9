// Limits how often something may be tried, such as a password, per address and per IP.
import { lt, sql } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { attempts } from '../db/people.ts'

export interface AttemptLimit {
  /** What is tried, and by whom or on what: `sign-in:ip:203.0.113.7`. */
  key: string
  max: number
  windowSeconds: number
}

/**
 * Counts an attempt under each limit.
 * @returns 0 when it may go on, else in how many seconds to try again
 */
export async function takeAttempt(env: Env, limits: AttemptLimit[]): Promise<number> {
  const db = database(env)
  const now = Date.now()
  const count = ({ key, windowSeconds }: AttemptLimit) =>
    db
      .insert(attempts)
      .values({ key, count: 1, endsAt: new Date(now + windowSeconds * 1_000) })
      .onConflictDoUpdate({ target: attempts.key, set: { count: sql`${attempts.count} + 1` } })
      .returning()
  const [, ...counted] = await db.batch([
    db.delete(attempts).where(lt(attempts.endsAt, new Date(now))),
    ...limits.map(count),
  ])
  const waits = limits.map(({ max }, index) => {
    const row = counted[index]?.[0]
    return row && row.count > max ? Math.ceil((row.endsAt.getTime() - now) / 1_000) : 0
  })
  return Math.max(...waits)
}

// Caches the queries that most requests run. Drizzle builds the SQL of a query from objects each time:
// 30 to 40 µs of CPU for the insert of a job or for a page of jobs, against 1 to 2 µs with the SQL
// cached (workerd, 20,000 calls each against a stub of D1). It was the largest part of the CPU time of
// these requests.
import { drizzle } from 'drizzle-orm/d1'
import { perEnv } from '../settings.ts'
import type { Database } from './client.ts'

/**
 * A query that is built at its first use and cached for the life of the isolate.
 * @param build creates the query, with placeholders for its values, and ends with `.prepare()`
 */
export const preparedQuery = <Query extends object>(
  build: (db: Database) => Query,
): ((env: Env) => Query) => perEnv((env) => build(drizzle(deferPrepare(env.DB))))

/**
 * A database that creates a D1 statement when its values are bound, and not in `prepare`. A Drizzle
 * query caches what `prepare` returns, and the runtime does not document that one request may use a
 * statement that another request created.
 */
const deferPrepare = (db: D1Database): D1Database =>
  new Proxy(db, {
    get: (_, key) =>
      key === 'prepare'
        ? (text: string) => ({ bind: (...values: unknown[]) => db.prepare(text).bind(...values) })
        : Reflect.get(db, key),
  })

// Caches the queries that most requests run. Drizzle builds the SQL of a query from objects each time:
// 30 to 40 µs of CPU for the insert of a job or for a page of jobs, against 1 to 2 µs with the SQL
// cached (workerd, 20,000 calls each against a stub of D1). It was the largest part of the CPU time of
// these requests.
import { fillPlaceholders } from 'drizzle-orm'
import type { Query } from 'drizzle-orm'
import type { BatchItem, BatchResponse } from 'drizzle-orm/batch'
import { drizzle } from 'drizzle-orm/d1'
import { perEnv } from '../settings.ts'
import type { Database } from './client.ts'
import { connection } from './sessions.ts'

/**
 * A query that is built at its first use and cached for the life of the isolate.
 * @param build creates the query, with placeholders for its values, and ends with `.prepare()`
 */
export const preparedQuery = <Query extends object>(
  build: (db: Database) => Query,
): ((env: Env) => Query) => perEnv((env) => build(drizzle(deferPrepare(connection(env.DB)))))

/** A query that has been built, and maps the rows of its result. */
interface Prepared {
  getQuery(): Query
  mapResult(response: unknown, isFromBatch: boolean): unknown
}

/** A Drizzle query that a batch prepares. */
type Preparable = BatchItem<'sqlite'> & { prepare(): Prepared }

/** A Drizzle query with its values. */
export interface Statement {
  toSQL(): { sql: string; params: unknown[] }
}

/**
 * Several queries that run in one transaction and are built as `preparedQuery` builds one.
 * @param build creates the queries, with placeholders for their values
 * @returns runs them. `first` is a query that runs before them; its result is not returned
 */
export function preparedBatch<const Queries extends readonly [Preparable, ...Preparable[]]>(
  build: (db: Database) => Queries,
) {
  const prepare = perEnv((env): Prepared[] =>
    build(drizzle(deferPrepare(connection(env.DB)))).map((query) => query.prepare()),
  )
  return async (
    env: Env,
    values: Record<string, unknown>,
    first?: Statement,
  ): Promise<BatchResponse<Queries>> => {
    const queries = prepare(env)
    const db = connection(env.DB)
    const statements = queries.map((query) => {
      const { sql, params } = query.getQuery()
      return db.prepare(sql).bind(...fillPlaceholders(params, values))
    })
    if (first) {
      const { sql, params } = first.toSQL()
      statements.unshift(db.prepare(sql).bind(...params))
    }
    const responses = (await db.batch(statements)).slice(first ? 1 : 0)
    return queries.map((query, at) =>
      query.mapResult(responses[at], true),
    ) as BatchResponse<Queries>
  }
}

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

// Caches the queries that most requests run. Drizzle builds the SQL of a query from objects each time:
// 30 to 40 µs of CPU for the insert of a job or for a page of jobs, against 1 to 2 µs with the SQL
// cached (workerd, 20,000 calls each against a stub of D1). It was the largest part of the CPU time of
// these requests.
import { fillPlaceholders, type Query } from 'drizzle-orm'
import type { BatchItem, BatchResponse } from 'drizzle-orm/batch'
import { drizzle } from 'drizzle-orm/d1'
import type { Database } from './database.ts'
import { perObject } from '../per-object.ts'
import { connection } from './read-sessions.ts'

/**
 * A query that is built at its first use and cached for the life of the isolate.
 * @param build creates the query, with placeholders for its values, and ends with `.prepare()`
 * @returns the query for a database, such as that of `jobsBinding`
 */
export const preparedQuery = <Query extends object>(build: (db: Database) => Query) =>
  perObject((binding: D1Database) => build(drizzle(deferPrepare(binding))))

/** A query that has been built, and maps the rows of its result. */
interface Prepared {
  getQuery(): Query
  mapResult(response: unknown, isFromBatch: boolean): unknown
}

/** A Drizzle query that a batch prepares. */
type Preparable = BatchItem<'sqlite'> & { prepare(): Prepared }

/**
 * Several queries that run in one transaction and are built as `preparedQuery` builds one.
 * @param build creates the queries, with placeholders for their values
 * @returns runs them on a database
 */
export function preparedBatch<const Queries extends readonly [Preparable, ...Preparable[]]>(
  build: (db: Database) => Queries,
) {
  const prepare = perObject((binding: D1Database): Prepared[] =>
    build(drizzle(deferPrepare(binding))).map((query) => query.prepare()),
  )
  return async (binding: D1Database, values: Record<string, unknown>) => {
    const queries = prepare(binding)
    const db = connection(binding)
    const statements = queries.map((query) => {
      const { sql, params } = query.getQuery()
      return db.prepare(sql).bind(...fillPlaceholders(params, values))
    })
    const responses = await db.batch(statements)
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
const deferPrepare = (binding: D1Database): D1Database =>
  new Proxy(binding, {
    get: (_, key) =>
      key === 'prepare'
        ? (text: string) => ({
            bind: (...values: unknown[]) =>
              connection(binding)
                .prepare(text)
                .bind(...values),
          })
        : Reflect.get(connection(binding), key),
  })

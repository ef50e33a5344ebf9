import { drizzle } from 'drizzle-orm/d1'

/** A drizzle client for this Worker's D1. Cheap to make: it holds no connection. */
export const database = (env: Env) => drizzle(env.DB)

type Database = ReturnType<typeof database>

/**
 * Keeps a query that is run at every request, for building its SQL costs more CPU than all else that
 * such a request does.
 * @param build makes the query, with placeholders for its values
 */
export function kept<Query>(build: (db: Database) => Query): (env: Env) => Query {
  const queries = new WeakMap<D1Database, Query>()
  return (env) => {
    let query = queries.get(env.DB)
    if (!query) queries.set(env.DB, (query = build(drizzle(late(env.DB)))))
    return query
  }
}

/** The same database, of which drizzle may hold on to a statement: it is made when it is bound. */
const late = (db: D1Database): D1Database =>
  new Proxy(db, {
    get: (_, key) =>
      key === 'prepare'
        ? (text: string) => ({ bind: (...values: unknown[]) => db.prepare(text).bind(...values) })
        : Reflect.get(db, key),
  })

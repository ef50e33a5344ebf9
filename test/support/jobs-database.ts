// The jobs databases (platform/db/database) as tests use them: the one of an organisation, all of them, and calls of
// any D1 database.
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import { jobsBinding, jobsBindings } from '../../src/platform/db/database.ts'
import { newShardedId, shardOf } from '../../src/platform/ids.ts'

/** The database of an organisation, a job or an event. */
export const jobsDb = (id: string): D1Database => jobsBinding(env, id)

/** Creates the id of a job of an organisation. */
export const newJobId = (organisationId: string): string =>
  newShardedId('job', shardOf(organisationId))

/** Runs a statement on every shard. @returns the rows, by shard */
export const onEveryShard = <Row = Record<string, unknown>>(
  sql: string,
  ...values: unknown[]
): Promise<Row[][]> =>
  Promise.all(
    jobsBindings(env).map(async (db) => {
      const { results } = await db
        .prepare(sql)
        .bind(...values)
        .all<Row>()
      return results
    }),
  )

/** The class of all D1 databases. */
const D1: D1Database = Object.getPrototypeOf(env.DB)
const { prepare, batch } = D1

/**
 * Replaces `prepare` of every D1 database until the mocks are restored.
 * @param replacement gets the original method
 */
export const spyPrepare = (
  replacement: (
    original: (sql: string) => D1PreparedStatement,
    sql: string,
  ) => D1PreparedStatement = (original, sql) => original(sql),
) =>
  vi.spyOn(D1, 'prepare').mockImplementation(function (this: D1Database, sql: string) {
    return replacement((text) => prepare.call(this, text), sql)
  })

export type Batch = <T>(statements: D1PreparedStatement[]) => Promise<D1Result<T>[]>

/** Replaces `batch` of every D1 database, like `spyPrepare`. */
export const spyBatch = (
  replacement: <T>(original: Batch, statements: D1PreparedStatement[]) => Promise<D1Result<T>[]> = (
    original,
    statements,
  ) => original(statements),
) =>
  vi.spyOn(D1, 'batch').mockImplementation(function <T>(
    this: D1Database,
    statements: D1PreparedStatement[],
  ) {
    return replacement<T>((all) => batch.call(this, all) as Promise<never>, statements)
  })

/**
 * Makes each trip to any D1 database with `trip` until the mocks are restored; a batch is one trip.
 */
export function onTrip(trip: <T>(make: () => Promise<T>) => Promise<T>): void {
  spyBatch((original, statements) => trip(() => original(statements)))
  spyPrepare((original, sql) => onRun(original(sql), trip))
}

/** Wraps a statement so that `trip` makes each of its trips, also after `bind`. */
function onRun(
  statement: D1PreparedStatement,
  trip: (make: () => Promise<unknown>) => Promise<unknown>,
): D1PreparedStatement {
  return new Proxy(statement, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name === 'bind') return (...values: unknown[]) => onRun(target.bind(...values), trip)
      if (!['run', 'all', 'raw', 'first'].includes(String(name))) return member.bind(target)
      return (...input: unknown[]) =>
        trip(() => Reflect.apply(member, target, input) as Promise<unknown>)
    },
  })
}

/** Makes the next statement of a database that matches fail. */
export function failOnce(db: D1Database, pattern: RegExp): void {
  const original = db.prepare.bind(db)
  const spy = vi.spyOn(db, 'prepare').mockImplementation((sql) => {
    if (!pattern.test(sql)) return original(sql)
    spy.mockRestore()
    throw new Error('D1 is down')
  })
}

// The D1 databases. `DB` has the accounts. `JOBS_DB_0`, `JOBS_DB_1`, … have jobs, webhook events and attempts: an
// organisation's id carries the number of its shard, and so do the ids of its jobs and events, so that one statement
// reaches the right database. All databases have the same migrations.
import { getTableColumns, is, SQL, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/d1'
import type { SQLiteColumn, SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { connection } from './read-sessions.ts'
import { MAX_SHARD, newShardedId, shardOf } from '../ids.ts'
import { log } from '../log.ts'
import { perEnv, settingsOf } from '../settings.ts'

/** A Drizzle client for the database of accounts. Cheap to create: it holds no connection. */
export const database = (env: Env) => drizzle(connection(env.DB))

export type Database = ReturnType<typeof database>

/** An INSERT of one row that applies only where a condition holds, checked by the same statement. */
export const insertWhere = <T extends SQLiteTable>(
  env: Env,
  table: T,
  row: SQLiteInsertValue<T>,
  condition: SQL,
) =>
  database(env)
    .insert(table)
    .select(sql`select ${rowValues(table, row)} where ${condition}`)

/** The values of a row in the order of the table's columns, as INSERT … SELECT needs them. */
export function rowValues<T extends SQLiteTable>(table: T, row: SQLiteInsertValue<T>): SQL {
  const given: Record<string, unknown> = row
  const values = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const { [name]: value = column.default ?? null } = given
    return is(value, SQL) ? value : sql`${sql.param(value, column)}`
  })
  return sql.join(values, sql`, `)
}

/** A condition in a batch: the statement before this one has changed a row. */
export const IF_CHANGED = sql`changes() > 0`

/** Runs a statement. @returns whether it has changed a row */
export const hasChanged = async (statement: PromiseLike<D1Result>): Promise<boolean> =>
  (await statement).meta.changes > 0

/**
 * Runs a batch that fails and changes nothing if a concurrent request was first.
 * @param isLost whether it was, asked after a failure
 * @returns false then
 * @throws the error of any other failure
 */
export async function unlessLost(batch: Promise<unknown>, isLost: () => Promise<boolean>) {
  try {
    await batch
    return true
  } catch (error) {
    if (await isLost()) return false
    throw error
  }
}

/** A list of any length as one bound value, since D1 binds at most 100 values. For `in`. */
export const listed = (values: readonly (string | number)[]): SQL =>
  sql`(select value from json_each(${JSON.stringify(values)}))`

/** A value as a column of INSERT … SELECT, with the encoding and name of the column. */
export const valueFor = <T>(value: T, column: SQLiteColumn) =>
  sql<T>`${sql.param(value, column)}`.as(column.name)

/** The bindings of all shards, by number. The numbers have no gaps. */
export const jobsBindings = perEnv((env): readonly D1Database[] => {
  const found: D1Database[] = []
  for (let shard = 0; shard <= MAX_SHARD; shard++) {
    const binding: D1Database | undefined = Reflect.get(env, `JOBS_DB_${shard}`)
    if (!binding) break
    found.push(binding)
  }
  return found
})

/** Whether the shard of an id is bound. It is not for an invented id, or after a rollback past a new shard. */
export const isBound = (env: Env, id: string): boolean => shardOf(id) in jobsBindings(env)

/**
 * The database of an organisation's jobs. Never another one: work on a stored id would take the absence of its
 * jobs there for the truth, and forget them.
 * @param id of the organisation, or of one of its jobs or events. An id without a mark belongs to shard 0.
 * @throws Error when the shard is not bound, as after a rollback past a new shard. Check ids that may be invented
 *   with `isBound` first.
 */
export function jobsBinding(env: Env, id: string): D1Database {
  const shard = shardOf(id)
  const binding = jobsBindings(env)[shard]
  if (!binding) throw new Error(`JOBS_DB_${shard} is not bound`)
  return binding
}

/** A Drizzle client for `jobsBinding`. @throws Error when the shard is not bound */
export const jobsDatabase = (env: Env, id: string): Database =>
  drizzle(connection(jobsBinding(env, id)))

/** The id of a new organisation. It selects one of the open shards at random, for all its jobs. */
export function newOrganisationId(env: Env): string {
  const open = settingsOf(env).openShards ?? [...jobsBindings(env).keys()]
  return newShardedId('org', open[Math.floor(Math.random() * open.length)] ?? 0)
}

/**
 * Runs a task on every shard, for cron. A shard that fails does not stop the others.
 * @param name identifies the task in the log
 * @returns the results of all shards
 * @throws the first failure, after the task has ended on every shard
 */
export async function forEachShard<Result>(
  env: Env,
  name: string,
  task: (db: Database) => Promise<Result>,
): Promise<Result[]> {
  // `async` also turns an error that the task throws before its first await into a rejection.
  const work = jobsBindings(env).map(async (binding) => task(drizzle(connection(binding))))
  for (const [shard, result] of (await Promise.allSettled(work)).entries()) {
    if (result.status === 'rejected')
      log.error('shard failed', result.reason, { task: name, shard })
  }
  return Promise.all(work)
}

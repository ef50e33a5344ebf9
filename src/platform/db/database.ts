// The Drizzle client, and helpers for INSERT … SELECT.
import { getTableColumns, sql, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/d1'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { connection } from './read-sessions.ts'

/** A Drizzle client for the database of accounts. Cheap to create: it holds no connection. */
export const database = (env: Env) => drizzle(connection(env.DB))

export type Database = ReturnType<typeof database>

/**
 * An INSERT of one row that applies only where a condition holds, checked by the same statement.
 * @param overrides expressions that replace values of the row
 */
export const insertWhere = <T extends SQLiteTable>(
  env: Env,
  table: T,
  row: T['$inferSelect'],
  condition: SQL,
  overrides: Partial<Record<string, SQL>> = {},
) =>
  database(env)
    .insert(table)
    .select(sql`select ${rowValues(table, row, overrides)} where ${condition}`)

/**
 * The values of a row in the order of the table's columns, as INSERT … SELECT needs them.
 * @param overrides expressions that replace values of the row
 */
export function rowValues<T extends SQLiteTable>(
  table: T,
  row: T['$inferSelect'],
  overrides: Partial<Record<string, SQL>> = {},
): SQL {
  const values = Object.entries(getTableColumns(table)).map(
    ([name, column]) =>
      overrides[name] ?? sql`${sql.param((row as Record<string, unknown>)[name], column)}`,
  )
  return sql.join(values, sql`, `)
}

/** A condition in a batch: the statement before this one has changed a row. */
export const IF_CHANGED = sql`changes() > 0`

/** A list of any length as one bound value, since D1 binds at most 100 values. For `in`. */
export const listed = (values: readonly (string | number)[]): SQL =>
  sql`(select value from json_each(${JSON.stringify(values)}))`

/** A value as a column of INSERT … SELECT, with the encoding and name of the column. */
export const valueFor = <T>(value: T, column: SQLiteColumn) =>
  sql<T>`${sql.param(value, column)}`.as(column.name)

// Searches all tables and objects for traces of deleted data.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { jobsBindings } from '../../src/platform/db/database.ts'

/** `table.column` of every cell that contains a text, in any table of any database. */
export async function cellsWith(text: string): Promise<string[]> {
  const found = await Promise.all([env.DB, ...jobsBindings(env)].map((db) => cellsIn(db, text)))
  return [...new Set(found.flat())]
}

/** `cellsWith` in one database. */
export async function cellsIn(db: D1Database, text: string): Promise<string[]> {
  const { results: tables } = await db
    .prepare(
      `SELECT tables.name, group_concat(columns.name) AS columns
     FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
     WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'
       AND tables.name NOT LIKE '_cf_%' AND tables.name <> 'd1_migrations'
     GROUP BY tables.name ORDER BY tables.name`,
    )
    .all<{ name: string; columns: string }>()
  const results = await db.batch<Record<string, number | null>>(
    tables.map(({ name, columns }) => {
      const hits = columns
        .split(',')
        .map((column) => `max(instr("${column}", ?1) > 0) AS "${column}"`)
      return db.prepare(`SELECT ${hits.join(', ')} FROM "${name}"`).bind(text)
    }),
  )
  return results.flatMap(({ results: [row = {}] }, at) =>
    Object.keys(row)
      .filter((column) => row[column] === 1)
      .map((column) => `${tables[at]?.name}.${column}`),
  )
}

/** The keys in R2 that contain one of the texts. */
export async function picturesWith(...texts: string[]): Promise<string[]> {
  const keys: string[] = []
  for (let cursor: string | undefined; ;) {
    const page: R2Objects = await env.IMAGES.list(cursor === undefined ? {} : { cursor })
    keys.push(...page.objects.map(({ key }) => key))
    if (!page.truncated) return keys.filter((key) => texts.some((text) => key.includes(text)))
    cursor = page.cursor
  }
}

/** The tables, keys and alarm in an Organisation's storage. */
export const storedIn = (organisationId: string) =>
  runInDurableObject(env.ORGANISATION.getByName(organisationId), async (_, { storage }) => ({
    tables: storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name NOT LIKE '_cf_%'")
      .toArray()
      .map(({ name }) => name),
    keys: [...(await storage.list()).keys()],
    alarm: await storage.getAlarm(),
  }))

export const NOTHING_STORED = { tables: [], keys: [], alarm: null }

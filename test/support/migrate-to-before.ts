// A database as an earlier release left it.
import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

/** Empties a database, and applies the migrations before the one that contains a text. */
export async function migrateToBefore(db: D1Database, text: string): Promise<void> {
  await dropTables(db)
  const isNext = ({ queries }: { queries: string[] }) => queries.some((sql) => sql.includes(text))
  const next = env.TEST_MIGRATIONS.findIndex(isNext)
  await applyD1Migrations(db, env.TEST_MIGRATIONS.slice(0, next))
}

/** Drops all tables, each before those that it references. */
async function dropTables(db: D1Database) {
  for (;;) {
    const { results } = await db
      .prepare(
        `SELECT name FROM sqlite_master AS parent
         WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
           AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'
           AND NOT EXISTS (
             SELECT 1 FROM sqlite_master AS child
             WHERE child.name <> parent.name AND instr(child.sql, 'REFERENCES ' || char(96) || parent.name || char(96)))`,
      )
      .all<{ name: string }>()
    if (results.length === 0) return
    await db.batch(results.map(({ name }) => db.prepare(`DROP TABLE "${name}"`)))
  }
}

// The setup of the tests of the service: empty databases, and the Worker, loaded once.
import { env } from 'cloudflare:workers'
import { afterAll } from 'vitest'
import { jobsBindings } from '../../src/platform/db/database.ts'
import { settingsOf } from '../../src/platform/settings.ts'
import { replacePasswordHash } from './password-hash.ts'

interface ModuleRunner {
  import(path: string): Promise<object>
}

const {
  __vitest_mocker__: { moduleRunner },
} = globalThis as unknown as { __vitest_mocker__: { moduleRunner: ModuleRunner } }

// One batch per database: `applyD1Migrations` makes several calls per migration.
const migrations = env.TEST_MIGRATIONS.flatMap(({ queries }) => queries)
const TABLES = `SELECT name FROM sqlite_schema
  WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'`

/** Creates the tables, or deletes the rows of another file. */
async function prepare(database: D1Database): Promise<void> {
  const { results } = await database.prepare(TABLES).all<{ name: string }>()
  const deletions = results.map(({ name }) => `DELETE FROM ${name}`)
  const statements =
    deletions.length > 0 ? ['PRAGMA defer_foreign_keys = on', ...deletions] : migrations
  await database.batch(statements.map((sql) => database.prepare(sql)))
}
await Promise.all([env.DB, ...jobsBindings(env)].map(prepare))

replacePasswordHash()

// Some tests change settings.
const settings = { ...settingsOf(env) }
afterAll(() => void Object.assign(settingsOf(env), settings))

// The pool asks Node where the Worker's module is at each call of the Worker and of an object, which takes up to a third
// of the time of a test.
const importModule: ModuleRunner['import'] = Object.getPrototypeOf(moduleRunner).import
const worker = await import('../../src/index.ts')
moduleRunner.import = async (path) =>
  path.endsWith('/src/index.ts') ? worker : importModule.call(moduleRunner, path)

import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, beforeEach, vi, type WorkerGlobalState } from 'vitest'
import { jobsBindings } from '../../src/platform/db/database.ts'
import { settingsOf } from '../../src/platform/settings.ts'
import { replacePasswordHash } from './password-hash.ts'

const { evaluatedModules } = (globalThis as unknown as { __vitest_worker__: WorkerGlobalState })
  .__vitest_worker__

// The codecs of @jsquash set a location without an origin if there is none. Files that share their Worker could then not
// load @cfworker/json-schema.
Object.assign(globalThis, { location: { href: '', origin: 'null' } })

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

// Some tests change settings, and many move the clock.
const settings = { ...settingsOf(env) }
afterAll(() => {
  Object.assign(settingsOf(env), settings)
  vi.useRealTimers()
})

// Queue messages and alarms of the background log lines after a file has ended, which Vitest reports as an
// error. Warnings and errors are shown.
Object.assign(console, { log: () => {}, info: () => {} })

// The default of 1 s is too short for busy machines.
const { waitUntil } = vi
const patientWaitUntil: typeof waitUntil = (callback, options = {}) =>
  waitUntil(callback, typeof options === 'number' ? options : { timeout: 60_000, ...options })
Object.assign(vi, { waitUntil: patientWaitUntil })

// Tests have no network, nor has their background work after the mocks are restored. A test that expects
// requests uses support/upstream.
const noNetwork: typeof fetch = async (input) => {
  throw new Error(`Unexpected request to ${new Request(input as RequestInfo).url}`)
}
Object.assign(globalThis, { fetch: noNetwork })
beforeEach(() => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(noNetwork)
})

// V8 looks up the exports of Vitest's modules slowly, 15 % of the CPU time of the compositor, until they are read
// as a prototype.
const readAsPrototype = (object: object): unknown => Object.create(object).default
beforeAll(() => {
  for (const { exports } of evaluatedModules.idToModuleMap.values()) {
    if (exports) readAsPrototype(exports)
  }
})

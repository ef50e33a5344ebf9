import { env } from 'cloudflare:workers'
import { afterAll, afterEach, beforeAll, beforeEach, vi, type WorkerGlobalState } from 'vitest'
import { jobsBindings } from '../../src/platform/db/database.ts'
import { settingsOf } from '../../src/platform/settings.ts'
import { replacePasswordHash } from './password-hash.ts'

interface ModuleRunner {
  import(path: string): Promise<object>
}

const {
  __vitest_worker__: { evaluatedModules },
  __vitest_mocker__: { moduleRunner },
} = globalThis as unknown as {
  __vitest_worker__: WorkerGlobalState
  __vitest_mocker__: { moduleRunner: ModuleRunner }
}

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

// Shows the warnings and errors of a test that fails. Vitest sends each line to Node, which is not possible while an
// object runs: the last line of a file would stay, and its file never end.
const { debug } = console
const warnings: unknown[][] = []
const remember = (...line: unknown[]) => void warnings.push(line)
Object.assign(console, { log: () => {}, info: () => {}, warn: remember, error: remember })
afterEach(({ task }) => {
  const lines = warnings.splice(0)
  if (task.result?.state === 'fail') for (const line of lines) debug(...line)
})

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

// The pool asks Node where the Worker's module is at each call of the Worker and of an object, which takes up to a third
// of the time of a test.
const importModule: ModuleRunner['import'] = Object.getPrototypeOf(moduleRunner).import
const worker = await import('../../src/index.ts')
moduleRunner.import = async (path) =>
  path.endsWith('/src/index.ts') ? worker : importModule.call(moduleRunner, path)

// V8 looks up the exports of Vitest's modules slowly, 15 % of the CPU time of the compositor, until they are read
// as a prototype.
const readAsPrototype = (object: object): unknown => Object.create(object).default
beforeAll(() => {
  for (const { exports } of evaluatedModules.idToModuleMap.values()) {
    if (exports) readAsPrototype(exports)
  }
})

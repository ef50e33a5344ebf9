import { env } from 'cloudflare:workers'
import { beforeEach, vi } from 'vitest'
import { jobsBindings } from '../../src/platform/db/shards.ts'

// One batch per database: `applyD1Migrations` makes several calls per migration.
const statements = env.TEST_MIGRATIONS.flatMap(({ queries }) => queries)
await Promise.all(
  [env.DB, ...jobsBindings(env)].map((database) =>
    database.batch(statements.map((sql) => database.prepare(sql))),
  ),
)

// Queue messages and alarms of the background log lines after a file has ended, which Vitest reports as an
// error. Warnings and errors are shown.
Object.assign(console, { log: () => {} })

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

import { env } from 'cloudflare:workers'
import { beforeEach, vi } from 'vitest'
import { jobsBindings } from '../../src/db/shards.ts'

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

// Tests have no network. A test that expects requests uses support/upstream.
beforeEach(() => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    throw new Error(`Unexpected request to ${new Request(input as RequestInfo).url}`)
  })
})

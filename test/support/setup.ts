import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, vi } from 'vitest'
import { jobsBindings } from '../../src/db/shards.ts'

const databases = [env.DB, ...jobsBindings(env)]
await Promise.all(databases.map((database) => applyD1Migrations(database, env.TEST_MIGRATIONS)))

// Tests have no network. A test that expects requests uses support/upstream.
beforeEach(() => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    throw new Error(`Unexpected request to ${new Request(input as RequestInfo).url}`)
  })
})

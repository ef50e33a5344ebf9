import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, vi } from 'vitest'

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS)

// Tests have no network. A test that expects requests uses support/upstream.
beforeEach(() => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    throw new Error(`Unexpected request to ${new Request(input as RequestInfo).url}`)
  })
})

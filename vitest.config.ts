import { subscribe } from 'node:diagnostics_channel'
import { globSync, readFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'
import { dirname, join } from 'node:path'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { WorkerReporter } from './scripts/worker-reporter.ts'

// The settings of a developer's `wrangler dev` must not reach the tests.
process.env['CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV'] = 'false'

const FILES = globSync(['test/**/*.test.{ts,tsx}', 'packages/*/test/**/*.test.ts'], {
  exclude: ['test/{node,browser}/**'],
})
/** At the beginning of a file that gets a Worker of its own, with the reason. */
const ALONE = /^\/\/ Alone: /m

/**
 * Which files share a Worker in each process, in the order of their starts. Sharing saves the seconds in which a Worker
 * loads its modules. The files share its memory, too: those of the compositor and the faults make others slow. They share
 * the timers that a test replaces: no work of the background may remain when those of the client do.
 */
const GROUPS: [name: string, includes: (file: string) => boolean][] = [
  ['alone', (file) => ALONE.test(readFileSync(file, 'utf8'))],
  ['faults', (file) => /\/(fairness|faults|model)\//.test(file)],
  ['packages', (file) => file.includes('packages/')],
  ['others', () => true],
]
const groupOf = (file: string) => GROUPS.findIndex(([, includes]) => includes(file))

/** Starts the groups one after the other: a file of another one would end a Worker. The longest files are in the first. */
class GroupAfterGroup extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => groupOf(a.moduleId) - groupOf(b.moduleId))
  }
}

/** Of code whose stack traces need no source map. */
const NO_MAP = { mappings: '' }

/**
 * Shortens what Node sends to each Worker: the pool encodes the bytes of a model as a JSON array of numbers, and the source
 * maps of dependencies are several times as long as their code.
 */
const shortModules: Plugin = {
  name: 'short-modules',
  enforce: 'pre',
  resolveId: (source, importer) =>
    importer && source.endsWith('.bin') ? `${join(dirname(importer), source)}?base64` : null,
  load(id) {
    const [file = '', query] = id.split('?')
    if (query !== 'base64') return null
    const text = readFileSync(file, 'base64')
    return { code: `export default Uint8Array.fromBase64('${text}').buffer`, map: NO_MAP }
  },
  transform: (code, id) => (id.includes('/node_modules/') ? { code, map: NO_MAP } : null),
}

// Node would compress its messages to the Workers, which are on the same machine.
subscribe('http.client.request.created', (message) => {
  const { request } = message as { request: ClientRequest }
  request.removeHeader('Sec-WebSocket-Extensions')
})

export default defineConfig(async () => ({
  plugins: [
    shortModules,
    cloudflareTest({
      remoteBindings: false,
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        // Four shards.
        d1Databases: {
          JOBS_DB_0: 'jobs-0',
          JOBS_DB_1: 'jobs-1',
          JOBS_DB_2: 'jobs-2',
          JOBS_DB_3: 'jobs-3',
        },
        bindings: {
          TEST_MIGRATIONS: await readD1Migrations('./migrations'),
          OUTPUT_SIGNING_SECRET: 'a secret for tests, 32 characters',
          ENCRYPTION_KEY: 'a third secret for tests, 32 characters',
          AUTH_SECRET: 'another secret for tests, 32 characters',
          DEV_MAILBOX: 'true',
          OPERATOR_TOKEN: 'operator-token-of-the-tests-32-characters',
          ALLOW_PRIVATE_URLS: 'false',
          WEBHOOK_RETRY_DELAYS: '1,1,2',
        },
      },
    }),
  ],
  test: {
    projects: GROUPS.map(([name], group) => ({
      extends: true as const,
      test: {
        name,
        include: FILES.filter((file) => groupOf(file) === group),
        isolate: name === 'alone',
        // The packages know no service.
        setupFiles: name === 'packages' ? [] : ['./test/support/setup-service.ts'],
      },
    })),
    setupFiles: ['./test/support/setup.ts'],
    restoreMocks: true,
    // For busy machines.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // See test/support/setup.ts.
    disableConsoleIntercept: true,
    reporters: ['default', new WorkerReporter()],
    maxWorkers: 2,
    sequence: { sequencer: GroupAfterGroup },
    provide: {
      matrix: process.env['TEST_MATRIX'] === 'all' ? ('all' as const) : ('sample' as const),
    },
    deps: {
      optimizer: {
        ssr: {
          enabled: true,
          rolldownOptions: {
            external: [/^node:/, /^cloudflare:/],
            plugins: [
              {
                name: 'uuid-of-the-tests',
                resolveId: (source: string, importer: string | undefined) =>
                  source === 'uuid' && importer?.includes('typeid-js')
                    ? join(import.meta.dirname, 'test/support/uuid.ts')
                    : null,
              },
            ],
          },
          // All hono modules that src imports. A missing module would load a second copy of Hono.
          include: [
            'hono',
            'hono/body-limit',
            'hono/cookie',
            'hono/factory',
            'hono/html',
            'hono/http-exception',
            'hono/jsx',
            'hono/jsx/jsx-dev-runtime',
            'hono/jsx/jsx-runtime',
            'hono/method-not-allowed',
            'hono/request-id',
            'hono/route',
            'hono/router/trie-router',
            'hono/secure-headers',
            'hono/trailing-slash',
            'hono/utils/cookie',
            '@cfworker/json-schema',
            '@hono/zod-validator',
            '@tensorflow/tfjs-backend-wasm',
            '@tensorflow/tfjs-converter',
            '@tensorflow/tfjs-core',
            'better-auth/adapters/drizzle',
            'better-auth/api',
            'better-auth/cookies',
            'better-auth/crypto',
            'better-auth/minimal',
            'drizzle-orm',
            'drizzle-orm/d1',
            'drizzle-orm/sqlite-core',
            'jose',
            'standardwebhooks',
            'stripe',
            'tldts',
            'typeid-js',
            'zod',
            'zod-openapi',
          ],
        },
      },
    },
  },
}))

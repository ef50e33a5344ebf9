import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'
import { StuckWorkerReporter } from './scripts/stuck-worker-reporter.ts'

export default defineConfig(async () => ({
  plugins: [
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
          OPERATOR_TOKEN: 'operator-token-of-the-tests',
          ALLOW_PRIVATE_URLS: 'false',
          WEBHOOK_RETRY_DELAYS: '1,1,2',
        },
      },
    }),
  ],
  test: {
    include: ['test/**/*.test.{ts,tsx}', 'packages/*/test/**/*.test.ts'],
    exclude: ['test/browser/**', 'test/node/**'],
    setupFiles: ['./test/support/setup.ts'],
    restoreMocks: true,
    testTimeout: 30_000, // for busy machines
    silent: 'passed-only',
    reporters: ['default', new StuckWorkerReporter()],
    maxWorkers: 2,
    coverage: { provider: 'istanbul', include: ['src/**'], reporter: ['text'] },
    deps: {
      optimizer: {
        ssr: {
          enabled: true,
          rolldownOptions: { external: [/^node:/, /^cloudflare:/] },
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
            'hono/secure-headers',
            'hono/trailing-slash',
            'hono/utils/cookie',
            '@hono/zod-validator',
            '@tensorflow/tfjs-backend-wasm',
            '@tensorflow/tfjs-converter',
            '@tensorflow/tfjs-core',
            'better-auth/adapters/drizzle',
            'better-auth/api',
            'better-auth/cookies',
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
          ],
        },
      },
    },
  },
}))

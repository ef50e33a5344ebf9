// Starts the service for tests and screenshots: as it is deployed, with the databases of `npm run dev`.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  convertV4MiniflareOptions,
  Log,
  LogLevel,
  Miniflare,
  type V4WorkerOptionsShape,
} from 'miniflare'
import { connectTo, OPERATOR_TOKEN, type Service } from '../test/node/support/service.ts'
import { buildWorker } from './built-worker.ts'
import { prepareLocalState } from './local-state.ts'
import { ROOT } from './wrangler.ts'

/** Whether wrangler reads the file .env. */
const DOT_ENV = 'CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV'
/** That of `prepareService`, for tests that start a service. */
const FOLDER = 'TEST_SERVICE'

/**
 * Builds the Worker, migrates its databases and reads wrangler.toml, all once.
 * @param folder receives the files, for this process and those that it starts
 */
export async function prepareService(folder: string): Promise<void> {
  buildWorker('src/index.ts', join(folder, 'worker'))
  await prepareLocalState(join(folder, 'state'))
  // Imported here, because loading wrangler takes a second.
  const { unstable_getMiniflareWorkerOptions: optionsOf } = await import('wrangler')
  // The settings of a developer must not reach the tests.
  process.env[DOT_ENV] = 'false'
  const { workerOptions } = optionsOf(join(ROOT, 'wrangler.toml'))
  delete process.env[DOT_ENV]
  writeFileSync(join(folder, 'options.json'), JSON.stringify(workerOptions))
  process.env[FOLDER] = folder
}

/** Of a service for pages, which show deliveries that wait for a retry. */
export const SLOW_RETRIES = { WEBHOOK_RETRY_DELAYS: '600' }

export interface StartedService extends Service {
  /** The log of the service so far, from level error. */
  log(): string
  /** Prints the log of the service if SHOW_SERVER_LOG is set. */
  close(): Promise<void>
}

/** Takes a few seconds. Images and webhook receivers on the loopback interface are allowed. */
export async function startService(vars: Record<string, string> = {}): Promise<StartedService> {
  const prepared = process.env[FOLDER]
  if (prepared === undefined) throw new Error('Run these tests with `npm test -- FOLDER`.')
  const folder = mkdtempSync(join(tmpdir(), 'try-on-node-'))
  cpSync(join(prepared, 'state', 'v3'), folder, { recursive: true })
  const shared: V4WorkerOptionsShape = JSON.parse(
    readFileSync(join(prepared, 'options.json'), 'utf8'),
  )
  const bindings = {
    ...shared.bindings,
    OUTPUT_SIGNING_SECRET: 'node-tests-secret-of-32-characters!!',
    ENCRYPTION_KEY: 'node-tests-secret-of-32-characters!!',
    AUTH_SECRET: 'node-tests-secret-of-32-characters!!',
    OPERATOR_TOKEN,
    DEV_MAILBOX: 'true',
    ALLOW_PRIVATE_URLS: 'true',
    WEBHOOK_RETRY_DELAYS: '1',
    ...vars,
  }
  let log = ''
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      // Passkeys require a name.
      host: 'localhost',
      port: 0,
      cf: false,
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs({ level, message }) {
        if (level === 'error') log += `${message}\n`
      },
      resourcePersistencePath: folder,
      workers: [
        {
          ...shared,
          ...buildWorker('src/index.ts', join(prepared, 'worker')),
          name: 'try-on',
          bindings,
        },
      ],
    }),
  )
  const { port } = await miniflare.ready
  const database = await miniflare.getD1Database('DB')
  return {
    ...connectTo(`http://localhost:${port}`, async (command) => {
      await database.batch(command.split(';').map((statement) => database.prepare(statement)))
    }),
    log: () => log,
    async close() {
      await miniflare.dispose()
      rmSync(folder, { recursive: true, force: true })
      if (process.env['SHOW_SERVER_LOG']) process.stderr.write(log)
    },
  }
}

/** Lets other processes use a service by `sharedService`. @returns their environment, and what ends the sharing */
export async function share(service: Service) {
  const server = createServer((request, response) => {
    text(request)
      .then(service.sql)
      .then(() => response.end())
      .catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    env: { TEST_SERVICE_URL: service.url, TEST_SQL_URL: `http://127.0.0.1:${port}` },
    close: () => server.close(),
  }
}

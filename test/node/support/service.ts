// Starts the service for tests in Node and in browsers: as it is deployed, with the databases of
// `npm run dev`.
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  convertV4MiniflareOptions,
  Log,
  LogLevel,
  Miniflare,
  type V4WorkerOptionsShape,
} from 'miniflare'
import { buildWorker } from '../../../scripts/built-worker.ts'

const OPERATOR_TOKEN = 'node-tests-operator-token-of-32-characters'

/** The response of POST /operator/organisations. */
export interface NewOrganisation {
  org_id: string
  webhook_secret: string
  workspaces: { id: string; name: string }[]
  api_keys: { test: string; live: string }
}

export interface Service {
  url: string
  /** Sends a request to the operator API. @throws Error unless the response is 2xx */
  operator<T>(method: string, path: string, body?: object): Promise<T>
  /** The log of the service so far, from level error. */
  log(): string
  newOrganisation(settings?: object): Promise<NewOrganisation>
  /** Runs statements of SQL on the database, in one transaction. */
  sql(command: string): Promise<void>
  /** Prints the log of the service if SHOW_SERVER_LOG is set. */
  close(): Promise<void>
}

/** Takes a few seconds. Images and webhook receivers on the loopback interface are allowed. */
export async function startService(vars: Record<string, string> = {}): Promise<Service> {
  // See scripts/test-service.ts.
  const prepared = process.env['TEST_SERVICE']
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
  const url = `http://localhost:${port}`
  const database = await miniflare.getD1Database('DB')

  async function operator<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${url}/operator${path}`, {
      method,
      headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return (response.status === 204 ? undefined : await response.json()) as T
  }
  return {
    url,
    operator,
    log: () => log,
    newOrganisation: (body = {}) =>
      operator('POST', '/organisations', { name: 'Acme Fashion', ...body }),
    async sql(command) {
      await database.batch(command.split(';').map((statement) => database.prepare(statement)))
    },
    async close() {
      await miniflare.dispose()
      rmSync(folder, { recursive: true, force: true })
      if (process.env['SHOW_SERVER_LOG']) process.stderr.write(log)
    },
  }
}

// Starts the service for tests in Node and in browsers: `wrangler dev` with an empty database.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevServer, wrangler } from '../../../scripts/wrangler.ts'

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
  /** Runs SQL on the database. */
  sql(command: string): void
  /** Prints the log of the service if SHOW_SERVER_LOG is set. */
  close(): Promise<void>
}

/** Takes a few seconds. Images and webhook receivers on the loopback interface are allowed. */
export async function startService(vars: Record<string, string> = {}): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'try-on-node-'))
  // Without it, `wrangler dev` migrates the databases.
  const migrated = process.env['TEST_STATE']
  if (migrated) cpSync(migrated, folder, { recursive: true })
  const persistTo = ['--persist-to', folder]
  const settings = Object.entries({
    OUTPUT_SIGNING_SECRET: 'node-tests-secret-of-32-characters!!',
    ENCRYPTION_KEY: 'node-tests-secret-of-32-characters!!',
    AUTH_SECRET: 'node-tests-secret-of-32-characters!!',
    OPERATOR_TOKEN,
    DEV_MAILBOX: 'true',
    ALLOW_PRIVATE_URLS: 'true',
    WEBHOOK_RETRY_DELAYS: '1',
    ...vars,
  }).flatMap(([name, value]) => ['--var', `${name}:${value}`])
  const options = ['--port', '0', '--log-level', 'error', ...persistTo, ...settings]
  let log = ''
  const server = await startDevServer(options, (text) => (log += text))

  async function operator<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${server.url}/operator${path}`, {
      method,
      headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return (response.status === 204 ? undefined : await response.json()) as T
  }
  return {
    url: server.url,
    operator,
    log: () => log,
    newOrganisation: (body = {}) =>
      operator('POST', '/organisations', { name: 'Acme Fashion', ...body }),
    sql(command) {
      wrangler('d1', 'execute', 'DB', '--local', ...persistTo, '--command', command)
    },
    async close() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
      if (process.env['SHOW_SERVER_LOG']) process.stderr.write(log)
    },
  }
}

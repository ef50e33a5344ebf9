// The benchmark harness: builds the service and runs three Workers in one workerd: the service as
// deployed, the service with instrumented bindings, and the baseline. Each has its own socket, because
// Miniflare's entry proxy would add time.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  convertV4MiniflareOptions,
  Log,
  LogLevel,
  Miniflare,
  type V4WorkerOptions,
  type V4WorkerOptionsShape,
} from 'miniflare'
import { unstable_getMiniflareWorkerOptions } from 'wrangler'
import { buildWorker } from '../scripts/built-worker.ts'
import { migrate } from '../scripts/migrate.ts'
import { ROOT } from '../scripts/wrangler.ts'
import { shardOf } from '../src/platform/ids.ts'

export const OPERATOR_TOKEN = 'operator-token-of-the-bench-32-characters'
/** The shards of `service` and of `instrumented`. */
const SHARDS = 4
const SECRETS = {
  OUTPUT_SIGNING_SECRET: 'a secret for benches, 32 characters',
  ENCRYPTION_KEY: 'another secret for benches, 32 characters',
  AUTH_SECRET: 'a third secret for benches, 32 characters',
  // Keeps mails, whose links confirm a sign-up.
  DEV_MAILBOX: 'true',
  OPERATOR_TOKEN,
  WEBHOOK_RETRY_DELAYS: '1,1,2',
}

/** The running Workers. URLs have no trailing slash. */
export interface Harness {
  /** As deployed, but without queue consumers, which would compete with the measured requests. */
  service: string
  /** With instrumented bindings, queue consumers, an instant engine and control endpoints. */
  instrumented: string
  baseline: string
  /** The jobs database of `service` and `baseline`. */
  database: D1Database
  /** The jobs databases of `instrumented`. */
  instrumentedShards: D1Database[]
  /** WebSocket URL of workerd's inspector. */
  inspector: string
  close(): Promise<void>
}

/** Runs a measurement with a new harness, and closes the harness afterwards. */
export async function withHarness<T>(measure: (harness: Harness) => Promise<T>): Promise<T> {
  const harness = await startHarness()
  try {
    return await measure(harness)
  } finally {
    await harness.close()
  }
}

async function startHarness(): Promise<Harness> {
  const { workerOptions } = unstable_getMiniflareWorkerOptions(join(ROOT, 'wrangler.toml'))
  const shared: V4WorkerOptionsShape = { ...workerOptions, assets: undefined }
  const state = mkdtempSync(join(tmpdir(), 'try-on-bench-'))
  const secret = { bindings: { GENERATION_ENGINE: 'compositor', ...SECRETS } }
  const socket = { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] }
  const idle = {
    JOBS: { queueName: 'idle-jobs' },
    TEST_JOBS: { queueName: 'idle-jobs' },
    WEBHOOKS: { queueName: 'idle-webhooks' },
  }
  const workers: V4WorkerOptions[] = [
    {
      ...shared,
      ...socket,
      name: 'service',
      // The baseline has one database, that of shard 0.
      bindings: { ...secret.bindings, OPEN_SHARDS: '0' },
      d1Databases: databasesOf('service'),
      ...build('src/index.ts'),
      queueProducers: idle,
      queueConsumers: [],
      // Pages read code examples from it.
      serviceBindings: { ASSETS: { disk: { path: join(ROOT, 'assets') } } },
    },
    {
      ...shared,
      ...secret,
      ...socket,
      name: 'instrumented',
      ...build('bench/worker.ts'),
      d1Databases: databasesOf('instrumented'),
    },
    {
      ...socket,
      name: 'baseline',
      compatibilityDate: shared.compatibilityDate,
      modules: [{ type: 'ESModule', path: 'baseline.js', contents: baselineSource() }],
      durableObjects: { BASELINE: { className: 'Baseline', useSQLite: true } },
      d1Databases: { DB: databasesOf('service')['JOBS_DB_0'] ?? { id: '' } },
      queueProducers: { JOBS: { queueName: 'idle-jobs' } },
    },
  ]
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      port: 0,
      cf: false,
      inspectorPort: 0,
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs: () => {}, // hides the service's log
      resourcePersistencePath: state,
      workers,
    }),
  )
  await miniflare.ready
  const address = async (name: string) =>
    (await miniflare.unsafeGetDirectURL(name)).href.replace(/\/$/, '')
  const open = async (worker: string) => {
    const databases: D1Database[] = []
    for (const name of Object.keys(databasesOf(worker))) {
      const database = await miniflare.getD1Database(name, worker)
      await migrate(database)
      databases.push(database)
    }
    return databases.slice(1)
  }
  const [database] = await open('service')
  const instrumentedShards = await open('instrumented')
  if (!database) throw new Error('The service has no jobs database')
  return {
    service: await address('service'),
    instrumented: await address('instrumented'),
    baseline: await address('baseline'),
    database,
    instrumentedShards,
    inspector: (await miniflare.getInspectorURL()).href,
    async close() {
      await miniflare.dispose()
      rmSync(state, { recursive: true, force: true })
    },
  }
}

/** The D1 bindings of a Worker, that of the accounts first. */
const databasesOf = (worker: string): Record<string, { id: string }> =>
  Object.fromEntries(
    ['DB', ...Array.from({ length: SHARDS }, (_, shard) => `JOBS_DB_${shard}`)].map((name) => [
      name,
      { id: `${worker}-${name}` },
    ]),
  )

/** The jobs database of an organisation of `instrumented`. */
export function shardFor(
  { instrumentedShards }: Harness,
  { orgId }: BenchOrganisation,
): D1Database {
  const shard = instrumentedShards[shardOf(orgId)]
  if (!shard) throw new Error(`${orgId} has no shard`)
  return shard
}

const BUILDS = mkdtempSync(join(tmpdir(), 'try-on-bench-builds-'))
process.on('exit', () => rmSync(BUILDS, { recursive: true, force: true }))

/** Builds a Worker, once for all harnesses. */
const build = (entry: string) => buildWorker(entry, join(BUILDS, entry.replaceAll('/', '-')))

const baselineSource = () =>
  stripTypeScriptTypes(readFileSync(join(import.meta.dirname, 'baseline.ts'), 'utf8'))

export interface BenchOrganisation {
  orgId: string
  workspaceId: string
  keys: { live: string; test: string }
}

/** Creates an organisation with enough credits and a high rate limit. */
export async function createOrganisation(
  worker: string,
  options: object = {},
): Promise<BenchOrganisation> {
  const response = await post(`${worker}/operator/organisations`, OPERATOR_TOKEN, {
    name: 'Bench',
    credits: 1_000_000_000,
    rate_limit_per_minute: 1_000_000,
    ...options,
  })
  const body = (await response.json()) as {
    org_id: string
    workspaces: [{ id: string }]
    api_keys: BenchOrganisation['keys']
  }
  return { orgId: body.org_id, workspaceId: body.workspaces[0].id, keys: body.api_keys }
}

/** The default body of a submission. */
export const TRY_ON = {
  model_image_url: 'https://cdn.bench.test/model.jpg',
  garment_image_url: 'https://cdn.bench.test/garment.jpg',
}

/**
 * Submits jobs, fifty at a time.
 * @returns their ids
 * @throws Error for a status other than 2xx
 */
export async function submitMany(url: string, key: string, jobs: number): Promise<string[]> {
  const submit = async () => {
    const response = await post(url, key, TRY_ON)
    return ((await response.json()) as { job_id: string }).job_id
  }
  const ids: string[] = []
  while (ids.length < jobs) {
    const length = Math.min(50, jobs - ids.length)
    ids.push(...(await Promise.all(Array.from({ length }, submit))))
  }
  return ids
}

/** @throws Error for a status other than 2xx */
export async function post(url: string, token: string, body?: object): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${await response.text()}`)
  return response
}

/** Calls a control endpoint of the instrumented Worker. */
export async function control<T>(harness: Harness, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${harness.instrumented}/bench/${path}`, {
    method: 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}

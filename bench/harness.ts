// The test stand: builds the service, and runs it in one workerd beside its floor and its counted
// twin, each with a socket of its own, past Miniflare's entry.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import type { V4WorkerOptions, V4WorkerOptionsShape } from 'miniflare'
import { unstable_getMiniflareWorkerOptions } from 'wrangler'
import { ROOT, wrangler } from '../scripts/wrangler.ts'

export const OPERATOR_TOKEN = 'operator-token-of-the-bench'
const SECRETS = {
  OUTPUT_SIGNING_SECRET: 'a secret for benches, 32 characters',
  ENCRYPTION_KEY: 'another secret for benches, 32 characters',
  OPERATOR_TOKEN,
  WEBHOOK_RETRY_DELAYS: '1,1,2',
}

/** A Worker by its address, without a slash at the end. */
export interface Stand {
  /** As deployed, but that nothing takes its messages: they would compete with what is measured. */
  real: string
  /** Counted, with consumers, an instant engine and a back door. */
  counted: string
  floor: string
  /** D1 of `real` and `floor`. */
  database: D1Database
  /** D1 of `counted`. */
  countedDatabase: D1Database
  close(): Promise<void>
}

/** Runs a measurement on a stand of its own, built and started for it. */
export async function onStand<T>(measure: (stand: Stand) => Promise<T>): Promise<T> {
  const stand = await startStand()
  try {
    return await measure(stand)
  } finally {
    await stand.close()
  }
}

async function startStand(): Promise<Stand> {
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
      ...secret,
      ...socket,
      name: 'real',
      ...build('src/index.ts', join(state, 'real')),
      queueProducers: idle,
      queueConsumers: [],
    },
    {
      ...shared,
      ...secret,
      ...socket,
      name: 'counted',
      ...build('bench/worker.ts', join(state, 'counted')),
      d1Databases: { DB: { id: 'counted' } },
    },
    {
      ...socket,
      name: 'floor',
      compatibilityDate: shared.compatibilityDate,
      modules: [{ type: 'ESModule', path: 'floor.js', contents: floorSource() }],
      durableObjects: { FLOOR: { className: 'Floor', useSQLite: true } },
      d1Databases: { DB: { id: 'DB' } },
      queueProducers: { JOBS: { queueName: 'idle-jobs' } },
    },
  ]
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      port: 0,
      cf: false,
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs: () => {}, // the service's own log
      resourcePersistencePath: state,
      workers,
    }),
  )
  await miniflare.ready
  const address = async (name: string) =>
    (await miniflare.unsafeGetDirectURL(name)).href.replace(/\/$/, '')
  const database = await miniflare.getD1Database('DB', 'real')
  const countedDatabase = await miniflare.getD1Database('DB', 'counted')
  for (const each of [database, countedDatabase]) await migrate(each)
  return {
    real: await address('real'),
    counted: await address('counted'),
    floor: await address('floor'),
    database,
    countedDatabase,
    async close() {
      await miniflare.dispose()
      rmSync(state, { recursive: true, force: true })
    },
  }
}

function build(entry: string, folder: string) {
  wrangler('deploy', entry, '--dry-run', '--outdir', folder)
  const types = { js: 'ESModule', wasm: 'CompiledWasm', png: 'Data', jpg: 'Data' } as const
  const main = `${entry.split('/').at(-1)?.replace(/\.ts$/, '')}.js`
  const modules = readdirSync(folder).flatMap((file) => {
    const type = types[file.split('.').at(-1) as keyof typeof types]
    return type ? [{ type, path: join(folder, file) }] : []
  })
  // The first module is the entry.
  modules.sort((a, b) => Number(b.path.endsWith(main)) - Number(a.path.endsWith(main)))
  return { modules, modulesRoot: folder }
}

const floorSource = () =>
  stripTypeScriptTypes(readFileSync(join(import.meta.dirname, 'floor.ts'), 'utf8'))

async function migrate(database: D1Database): Promise<void> {
  const folder = join(ROOT, 'migrations')
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.sql')) continue
    const statements = readFileSync(join(folder, file), 'utf8').split('--> statement-breakpoint')
    await database.batch(statements.map((sql) => database.prepare(sql)))
  }
}

export interface Shop {
  orgId: string
  workspaceId: string
  keys: { live: string; test: string }
}

/** A new organisation with all the credits and requests it may want. */
export async function newShop(worker: string, order: object = {}): Promise<Shop> {
  const answer = await post(`${worker}/operator/organisations`, OPERATOR_TOKEN, {
    name: 'Bench',
    credits: 1_000_000_000,
    rate_limit_per_minute: 1_000_000,
    ...order,
  })
  const body = (await answer.json()) as {
    org_id: string
    workspaces: [{ id: string }]
    api_keys: Shop['keys']
  }
  return { orgId: body.org_id, workspaceId: body.workspaces[0].id, keys: body.api_keys }
}

/** What is submitted where it does not matter what. */
export const TRY_ON = {
  model_image_url: 'https://cdn.bench.test/model.jpg',
  garment_image_url: 'https://cdn.bench.test/garment.jpg',
}

/**
 * Submits jobs, fifty at a time.
 * @returns their ids
 * @throws Error on any answer but 2xx
 */
export async function submitMany(url: string, key: string, jobs: number): Promise<string[]> {
  const submit = async () => {
    const answer = await post(url, key, TRY_ON)
    return ((await answer.json()) as { job_id: string }).job_id
  }
  const ids: string[] = []
  while (ids.length < jobs) {
    const length = Math.min(50, jobs - ids.length)
    ids.push(...(await Promise.all(Array.from({ length }, submit))))
  }
  return ids
}

/** @throws Error on any answer but 2xx */
export async function post(url: string, token: string, body?: object): Promise<Response> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
  return answer
}

/** Opens the counted Worker's back door. */
export async function door<T>(stand: Stand, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`${stand.counted}/bench/${path}`, {
    method: 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as T
}

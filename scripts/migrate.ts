// `npm run db:migrate` and `npm run db:migrate:remote [-- --env staging]`: migrates every D1 database of
// wrangler.toml. All of them have the same migrations.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { ROOT, wranglerAsync } from './wrangler.ts'
import { readDeploymentConfig } from './wrangler-config.ts'

type LocalDatabase = Awaited<ReturnType<Miniflare['getD1Database']>>

/** As wrangler creates it, which applies the migrations of deployed databases. */
const CREATE_HISTORY = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`

/**
 * Runs Miniflare on the local state of `wrangler dev`.
 * @param name of the Worker, which is part of the names of its objects
 * @param persistTo the folder of the local state; wrangler's default if undefined
 */
export async function withLocalState(
  {
    persistTo = join(ROOT, '.wrangler', 'state'),
    databases,
    name = 'migrations',
    script = 'export default {}',
    durableObjects = {},
  }: {
    persistTo?: string | undefined
    databases: { localId: string }[]
    name?: string
    script?: string
    durableObjects?: Record<string, { className: string; useSQLite: boolean }>
  },
  work: (miniflare: Miniflare) => Promise<void>,
): Promise<void> {
  const ids = databases.map(({ localId }) => localId)
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      log: new Log(LogLevel.ERROR),
      resourcePersistencePath: join(persistTo, 'v3'),
      workers: [
        {
          name,
          compatibilityDate: readDeploymentConfig(undefined).compatibilityDate,
          compatibilityFlags: ['nodejs_compat'],
          modules: [{ type: 'ESModule', path: 'worker.js', contents: script }],
          d1Databases: Object.fromEntries(ids.map((id) => [id, { id }])),
          durableObjects,
        },
      ],
    }),
  )
  try {
    await work(miniflare)
  } finally {
    await miniflare.dispose()
  }
}

/**
 * Migrates the local databases, in one process for all: wrangler takes seconds for each one.
 * @param persistTo the folder of the local state; wrangler's default if undefined
 */
export async function migrateLocally(persistTo?: string): Promise<void> {
  const { databases } = readDeploymentConfig(undefined)
  await withLocalState({ persistTo, databases }, async (miniflare) => {
    for (const { localId } of databases) await migrate(await miniflare.getD1Database(localId))
  })
}

/** Applies each migration and records it, in one transaction. */
export async function migrate(database: LocalDatabase): Promise<void> {
  await database.prepare(CREATE_HISTORY).run()
  const { results } = await database
    .prepare('SELECT name FROM d1_migrations')
    .all<{ name: string }>()
  const applied = new Set(results.map(({ name }) => name))
  for (const file of globSync(join(ROOT, 'migrations', '*.sql')).sort()) {
    const name = basename(file)
    if (applied.has(name)) continue
    const statements = readFileSync(file, 'utf8').split('--> statement-breakpoint')
    await database.batch([
      ...statements.map((sql) => database.prepare(sql)),
      database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name),
    ])
  }
}

/**
 * Migrates the deployed databases one after the other, because two bindings may share a database. Stops
 * at the first failure: the command can run again, since D1 stores which migrations were applied.
 * @param environment of wrangler.toml; undefined for the top level
 * @param run runs wrangler and @throws when it fails
 */
export async function migrateRemotely(
  environment: string | undefined,
  run: (...args: string[]) => Promise<unknown>,
): Promise<void> {
  for (const { binding } of readDeploymentConfig(environment).databases) {
    await run('d1', 'migrations', 'apply', binding, '--remote', '--env', environment ?? '')
  }
}

if (import.meta.main) {
  try {
    const { values } = parseArgs({
      options: {
        local: { type: 'boolean' },
        remote: { type: 'boolean' },
        env: { type: 'string' },
        'persist-to': { type: 'string' },
      },
    })
    if (values.remote) {
      await migrateRemotely(values.env, (...args) =>
        wranglerAsync(args, { onOutput: (text) => process.stdout.write(text) }),
      )
    } else {
      await migrateLocally(values['persist-to'])
      console.log('The local databases are migrated.')
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

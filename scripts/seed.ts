// `npm run seed`, also part of each build for `wrangler dev`: migrates the local databases, and creates an
// organisation with fixed keys, a fixed webhook secret and 100 credits if it does not exist.
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { createKey, hashKey } from '../src/credits/api-key.ts'
import { migrate, withLocalState } from './migrate.ts'
import { ROOT } from './wrangler.ts'
import { readDeploymentConfig } from './wrangler-config.ts'

const ORGANISATION_ID = 'org_00000000000000000000000001'
const CREDITS = { amount: 100, reason: 'Development', reference: 'seed' }

/** The development organisation. Its keys and its secret are public and exist only in local databases. */
export const DEVELOPMENT = {
  organisationId: ORGANISATION_ID,
  workspaceId: 'ws_00000000000000000000000001',
  testKey: createKey(ORGANISATION_ID, 'test', 'development'.padEnd(32, '0')),
  liveKey: createKey(ORGANISATION_ID, 'live', 'development'.padEnd(32, '0')),
  webhookSecret: `whsec_${Buffer.from('for-development-only-not-a-secret').toString('base64')}`,
}

/** Credits are stored in the Durable Object. This one has the class name and the storage of the service's. */
const OBJECT = `
  import { DurableObject } from 'cloudflare:workers'
  import { Stores } from './src/credits/stores.ts'
  export class Organisation extends DurableObject {
    grant(grant) { return new Stores(this.ctx.storage).open().ledger.grant(grant) }
  }
  export default {}`

/**
 * Migrates the databases of an environment, and creates the development organisation if it is missing.
 * @param persistTo the folder of the local state; wrangler's default if undefined
 * @param environment of wrangler.toml; undefined for the top level
 */
export async function seed(persistTo?: string, environment?: string): Promise<void> {
  const { worker, databases } = readDeploymentConfig(environment)
  const {
    outputFiles: [script],
  } = await build({
    stdin: { contents: OBJECT, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    external: ['cloudflare:*', 'node:*'],
  })
  const objects = { ORGANISATION: { className: 'Organisation', useSQLite: true } }
  const options = { name: worker, script: script?.text ?? '', durableObjects: objects }
  await withLocalState({ persistTo, databases, ...options }, async (miniflare) => {
    for (const { localId } of databases) await migrate(await miniflare.getD1Database(localId))
    const accounts = databases.find(({ binding }) => binding === 'DB')
    await insertOrganisation(await miniflare.getD1Database(accounts?.localId ?? 'DB'))
    const namespace = await miniflare.getDurableObjectNamespace('ORGANISATION')
    const stub = namespace.get(namespace.idFromName(ORGANISATION_ID)) as unknown as {
      grant(grant: typeof CREDITS): Promise<unknown>
    }
    await stub.grant(CREDITS)
  })
}

type Database = Parameters<typeof migrate>[0]

async function insertOrganisation(database: Database): Promise<void> {
  const { organisationId, workspaceId, testKey, liveKey, webhookSecret } = DEVELOPMENT
  const now = Date.now()
  const insert = (table: string, row: Record<string, string | number>) =>
    database
      .prepare(
        `INSERT OR IGNORE INTO ${table} (${Object.keys(row).join()})
         VALUES (${Object.keys(row).fill('?').join()})`,
      )
      .bind(...Object.values(row))
  const keyInsert = (id: string, mode: string, key: string) =>
    insert('api_keys', {
      id,
      organisation_id: organisationId,
      mode,
      name: 'Development',
      hash: hashKey(key),
      last_four: key.slice(-4),
      created_at: now,
    })
  await database.batch([
    insert('organisations', {
      id: organisationId,
      name: 'Development',
      plan: 'starter',
      region_code: 'GLOBAL',
      rate_limit_per_minute: 600,
      rate_limit_overridden: 1,
      webhook_secret: webhookSecret,
      created_at: now,
    }),
    insert('workspaces', {
      id: workspaceId,
      organisation_id: organisationId,
      name: 'Default',
      created_at: now,
    }),
    keyInsert('key_00000000000000000000000001', 'test', testKey),
    keyInsert('key_00000000000000000000000002', 'live', liveKey),
  ])
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { 'persist-to': { type: 'string' } } })
  await seed(values['persist-to'])
  console.log(`The local database is ready.
  test key        ${DEVELOPMENT.testKey}
  live key        ${DEVELOPMENT.liveKey}
  webhook secret  ${DEVELOPMENT.webhookSecret}`)
}

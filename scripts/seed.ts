// `npm run seed`, also part of `npm run dev`: migrates the local databases, and creates an organisation
// with fixed keys and a fixed webhook secret when the database is empty.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashKey, createKey } from '../src/organisation/api-key.ts'
import { migrateLocally } from './migrate.ts'
import { startDevServer, wrangler } from './wrangler.ts'

const ORGANISATION_ID = 'org_00000000000000000000000001'
const CREDITS = 100

/** The development organisation. Its keys and its secret are public and exist only in local databases. */
export const DEVELOPMENT = {
  organisationId: ORGANISATION_ID,
  workspaceId: 'ws_00000000000000000000000001',
  testKey: createKey(ORGANISATION_ID, 'test', 'development'.padEnd(32, '0')),
  liveKey: createKey(ORGANISATION_ID, 'live', 'development'.padEnd(32, '0')),
  webhookSecret: `whsec_${Buffer.from('for-development-only-not-a-secret').toString('base64')}`,
}

/**
 * Migrates the database, and seeds it when it is empty. Resets the webhook secret of the development
 * organisation, so that it is the one that is printed.
 * @param persistTo the folder of the local state; wrangler's default if undefined
 * @returns whether the development organisation is in the database
 */
export async function seed(persistTo: string | undefined): Promise<boolean> {
  const stateOptions = persistTo === undefined ? [] : ['--persist-to', persistTo]
  await migrateLocally(persistTo)
  const existing = execute(
    stateOptions,
    `UPDATE organisations SET webhook_secret = '${DEVELOPMENT.webhookSecret}',
       webhook_secret_previous = NULL, webhook_secret_previous_until = NULL
       WHERE id = '${ORGANISATION_ID}';
     SELECT id FROM organisations ORDER BY id LIMIT 1`,
  )
  if (existing.length > 0) return existing[0]?.['id'] === ORGANISATION_ID
  await insertOrganisation(stateOptions)
  await grantCredits(stateOptions)
  return true
}

/** @returns the rows of the last statement */
function execute(stateOptions: string[], sql: string): Record<string, unknown>[] {
  const output = wrangler(
    'd1',
    'execute',
    'DB',
    '--local',
    '--json',
    ...stateOptions,
    '--command',
    sql,
  )
  const results = JSON.parse(output.slice(output.indexOf('['))) as {
    results: Record<string, unknown>[]
  }[]
  return results.at(-1)?.results ?? []
}

async function insertOrganisation(stateOptions: string[]): Promise<void> {
  const { organisationId, workspaceId, testKey, liveKey, webhookSecret } = DEVELOPMENT
  const now = Date.now()
  const keyRow = (id: string, mode: string, key: string) =>
    `('${id}', '${organisationId}', '${mode}', 'Development', '${hashKey(key)}', '${key.slice(-4)}', ${now})`
  const folder = mkdtempSync(join(tmpdir(), 'try-on-seed-'))
  const file = join(folder, 'seed.sql')
  writeFileSync(
    file,
    `INSERT INTO organisations
       (id, name, plan, region_code, rate_limit_per_minute, rate_limit_overridden,
        webhook_secret, created_at)
       VALUES ('${organisationId}', 'Development', 'starter', 'GLOBAL', 600, true,
               '${webhookSecret}', ${now});
     INSERT INTO workspaces (id, organisation_id, name, created_at)
       VALUES ('${workspaceId}', '${organisationId}', 'Default', ${now});
     INSERT INTO api_keys (id, organisation_id, mode, name, hash, last_four, created_at) VALUES
       ${keyRow('key_00000000000000000000000001', 'test', testKey)},
       ${keyRow('key_00000000000000000000000002', 'live', liveKey)};`,
  )
  try {
    wrangler('d1', 'execute', 'DB', '--local', ...stateOptions, '--file', file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Credits are stored in the Durable Object, so only the running service can add them. */
async function grantCredits(stateOptions: string[]): Promise<void> {
  const token = crypto.randomUUID()
  const server = await startDevServer(
    [
      '--port',
      '0',
      ...stateOptions,
      '--var',
      `OPERATOR_TOKEN:${token}`,
      '--var',
      `OUTPUT_SIGNING_SECRET:${token}`,
    ],
    () => {},
  )
  try {
    const response = await fetch(
      `${server.url}/operator/organisations/${ORGANISATION_ID}/credits`,
      {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}` },
        body: JSON.stringify({ amount: CREDITS, reason: 'Development', reference: 'seed' }),
      },
    )
    if (!response.ok) throw new Error(`Granting credits failed: ${await response.text()}`)
  } finally {
    await server.stop()
  }
}

if (import.meta.main) {
  await seed(undefined)
  console.log(`The local database is ready.
  test key        ${DEVELOPMENT.testKey}
  live key        ${DEVELOPMENT.liveKey}
  webhook secret  ${DEVELOPMENT.webhookSecret}`)
}

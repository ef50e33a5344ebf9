// `npm run db:migrate` and `npm run db:migrate:remote [-- --env staging]`: migrates every D1 database of
// wrangler.toml. All of them have the same migrations.
import { parseArgs } from 'node:util'
import { wranglerAsync } from './wrangler.ts'
import { readDeploymentConfig } from './wrangler-config.ts'

/**
 * Migrates the local databases.
 * @param persistTo the folder of the local state; wrangler's default if undefined
 * @throws Error with wrangler's output
 */
export async function migrateLocally(persistTo: string | undefined): Promise<void> {
  const state = persistTo === undefined ? [] : ['--persist-to', persistTo]
  const { databases } = readDeploymentConfig(undefined)
  // Each binding has a file of its own.
  await Promise.all(
    databases.map(({ binding }) =>
      wranglerAsync(['d1', 'migrations', 'apply', binding, '--local', ...state]),
    ),
  )
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
  const { values } = parseArgs({
    options: {
      local: { type: 'boolean' },
      remote: { type: 'boolean' },
      env: { type: 'string' },
      'persist-to': { type: 'string' },
    },
  })
  try {
    if (values.remote) {
      await migrateRemotely(values.env, (...args) =>
        wranglerAsync(args, { onOutput: (text) => process.stdout.write(text) }),
      )
    } else {
      await migrateLocally(values['persist-to'])
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

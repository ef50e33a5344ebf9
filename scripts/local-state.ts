// The local databases of `wrangler dev`.
import { join } from 'node:path'
import { buildWhenChanged } from './build-when-changed.ts'
import { ROOT } from './wrangler.ts'

/**
 * Migrates and seeds the local databases, unless this was done with the same migrations.
 * @param persistTo the folder of the local state; wrangler's default if undefined
 * @param environment of wrangler.toml; undefined for the top level
 */
export async function prepareLocalState(
  persistTo = join(ROOT, '.wrangler', 'state'),
  environment?: string,
): Promise<void> {
  const databases = join(persistTo, 'v3', 'd1')
  await buildWhenChanged(
    {
      root: ROOT,
      stamp: join(databases, `.inputs-${environment ?? ''}`),
      inputs: ['migrations/*.sql', 'scripts/seed.ts', 'wrangler.toml'],
      outputs: [databases],
    },
    async () => {
      // Imported here, because loading Miniflare takes a second.
      const { DEVELOPMENT, seed } = await import('./seed.ts')
      await seed(persistTo, environment)
      console.log(`The local database is ready. Test key: ${DEVELOPMENT.testKey}`)
    },
  )
}

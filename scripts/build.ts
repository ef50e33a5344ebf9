// The build command of wrangler.toml. It prepares what `wrangler dev` and `wrangler deploy` need, so that they do the
// same without `npm run dev` and `npm run deploy`: local databases, and the checks and migrations of a deployment.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildWhenChanged } from './build-when-changed.ts'
import { optionOf, ROOT, wranglerArguments, wranglerAsync } from './wrangler.ts'

const command = process.env['WRANGLER_COMMAND']
const args = wranglerArguments()
const environment =
  (optionOf(args, '--env') ?? optionOf(args, '-e') ?? process.env['CLOUDFLARE_ENV']) || undefined

try {
  if (command === 'dev') await prepareDevelopment(optionOf(args, '--persist-to'))
  if (command === 'deploy' || command === 'versions upload') await prepareDeployment()
  await import('./assets.ts')
} catch (error) {
  // The messages of these errors say what to do.
  const isExpected = error instanceof Error && /^(Deploy|Build)Error$/.test(error.name)
  console.error(isExpected ? error.message : error)
  process.exitCode = 1
}

/** Migrates and seeds the local databases, unless this was done with the same migrations. */
async function prepareDevelopment(persistTo = join(ROOT, '.wrangler', 'state')): Promise<void> {
  if (args.includes('--remote')) {
    const error = new Error('The settings of .env are for this computer: omit the option --remote.')
    throw Object.assign(error, { name: 'BuildError' })
  }
  if (existsSync(join(ROOT, '.dev.vars'))) {
    console.error('Wrangler ignores .env because .dev.vars exists. Rename .dev.vars to .env.local.')
  }
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

async function prepareDeployment(): Promise<void> {
  const { DEPLOYMENT_IS_PREPARED, prepareDeployment: prepare } = await import('./deploy.ts')
  if (process.env[DEPLOYMENT_IS_PREPARED]) return
  await prepare({
    environment,
    dryRun: args.includes('--dry-run'),
    env: process.env,
    print: console.log,
    run: (command) => wranglerAsync(command),
  })
}

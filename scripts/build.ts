// The build command of wrangler.toml. It prepares what `wrangler dev` and `wrangler deploy` need, so that they do the
// same without `npm run dev` and `npm run deploy`: local databases, and the checks and migrations of a deployment.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { prepareLocalState } from './local-state.ts'
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

/** Prepares the local databases. */
async function prepareDevelopment(persistTo?: string): Promise<void> {
  if (args.includes('--remote')) {
    const error = new Error('The settings of .env are for this computer: omit the option --remote.')
    throw Object.assign(error, { name: 'BuildError' })
  }
  if (existsSync(join(ROOT, '.dev.vars'))) {
    console.error('Wrangler ignores .env because .dev.vars exists. Rename .dev.vars to .env.local.')
  }
  await prepareLocalState(persistTo, environment)
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

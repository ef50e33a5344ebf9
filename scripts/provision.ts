// `npm run provision [-- --env staging|production] [--jurisdiction eu] [--dry-run]`: creates what a deployment
// needs on Cloudflare and reports what only the operator can do. Running it again changes nothing that exists.
// The jurisdiction is part of wrangler.toml. The option makes sure that it is the expected one.
import { parseArgs } from 'node:util'
import { CloudflareApi, ProvisionError } from './provision/cloudflare-api.ts'
import { provisionSteps } from './provision/steps.ts'
import type { Line } from './provision/step.ts'
import { ROOT } from './wrangler.ts'
import { readDeploymentConfig, type DeploymentConfig } from './wrangler-config.ts'

const USAGE =
  'Usage: npm run provision [-- --env staging|production] [--jurisdiction eu|us|fedramp] [--dry-run]'

interface Options {
  args: string[]
  /** CLOUDFLARE_API_TOKEN, CLOUDFLARE_ACCOUNT_ID and, for tests, CLOUDFLARE_API_BASE_URL. */
  env: Record<string, string | undefined>
  print: (line: string) => void
  /** Where generated secrets are stored. */
  secretsFolder: string
}

/**
 * Runs all steps and prints one line for each.
 * @throws ProvisionError when the operator must do something before it can continue
 */
export async function provision({ args, env, print, secretsFolder }: Options): Promise<void> {
  const { values } = parsed(args)
  const config = configOf(values.env)
  requireJurisdiction(config, values.jurisdiction)
  const dryRun = values['dry-run']
  const api = new CloudflareApi({
    baseUrl: env['CLOUDFLARE_API_BASE_URL'],
    token: required(
      env,
      'CLOUDFLARE_API_TOKEN',
      'Create a token at https://dash.cloudflare.com/profile/api-tokens (docs/deployment.md lists its permissions)',
    ),
    readOnly: dryRun,
  })
  const accountId = required(
    env,
    'CLOUDFLARE_ACCOUNT_ID',
    'The dashboard shows it under Workers & Pages',
  )
  print(
    `${dryRun ? 'Checking' : 'Provisioning'} ${config.worker} in the account ${accountId}${dryRun ? '. Nothing is changed.' : '.'}`,
  )
  const counts = { exists: 0, created: 0, 'would create': 0, 'needs you': 0 }
  const account = `/accounts/${encodeURIComponent(accountId)}`
  for await (const line of provisionSteps({ api, account, config, secretsFolder, dryRun })) {
    counts[line.status] += 1
    print(textOf(line))
  }
  const changes = dryRun ? counts['would create'] : counts.created
  const changed =
    changes === 0 ? 'Nothing to create.' : `${changes} ${dryRun ? 'to create' : 'created'}.`
  const open = counts['needs you']
  print(`${changed}${open > 0 ? ` ${open} ${open === 1 ? 'step needs' : 'steps need'} you.` : ''}`)
}

const textOf = ({ status, what, todo }: Line) =>
  `  ${status.padEnd('would create'.length)}  ${what}${todo ? `\n${' '.repeat(16)}${todo}` : ''}`

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        env: { type: 'string' },
        jurisdiction: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new ProvisionError(`${error instanceof Error ? error.message : error}\n${USAGE}`)
  }
}

function configOf(environment: string | undefined) {
  try {
    return readDeploymentConfig(environment)
  } catch (error) {
    throw new ProvisionError(error instanceof Error ? error.message : String(error))
  }
}

/** It cannot be changed once the resources exist. */
function requireJurisdiction(config: DeploymentConfig, expected: string | undefined): void {
  if (expected === undefined || expected === config.jurisdiction) return
  const section = config.environment ? `env.${config.environment}.` : ''
  throw new ProvisionError(
    `The jurisdiction in wrangler.toml is ${config.jurisdiction ?? 'not set'}. Set JURISDICTION = "${expected}" in [${section}vars] and jurisdiction = "${expected}" in ${section}r2_buckets. Nothing was created.`,
  )
}

function required(env: Options['env'], name: string, hint: string): string {
  const value = env[name]
  if (value) return value
  throw new ProvisionError(`${name} is not set. ${hint}.`)
}

if (import.meta.main) {
  try {
    const args = process.argv.slice(2)
    await provision({ args, env: process.env, print: console.log, secretsFolder: ROOT })
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error
    console.error(`\n${error.message}`)
    process.exitCode = 1
  }
}

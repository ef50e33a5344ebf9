// `npm run deploy [-- --env staging|production] [--dry-run]`: migrates all databases, deploys the code, and
// waits until the service is healthy. The first deployment starts cron and the queue consumers, so the
// tables and the secrets must exist before it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { alertProblems } from '../src/jobs/monitoring/alert-schema.ts'
import { publicDeploymentProblems } from '../src/platform/public-deployment.ts'
import { queueName } from '../src/platform/queues/queue-name.ts'
import { migrateRemotely } from './migrate.ts'
import { wranglerAsync } from './wrangler.ts'
import { readDeploymentConfig, type DeploymentConfig } from './wrangler-config.ts'

/** What the operator must do. The message has no stack trace. */
export class DeployError extends Error {
  override name = 'DeployError'
}

const EMBEDDED_ENGINE = 'compositor'

/** A new address of workers.dev or of a custom domain takes some time until it works. */
const HEALTH_ATTEMPTS = 40
const HEALTH_INTERVAL_MS = 3_000
const HEALTH_TIMEOUT_MS = 10_000

/** A line of wrangler's output file. */
const Deployed = z.object({
  type: z.literal('deploy'),
  version_id: z.string().nullish(),
  targets: z.array(z.string()).nullish(),
})

/** Set for the build of `wrangler deploy` (build.ts) when the deployment is already prepared. */
export const DEPLOYMENT_IS_PREPARED = 'TRY_ON_DEPLOYMENT_IS_PREPARED'

interface Tools {
  /** WORKERS_CI is set in Workers Builds, where the deploy button sets the secrets. */
  env: Record<string, string | undefined>
  print: (line: string) => void
  /** Runs wrangler. @returns its output. @throws Error with its output when it fails */
  run: (args: string[], env?: Record<string, string>) => Promise<string>
}

export interface DeployOptions extends Tools {
  args: string[]
  wait: (ms: number) => Promise<unknown>
}

/** @throws DeployError when a step fails; the later steps have not run */
export async function deploy({ args, env, print, run, wait }: DeployOptions): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { env: { type: 'string' }, 'dry-run': { type: 'boolean', default: false } },
  })
  const dryRun = values['dry-run']
  const { worker, vars } = readDeploymentConfig(values.env)
  const environment = environmentOption(values.env)
  print(dryRun ? `Deploying ${worker} would take these steps:` : `Deploying ${worker}`)
  await prepareDeployment({ environment: values.env, dryRun, env, print, run })
  if (dryRun) {
    print('  Building the Worker')
    await run(['deploy', '--dry-run', ...environment])
    print(`  would run  npx wrangler deploy ${environment.join(' ')}`)
    print('  would check  GET /health')
    return
  }
  print('  Deploying the code')
  const { version, targets } = await deployCode(run, environment)
  const url = vars.get('BASE_URL') ?? targets.find((target) => /^https?:/.test(target))
  const rollBack = `Version ${version} is live. Its log: npx wrangler tail ${environment.join(' ')}. To return to the version before: npx wrangler rollback ${environment.join(' ')}`
  if (!url) {
    print(`Deployed version ${version}. Set BASE_URL in wrangler.toml to have /health checked.`)
    return
  }
  const health = `${url.replace(/\/+$/, '')}/health`
  print(`  Checking ${health}`)
  const problem = await healthProblem(health, version, wait)
  if (problem) throw new DeployError(`${health} ${problem}.\n\n${rollBack}`)
  print(`Deployed version ${version}: ${url} is healthy.`)
}

// Without the option, wrangler warns that there are environments.
const environmentOption = (environment: string | undefined) => ['--env', environment ?? '']

/**
 * Checks the variables and the secrets, and migrates the databases.
 * @param environment of wrangler.toml; undefined for the top level
 * @param dryRun only checks the variables, and prints the commands
 * @param config only tests pass another one
 * @throws DeployError when a step fails; the later steps have not run
 */
export async function prepareDeployment({
  environment: name,
  dryRun,
  env,
  print,
  run,
  config = readDeploymentConfig(name),
}: Tools & {
  environment: string | undefined
  dryRun: boolean
  config?: DeploymentConfig
}): Promise<void> {
  const environment = environmentOption(name)
  const { worker, vars, databases, jurisdiction, limitedQueues } = config
  const suffix = name ? ` -- --env ${name}` : ''
  const step = async (what: string, command: string[], advice: string) => {
    print(dryRun ? `  would run  npx wrangler ${command.join(' ')}` : `  ${what}`)
    if (dryRun) return ''
    try {
      return await run(command)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      // Wrangler's message recommends a temporary account, which has none of the resources.
      if (message.includes('necessary to set a CLOUDFLARE_API_TOKEN')) {
        throw new DeployError(
          'Wrangler is not signed in. Nothing was changed. Set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID (docs/deployment.md), or run: npx wrangler login',
        )
      }
      throw new DeployError(`${message}\n\n${advice}`)
    }
  }
  const problems = publicDeploymentProblems(Object.fromEntries(vars))
  if (name === 'production' && !vars.has('BASE_URL')) {
    const message = 'is not set: set the public https URL of the service in [env.production.vars]'
    problems.push({ name: 'BASE_URL', message })
  }
  // `npm run provision` and the deploy button create a Worker with the embedded engine, which has no quota.
  const engines = (vars.get('GENERATION_ENGINE') ?? EMBEDDED_ENGINE).split(',')
  const isPaid = engines.some((engine) => engine.trim() !== EMBEDDED_ENGINE)
  if (isPaid && !limitedQueues.some((queue) => queueName(queue) === 'tryon-jobs')) {
    const message =
      'has an engine with a quota: set max_concurrency of the consumer of tryon-jobs (docs/engines.md)'
    problems.push({ name: 'GENERATION_ENGINE', message })
  }
  if (problems.length > 0) {
    const list = problems.map(({ name, message }) => `${name} ${message}`).join('; ')
    throw new DeployError(`wrangler.toml: ${list}. Nothing was changed.`)
  }
  if (!env['WORKERS_CI']) {
    const advice = `Nothing was changed. If the Worker does not exist, run: npm run provision${suffix}`
    const command = ['secret', 'list', '--format', 'json', ...environment]
    const secrets = await step('Checking the secrets', command, advice)
    if (!dryRun && !secrets.includes('"OUTPUT_SIGNING_SECRET"')) {
      throw new DeployError(
        `The Worker ${worker} has no secret OUTPUT_SIGNING_SECRET. Nothing was changed. Run: npm run provision${suffix}`,
      )
    }
    if (!dryRun) checkAlerts(vars, secrets, print)
  }
  if (!dryRun) await requireSameJurisdiction(vars.get('BASE_URL'), jurisdiction)
  await migrateRemotely(name, (...command) =>
    step(
      `Migrating ${command[3]}`,
      command,
      `The code was not deployed, and the running version works with the migrations that were applied. If a database does not exist, run: npm run provision${suffix}`,
    ),
  )
  await requireJobsInShard(databases, (...command) =>
    step('Looking for jobs in DB', [...command, ...environment], 'The code was not deployed.'),
  )
}

/**
 * Checks the settings of alerts, and says when there is no alert.
 * @param secrets the JSON of the names of the secrets, whose values are unknown
 * @throws DeployError for a wrong setting
 */
function checkAlerts(vars: DeploymentConfig['vars'], secrets: string, print: Tools['print']): void {
  const known = ['ALERT_ROUTING_KEY', 'ANALYTICS_TOKEN'].filter((name) =>
    secrets.includes(`"${name}"`),
  )
  const problems = alertProblems({
    ...Object.fromEntries(vars),
    ...Object.fromEntries(known.map((name) => [name, 'set'])),
  })
  if (problems.length > 0) throw new DeployError(`${problems.join('; ')}. Nothing was changed.`)
  if (vars.has('ALERT_MAIL') || secrets.includes('"ALERT_URL"')) return
  print('  No alert is sent: set ALERT_URL or ALERT_MAIL (docs/runbook.md)')
}

/**
 * The jobs of the first release are in DB. With another database as JOBS_DB_0, the service would not find
 * them, and would return the credits of those in progress.
 * @throws DeployError if DB has jobs and is not the first shard
 */
async function requireJobsInShard(
  databases: { binding: string; name: string }[],
  run: (...command: string[]) => Promise<string>,
): Promise<void> {
  const nameOf = (name: string) => databases.find(({ binding }) => binding === name)?.name
  if (nameOf('DB') === nameOf('JOBS_DB_0')) return
  const query = 'SELECT id FROM jobs LIMIT 1'
  const output = await run('d1', 'execute', 'DB', '--remote', '--json', '--command', query)
  if (!/"id":/.test(output)) return
  throw new DeployError(
    `The database ${nameOf('DB')} has jobs, and JOBS_DB_0 is another database. The code was not deployed. Give JOBS_DB_0 the database_name of DB in wrangler.toml (docs/deployment.md, "Upgrade from the first release").`,
  )
}

const Healthy = z.object({ status: z.literal('ok'), jurisdiction: z.string().nullish() })

/**
 * Organisations of another jurisdiction are other objects, which have no credits.
 * @throws DeployError if the running version has another jurisdiction; not if none runs or it is not healthy
 */
export async function requireSameJurisdiction(
  baseUrl: string | undefined,
  jurisdiction: string | undefined,
): Promise<void> {
  if (baseUrl === undefined) return
  const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS)
  const body: unknown = await fetch(new URL('/health', baseUrl), { signal })
    .then((response) => response.json())
    .catch(() => undefined)
  const running = Healthy.safeParse(body).data
  if (!running || (running.jurisdiction ?? undefined) === jurisdiction) return
  throw new DeployError(
    `The running version has the jurisdiction ${running.jurisdiction ?? 'none'}, and wrangler.toml ${jurisdiction ?? 'none'}. Organisations would not have their credits. Nothing was changed.`,
  )
}

async function deployCode(run: DeployOptions['run'], environment: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'try-on-deploy-'))
  const file = join(folder, 'output.ndjson')
  try {
    await run(['deploy', ...environment], {
      WRANGLER_OUTPUT_FILE_PATH: file,
      [DEPLOYMENT_IS_PREPARED]: 'true',
    })
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    const entry = lines
      .map((line) => Deployed.safeParse(JSON.parse(line)).data)
      .find((data) => data !== undefined)
    return { version: entry?.version_id ?? '', targets: entry?.targets ?? [] }
  } catch (error) {
    throw new DeployError(
      `${error instanceof Error ? error.message : error}\n\nThe databases are migrated. The running version works with the migrated databases. Correct the problem, and run the command again.`,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Why the service is not healthy after all attempts; undefined if it is. */
async function healthProblem(url: string, version: string, wait: DeployOptions['wait']) {
  let problem = ''
  for (let attempt = 1; attempt <= HEALTH_ATTEMPTS; attempt++) {
    if (attempt > 1) await wait(HEALTH_INTERVAL_MS)
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
      const body = (await response.text()).slice(0, 500)
      if (!response.ok) problem = `returned ${response.status}: ${body}`
      // For some seconds, the version before may still respond.
      else if (body.includes('"version":"') && !body.includes(version)) {
        problem = `does not return version ${version}: ${body}`
      } else return undefined
    } catch (error) {
      const reason = error instanceof Error ? (error.cause ?? error) : error
      problem = `cannot be reached (${String(reason)})`
    }
  }
  return problem
}

if (import.meta.main) {
  try {
    await deploy({
      args: process.argv.slice(2),
      env: process.env,
      print: console.log,
      run: async (args, env) => {
        // An error contains the output, so that it is printed once.
        const output = await wranglerAsync(args, { env })
        if (args[0] === 'deploy') console.log(output)
        return output
      },
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    })
  } catch (error) {
    console.error(`\n${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  }
}

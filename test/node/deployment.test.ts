// `npm run deploy`, the environments of wrangler.toml, the migrations, and a rehearsed restore of a database.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { unstable_readConfig as readConfig } from 'wrangler'
import { deploy, prepareDeployment, requireSameJurisdiction } from '../../scripts/deploy.ts'
import { migrateLocally } from '../../scripts/migrate.ts'
import { restoreDrill } from '../../scripts/restore-drill.ts'
import { readDeploymentConfig } from '../../scripts/wrangler-config.ts'
import { ROOT, wranglerAsync } from '../../scripts/wrangler.ts'
import { queueName } from '../../src/platform/queues/queue-name.ts'
import { copyRepository, type Copy } from './support/copy-repository.ts'

describe('npm run deploy', () => {
  const commands: string[] = []
  const printed: string[] = []
  /** The statuses of GET /health, the last one again and again. 0: 200 from the version before. */
  let health: number[] = []
  let requests: string[] = []
  let failing = ''
  let jobs = ''
  let secrets = '[{"name":"OUTPUT_SIGNING_SECRET","type":"secret_text"}]'
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    const status = (health.length > 1 ? health.shift() : health[0]) ?? 200
    const body = `{"status":"ok","version":"version-${status === 200 ? 1 : 0}"}`
    response.writeHead(Math.max(status, 200)).end(status === 503 ? '{"failing":["DB"]}' : body)
  })
  beforeEach(async () => {
    commands.length = printed.length = 0
    health = [200]
    requests = []
    failing = jobs = ''
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => new Promise<unknown>((resolve) => server.close(resolve)))

  function run(args: string[], env: Record<string, string> = {}) {
    const { port } = server.address() as AddressInfo
    return deploy({
      args,
      env,
      print: (line) => printed.push(line),
      wait: async () => {},
      run: async (command, variables) => {
        commands.push(command.join(' '))
        if (failing && command.join(' ').startsWith(failing)) throw new Error('wrangler failed')
        const file = variables?.['WRANGLER_OUTPUT_FILE_PATH']
        const targets = [`http://127.0.0.1:${port}`]
        const entry = { type: 'deploy', version_id: 'version-1', targets }
        if (file) writeFileSync(file, `{"type":"wrangler-session"}\n${JSON.stringify(entry)}\n`)
        if (command[1] === 'execute') return jobs
        return command[0] === 'secret' ? secrets : ''
      },
    })
  }

  it('migrates every database before it deploys, and then checks /health', async () => {
    health = [503, 0, 200]
    await run(['--env', 'staging'])
    assert.deepEqual(commands, [
      'secret list --format json --env staging',
      'd1 migrations apply DB --remote --env staging',
      'd1 migrations apply JOBS_DB_0 --remote --env staging',
      'd1 execute DB --remote --json --command SELECT id FROM jobs LIMIT 1 --env staging',
      'deploy --env staging',
    ])
    assert.deepEqual(requests, ['/health', '/health', '/health'])
    assert.match(printed.at(-1) ?? '', /Deployed version version-1: .* is healthy/)
  })

  it('fails with the way back when the service is not healthy', async () => {
    health = [503]
    await assert.rejects(
      run(['--env', 'staging']),
      /\/health returned 503: \{"failing":\["DB"\]\}[^]*wrangler rollback --env staging/,
    )
  })

  it('does not deploy production without BASE_URL', async () => {
    await assert.rejects(run(['--env', 'production']), /BASE_URL is not set: .*Nothing was changed/)
    assert.deepEqual(commands, [])
  })

  it('does not change the jurisdiction of a running version', async () => {
    const { port } = server.address() as AddressInfo
    const running = (jurisdiction?: string) =>
      requireSameJurisdiction(`http://127.0.0.1:${port}`, jurisdiction)
    await running()
    await assert.rejects(running('eu'), /jurisdiction none, and wrangler.toml eu\..*Nothing was/)
    // An unhealthy version must remain replaceable.
    health = [503]
    await running('eu')
  })

  it('deploys nothing when a migration fails', async () => {
    failing = 'd1 migrations apply JOBS_DB_0'
    await assert.rejects(run(['--env', 'staging']), /The code was not deployed/)
    assert.ok(!commands.some((command) => command.startsWith('deploy')))
    commands.length = 0
    failing = ''
    await run(['--env', 'staging'])
    assert.equal(commands.length, 5)
  })

  it('does not deploy when the jobs of the first release would be lost', async () => {
    jobs = '[{"results":[{"id":"job_1"}]}]'
    await assert.rejects(run(['--env', 'staging']), /Give JOBS_DB_0 the database_name of DB/)
    assert.ok(!commands.some((command) => command.startsWith('deploy')))
  })

  it('migrates nothing before the Worker and its secrets exist', async () => {
    failing = 'secret list'
    await assert.rejects(run([]), /npm run provision$/)
    failing = ''
    const existing = secrets
    secrets = '[{"name":"AUTH_SECRET","type":"secret_text"}]'
    await assert.rejects(
      run(['--env', 'staging']),
      /OUTPUT_SIGNING_SECRET.*provision -- --env staging$/,
    )
    assert.deepEqual([...new Set(commands.map((command) => command.split(' ')[0]))], ['secret'])
    // The deploy button sets the secrets itself.
    commands.length = 0
    await run([], { WORKERS_CI: '1' })
    assert.equal(commands[0], 'd1 migrations apply DB --remote --env ')
    secrets = existing
  })

  it('says that no alert is sent, and does not deploy a wrong setting of alerts', async () => {
    const prepare = (vars: Record<string, string>, names: string[] = []) =>
      prepareDeployment({
        environment: 'staging',
        dryRun: false,
        env: {},
        print: (line) => printed.push(line),
        run: async (command) =>
          command[0] === 'secret'
            ? JSON.stringify(['OUTPUT_SIGNING_SECRET', ...names].map((name) => ({ name })))
            : '',
        config: { ...readDeploymentConfig('staging'), vars: new Map(Object.entries(vars)) },
      })
    await prepare({})
    assert.match(printed.join('\n'), /No alert is sent: set ALERT_URL or ALERT_MAIL/)
    printed.length = 0
    await prepare({ ALERT_FORMAT: 'pagerduty' }, ['ALERT_URL', 'ALERT_ROUTING_KEY'])
    assert.doesNotMatch(printed.join('\n'), /No alert/)
    const pagerduty = prepare({ ALERT_FORMAT: 'pagerduty' }, ['ALERT_URL'])
    await assert.rejects(pagerduty, /ALERT_ROUTING_KEY is not set: .*Nothing was changed/)
    await assert.rejects(prepare({ ALERT_FORMAT: 'teams' }), /ALERT_FORMAT must be json/)
    await assert.rejects(prepare({ ALERT_MAIL: 'a@b.test' }), /ALERT_MAIL requires MAIL_FROM/)
  })

  it('does not deploy an engine with a quota without a limit of its calls', async () => {
    await assert.rejects(
      prepareDeployment({
        environment: 'staging',
        dryRun: true,
        env: {},
        print: () => {},
        run: async () => '',
        config: {
          ...readDeploymentConfig('staging'),
          vars: new Map([['GENERATION_ENGINE', 'compositor, fal']]),
        },
      }),
      /GENERATION_ENGINE has an engine with a quota: set max_concurrency/,
    )
  })

  it('explains a failed upload', async () => {
    failing = 'deploy'
    await assert.rejects(run([]), /The databases are migrated/)
    assert.deepEqual(requests, [])
  })

  it('only builds in a dry run', async () => {
    await run(['--env', 'staging', '--dry-run'])
    assert.deepEqual(commands, ['deploy --dry-run --env staging'])
    assert.match(printed.join('\n'), /would run {2}npx wrangler d1 migrations apply DB --remote/)
  })
})

describe('wrangler deploy', { timeout: 120_000 }, () => {
  let copy: Copy
  before(() => {
    copy = copyRepository()
  })
  after(() => copy.remove())
  /** Runs `npx wrangler deploy` in a copy. @returns its output and its exit code */
  async function deployCopy(change: (config: string) => string, ...args: string[]) {
    const file = join(copy.folder, 'wrangler.toml')
    writeFileSync(file, change(readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')))
    const { CLOUDFLARE_API_TOKEN: _, ...env } = process.env
    const options = { cwd: copy.folder, env }
    return promisify(execFile)('npx', ['wrangler', 'deploy', ...args], options).then(
      ({ stdout, stderr }) => ({ output: stdout + stderr, code: 0 }),
      (error: { stdout: string; stderr: string; code: number }) => ({
        output: error.stdout + error.stderr,
        code: error.code,
      }),
    )
  }
  const withVars = (vars: string) => (config: string) =>
    config.replace(/(\[env\.production\.vars\][^[]*?)BASE_URL = ""/, `$1${vars}`)

  it('refuses production without BASE_URL', async () => {
    const { output, code } = await deployCopy(
      (config) => config,
      '--env',
      'production',
      '--dry-run',
    )
    assert.match(output, /BASE_URL is not set/)
    assert.equal(code, 1)
  })

  it('refuses settings of development on a public address', async () => {
    const change = withVars('BASE_URL = "https://api.shop.test"\nDEV_MAILBOX = "true"')
    const { output, code } = await deployCopy(change, '--env', 'production', '--dry-run')
    assert.match(output, /DEV_MAILBOX is for development only/)
    assert.equal(code, 1)
  })

  it('builds production in a dry run, without the settings of .env', async () => {
    const change = withVars('BASE_URL = "https://api.shop.test"')
    const { output, code } = await deployCopy(change, '--env=production', '--dry-run')
    assert.match(
      output,
      /would run {2}npx wrangler d1 migrations apply DB --remote --env production/,
    )
    assert.match(output, /env\.BASE_URL \("https:\/\/api\.shop\.test"\)/)
    assert.doesNotMatch(output, /env\.(DEV_MAILBOX|ALLOW_PRIVATE_URLS|OUTPUT_SIGNING_SECRET)/)
    assert.equal(code, 0)
  })

  it('checks the secrets and migrates before it uploads', async () => {
    const change = withVars('BASE_URL = "https://api.shop.test"')
    const { output, code } = await deployCopy(change, '--env', 'production')
    assert.match(output, /Checking the secrets[^]*Wrangler is not signed in. Nothing was changed/)
    assert.doesNotMatch(output, /Total Upload/)
    assert.equal(code, 1)
  })
})

describe('the environments of wrangler.toml', () => {
  const NAMES = new Set(['database_name', 'bucket_name', 'queue', 'dead_letter_queue', 'dataset'])
  const configOf = (env?: string): Record<string, unknown> => ({
    ...readConfig({ config: join(ROOT, 'wrangler.toml'), env }, { hideWarnings: true }),
    name: undefined, // of the Worker
  })
  /** Without what may differ: names of resources, and the variables and addresses of an environment. */
  const comparable = (env?: string) => {
    const ignored = new Set([
      ...NAMES,
      'namespace_id',
      'preview_database_id',
      'targetEnvironment',
      'vars',
      'route',
      'routes',
    ])
    return JSON.parse(
      JSON.stringify(configOf(env), (key, value: unknown) =>
        ignored.has(key) ? undefined : value,
      ),
    ) as unknown
  }
  /** All names of resources of an environment. */
  const namesOf = (env?: string) => {
    const names = new Set<string>()
    JSON.stringify(configOf(env), (key, value: unknown) => {
      if (NAMES.has(key) && typeof value === 'string') names.add(`${value}`)
      return value
    })
    return names
  }
  const limiters = (env?: string) =>
    (configOf(env)['ratelimits'] as { namespace_id: string }[]).map((limit) => limit.namespace_id)

  for (const env of ['staging', 'production']) {
    it(`${env} has every binding of the top level, with the same settings`, () => {
      assert.deepEqual(comparable(env), comparable())
    })

    it(`${env} has every variable of the top level`, () => {
      const vars = Object.keys(configOf(env)['vars'] as object)
      for (const name of Object.keys(configOf()['vars'] as object)) assert.ok(vars.includes(name))
    })

    it(`${env} names its queues so that the Worker knows their consumers`, () => {
      const queuesOf = (name?: string) => readDeploymentConfig(name).queues
      assert.deepEqual(queuesOf(env).map(queueName), queuesOf(undefined))
    })

    it(`${env} has its own resources`, () => {
      const others = [undefined, 'staging', 'production'].filter((other) => other !== env)
      for (const other of others) {
        const shared = [...namesOf(env)].filter((name) => namesOf(other).has(name))
        assert.deepEqual(shared, [])
      }
    })
  }

  it('count failed authentications separately', () => {
    const all = [undefined, 'staging', 'production'].flatMap((env) => limiters(env))
    assert.equal(new Set(all).size, all.length)
  })
})

describe('the migrations', () => {
  // Released before this rule.
  const EXCEPTIONS = ['0003_privacy.sql', '0004_ambiguous_starts.sql']

  it('remove and rename no table and no column, so the version before works with them', () => {
    const files = globSync(join(ROOT, 'migrations', '*.sql'))
    assert.ok(files.length > EXCEPTIONS.length)
    for (const file of files.filter((path) => !EXCEPTIONS.includes(basename(path)))) {
      const sql = readFileSync(file, 'utf8')
      assert.doesNotMatch(sql, /\b(DROP (TABLE|COLUMN)|RENAME)\b/i, basename(file))
      // A column that the version before does not write needs a default.
      for (const added of sql.match(/\bADD [^;]*NOT NULL[^;]*/gi) ?? []) {
        assert.match(added, /DEFAULT/i, basename(file))
      }
    }
  })
})

describe('the rollback of migration 0008', () => {
  it('restores the indexes of jobs', () => {
    const files = globSync(join(ROOT, 'migrations', '*.sql')).sort()
    const before = files.findIndex((file) => basename(file).startsWith('0008'))
    const indexesAfter = (...paths: string[]) => {
      const database = new DatabaseSync(':memory:')
      for (const path of paths) database.exec(readFileSync(path, 'utf8'))
      const rows = database
        .prepare(
          "SELECT name, sql FROM sqlite_master WHERE name IN ('jobs_by_status', 'jobs_by_workspace_status', 'jobs_unfinished') ORDER BY name",
        )
        .all() as { name: string; sql: string }[]
      return rows.map(({ sql }) =>
        sql
          .replaceAll(/[`"]|"jobs"\./g, '')
          .replaceAll('jobs.', '')
          .replaceAll(/\s+/g, ''),
      )
    }
    const restored = indexesAfter(...files, join(ROOT, 'scripts/rollback/0008_operations.sql'))
    assert.equal(restored.length, 3)
    assert.deepEqual(restored, indexesAfter(...files.slice(0, before)))
  })
})

describe('npm run db:migrate', () => {
  it('migrates every local database as wrangler does, and only once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'try-on-migrate-'))
    try {
      await migrateLocally(folder)
      await migrateLocally(folder)
      const list = ['d1', 'migrations', 'list', 'JOBS_DB_0', '--local', '--persist-to', folder]
      assert.match(await wranglerAsync(list), /No migrations to apply/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('scripts/restore-drill.ts', () => {
  // Ten seconds of wrangler, for a script that rarely changes.
  const skip = process.env['TEST_MATRIX'] !== 'all'
  it('restores an export into an empty database without a difference', { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'try-on-drill-'))
    try {
      const { source, restored } = await restoreDrill(folder)
      assert.match(source, /Drill ''quoted'' "ü" ; --/)
      // A deployment after the restore applies only newer migrations.
      assert.match(source, /INSERT INTO "d1_migrations"/)
      assert.equal(restored, source)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

// `npm run provision` against a fake of Cloudflare's API on the loopback interface.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { CloudflareApi, ProvisionError } from '../../scripts/provision/cloudflare-api.ts'
import { mailStep } from '../../scripts/provision/mail.ts'
import { secretsFileOf } from '../../scripts/provision/secrets.ts'
import { provisionSteps } from '../../scripts/provision/steps.ts'
import { provision } from '../../scripts/provision.ts'
import { jurisdictionOf, readDeploymentConfig } from '../../scripts/wrangler-config.ts'
import {
  ACCOUNT,
  startFakeCloudflare,
  TOKEN,
  type FakeCloudflare,
} from './support/fake-cloudflare.ts'

const SECRETS = ['OUTPUT_SIGNING_SECRET', 'ENCRYPTION_KEY', 'AUTH_SECRET', 'OPERATOR_TOKEN']

describe('npm run provision', () => {
  let cloudflare: FakeCloudflare
  let secretsFolder = ''
  beforeEach(async () => {
    cloudflare = await startFakeCloudflare()
    secretsFolder = mkdtempSync(join(tmpdir(), 'try-on-provision-'))
  })
  afterEach(async () => {
    await cloudflare.close()
    rmSync(secretsFolder, { recursive: true, force: true })
  })

  /** @returns what it printed */
  async function run(args: string[], env: Record<string, string | undefined> = {}) {
    const lines: string[] = []
    await provision({
      args,
      env: {
        CLOUDFLARE_API_TOKEN: TOKEN,
        CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
        CLOUDFLARE_API_BASE_URL: cloudflare.url,
        ...env,
      },
      print: (line) => lines.push(line),
      secretsFolder,
    })
    return lines.join('\n')
  }
  const storedSecrets = (worker: string) =>
    parseEnv(readFileSync(secretsFileOf(secretsFolder, worker), 'utf8'))

  it('creates everything that an environment needs', async () => {
    const printed = await run(['--env', 'production'])
    const { databases, queues, buckets, workers } = cloudflare
    assert.deepEqual([...databases].sort(), ['try-on-jobs-0-production', 'try-on-production'])
    assert.deepEqual([...queues].sort(), [
      'tryon-jobs-dead-production',
      'tryon-jobs-production',
      'tryon-test-jobs-production',
      'tryon-webhooks-dead-production',
      'tryon-webhooks-production',
    ])
    const rules = buckets.get('try-on-images-production')
    assert.deepEqual(
      rules?.map(({ id, conditions, deleteObjectsTransition: deletion }) => [
        id,
        conditions?.prefix,
        deletion?.condition.maxAge,
      ]),
      [
        // The bucket's own rule for incomplete uploads.
        ['Default Multipart Abort Rule', '', undefined],
        ['inputs', 'inputs/', 86_400],
        ['uploads', 'uploads/', 2 * 86_400],
        ['outputs', 'outputs/', 366 * 86_400],
        ['thumbnails', 'thumbnails/', 7 * 86_400],
      ],
    )
    const secrets = workers.get('try-on-production')
    assert.deepEqual([...(secrets?.keys() ?? [])].sort(), [...SECRETS].sort())
    assert.match(printed, /created {7}D1 database try-on-production\n/)
    assert.match(printed, /needs you {5}variable BASE_URL\n.*\[env\.production\.vars\]/)
    assert.match(printed, /needs you {5}variable MAIL_FROM\n/)
  })

  describe('with a jurisdiction', () => {
    async function runIn(jurisdiction: 'eu') {
      const api = new CloudflareApi({ baseUrl: cloudflare.url, token: TOKEN, readOnly: false })
      const config = { ...readDeploymentConfig('production'), jurisdiction }
      const account = `/accounts/${ACCOUNT}`
      const steps = provisionSteps({ api, account, config, secretsFolder, dryRun: false })
      return Array.fromAsync(steps)
    }

    it('creates the databases and the bucket in it, once', async () => {
      await runIn('eu')
      assert.deepEqual(
        new Set(cloudflare.jurisdictions),
        new Set([
          ['try-on-production', 'eu'],
          ['try-on-jobs-0-production', 'eu'],
        ]),
      )
      assert.deepEqual([...cloudflare.buckets.keys()], ['eu/try-on-images-production'])
      assert.equal(cloudflare.buckets.get('eu/try-on-images-production')?.length, 5)
      cloudflare.requests.length = 0
      await runIn('eu')
      assert.deepEqual(cloudflare.writes(), [])
    })

    it('says which databases exist elsewhere', async () => {
      await run(['--env', 'production'])
      const lines = await runIn('eu')
      const elsewhere = lines.filter(({ todo }) => todo?.includes('exists elsewhere'))
      assert.deepEqual(
        elsewhere.map(({ what }) => what).sort(),
        ['try-on-jobs-0-production', 'try-on-production'].map(
          (name) => `D1 database ${name} in the jurisdiction eu`,
        ),
      )
    })

    it('creates nothing if wrangler.toml names another one', async () => {
      await assert.rejects(
        run(['--env', 'production', '--jurisdiction', 'eu']),
        /JURISDICTION = "eu" in \[env\.production\.vars\]/,
      )
      assert.deepEqual(cloudflare.writes(), [])
    })
  })

  it('stores generated secrets in a file of the owner, and prints none', async () => {
    const printed = await run([])
    const stored = storedSecrets('try-on')
    assert.deepEqual(new Map(Object.entries(stored)), cloudflare.workers.get('try-on'))
    for (const name of SECRETS) {
      assert.match(stored[name] ?? '', /^[0-9a-f]{64}$/)
      assert.ok(!printed.includes(stored[name] ?? ''))
    }
    assert.equal(statSync(secretsFileOf(secretsFolder, 'try-on')).mode & 0o777, 0o600)
    assert.match(printed, /\.secrets\.try-on\.env to your password manager/)
  })

  it('changes nothing when it runs again', async () => {
    await run(['--env', 'staging'])
    cloudflare.requests.length = 0
    const secrets = new Map(cloudflare.workers.get('try-on-staging'))
    const printed = await run(['--env', 'staging'])
    assert.deepEqual(cloudflare.writes(), [])
    assert.deepEqual(cloudflare.workers.get('try-on-staging'), secrets)
    assert.doesNotMatch(printed, /created {2}/)
    assert.match(printed, /Nothing to create\./)
  })

  it('only reads in a dry run', async () => {
    const printed = await run(['--env', 'production', '--dry-run'])
    assert.deepEqual(cloudflare.writes(), [])
    assert.match(printed, /would create {2}R2 bucket try-on-images-production\n/)
    assert.match(printed, /would create {2}secret OPERATOR_TOKEN\n/)
    assert.match(printed, /14 to create\./)
    assert.throws(() => storedSecrets('try-on-production'))
  })

  it('finds existing resources on all pages and keeps secrets and rules', async () => {
    for (let n = 0; n < 120; n++) {
      cloudflare.databases.add(`other-${n}`)
      cloudflare.queues.add(`other-${n}`)
    }
    cloudflare.databases.add('try-on').add('try-on-jobs-0')
    cloudflare.queues.add('tryon-jobs')
    const old = { id: 'archive', enabled: true, conditions: { prefix: 'archive/' } }
    const shorter = {
      id: 'outputs',
      enabled: true,
      conditions: { prefix: 'outputs/' },
      deleteObjectsTransition: { condition: { type: 'Age', maxAge: 86_400 } },
    }
    cloudflare.buckets.set('try-on-images', [old, shorter])
    cloudflare.workers.set('try-on', new Map([['ENCRYPTION_KEY', 'the first key']]))

    const printed = await run([])
    assert.match(printed, /exists {8}D1 database try-on-jobs-0\n/)
    assert.match(printed, /exists {8}queue tryon-jobs\n/)
    assert.match(printed, /created {7}queue tryon-webhooks\n/)
    assert.match(printed, /needs you {5}lifecycle rule outputs/)
    const rules = cloudflare.buckets.get('try-on-images') ?? []
    assert.deepEqual(rules.slice(0, 2), [old, shorter])
    assert.deepEqual(
      rules.slice(2).map(({ id }) => id),
      ['inputs', 'uploads', 'thumbnails'],
    )
    const secrets = cloudflare.workers.get('try-on')
    assert.equal(secrets?.get('ENCRYPTION_KEY'), 'the first key')
    assert.equal(secrets?.size, 4)
    assert.ok(!cloudflare.requests.includes(`PUT /accounts/${ACCOUNT}/workers/scripts/try-on`))
  })

  it('continues after a failure at any write', async () => {
    await run(['--env', 'staging'])
    const writes = cloudflare.writes().length
    assert.equal(writes, 14)
    const failures = Array.from({ length: 2 * writes }, (_, index) => index)
    for (const index of failures) {
      const folder = secretsFolder
      secretsFolder = mkdtempSync(join(tmpdir(), 'try-on-provision-'))
      rmSync(folder, { recursive: true })
      cloudflare.reset()
      // The request fails, or has an effect but no response.
      cloudflare.failAtWrite(1 + (index % writes), index < writes ? 'before' : 'after')
      await assert.rejects(run(['--env', 'staging']), ProvisionError)
      await run(['--env', 'staging'])
      assert.equal(cloudflare.databases.size, 2)
      assert.equal(cloudflare.queues.size, 5)
      assert.equal(cloudflare.buckets.get('try-on-images-staging')?.length, 5)
      // Values that the first run stored are the ones that the Worker has.
      assert.deepEqual(
        new Map(Object.entries(storedSecrets('try-on-staging'))),
        cloudflare.workers.get('try-on-staging'),
      )
    }
  })

  const PERMISSIONS: [string, RegExp][] = [
    ['d1/database', /"D1: Edit"/],
    ['queues', /"Queues: Edit"/],
    ['r2/buckets', /"Workers R2 Storage: Edit"/],
    ['workers/scripts', /"Workers Scripts: Edit"/],
  ]
  for (const [path, permission] of PERMISSIONS) {
    it(`names the missing permission for ${path}`, async () => {
      cloudflare.forbid(path)
      await assert.rejects(run([]), (error: Error) => {
        assert.match(error.message, permission)
        return error instanceof ProvisionError
      })
    })
  }

  it('explains a missing or invalid token, a missing account and an unreachable API', async () => {
    const failures: [Record<string, string | undefined>, RegExp][] = [
      [{ CLOUDFLARE_API_TOKEN: undefined }, /CLOUDFLARE_API_TOKEN is not set\. Create a token/],
      [{ CLOUDFLARE_API_TOKEN: 'wrong' }, /does not accept CLOUDFLARE_API_TOKEN/],
      [{ CLOUDFLARE_ACCOUNT_ID: '' }, /CLOUDFLARE_ACCOUNT_ID is not set/],
      [{ CLOUDFLARE_API_BASE_URL: 'http://127.0.0.1:1' }, /cannot be reached/],
    ]
    for (const [env, message] of failures) await assert.rejects(run([], env), message)
    await assert.rejects(run(['--env', 'test']), /"test"/)
    await assert.rejects(run(['--force']), /Usage: npm run provision/)
  })

  describe('the mail domain', () => {
    it('exists when Email Service has enabled it', async () => {
      cloudflare.mailDomains.set('shop.example', [
        { name: 'mail.shop.example', enabled: true },
        { name: 'old.shop.example', enabled: false },
      ])
      assert.match(await status('mail.shop.example'), /exists/)
      assert.match(await status('old.shop.example'), /wrangler email sending enable old\.shop/)
      assert.match(await status('shop.example'), /wrangler email sending enable shop\.example/)
      assert.match(await status('other.example'), /wrangler email sending enable other\.example/)
      cloudflare.forbid('email/sending')
      assert.match(await status('mail.shop.example'), /wrangler email sending list/)
    })

    async function status(domain: string) {
      const api = new CloudflareApi({ baseUrl: cloudflare.url, token: TOKEN, readOnly: true })
      const config = readDeploymentConfig(undefined)
      config.vars.set('MAIL_FROM', `hello@${domain}`)
      const account = `/accounts/${ACCOUNT}`
      const line = await mailStep({ api, account, config, secretsFolder, dryRun: true })
      return `${line.status} ${line.todo}`
    }
  })
})

describe('the jurisdiction of wrangler.toml', () => {
  const of = (jurisdiction: string, ofBucket?: string) =>
    jurisdictionOf({
      vars: { JURISDICTION: jurisdiction },
      r2_buckets: [{ bucket_name: 'images', jurisdiction: ofBucket }],
    })

  it('is the same for the variable and the bucket', () => {
    assert.deepEqual([of(''), of('eu', 'eu')], [undefined, 'eu'])
    assert.throws(() => of('eu'), /JURISDICTION is eu, and the jurisdiction of the bucket images/)
    assert.throws(() => of('', 'eu'), /JURISDICTION is not set/)
    assert.throws(() => of('mars'), /JURISDICTION must be eu or us or fedramp/)
  })
})

// The command line against the service: accounts, uploads, jobs, pictures, exit codes.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Account, Job, ListedJob, Upload, Workspace } from '../../packages/client/src/index.ts'
import { ROOT } from '../../scripts/wrangler.ts'
import { newShop, type CliHome, type CliResult } from './support/cli.ts'
import { sharedService, type NewOrganisation } from './support/service.ts'

const MODEL = join(ROOT, 'samples', 'model.jpg')
const GARMENT = join(ROOT, 'samples', 'garment.jpg')
const PAGE = 'https://shop.example/shirt.png'
const PNG = '89504e470d0a1a0a'
const JPEG = 'ffd8ff'

const service = sharedService()
let organisation: NewOrganisation
let home: CliHome

before(async () => {
  ;({ organisation, home } = await newShop())
})

after(() => home?.remove())

/** The document on stdout. @throws AssertionError unless the command succeeds */
async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await home.run([...args, '--json'])
  assert.equal(code, 0, stderr)
  assert.equal(stderr, '')
  return JSON.parse(stdout) as T
}

/** The error on stderr with --json. */
function errorOf({ stderr }: CliResult): { code: string; message: string } {
  return (JSON.parse(stderr) as { error: { code: string; message: string } }).error
}

const startOf = (path: string, bytes: number): string =>
  readFileSync(path).subarray(0, bytes).toString('hex')

/** Starts a job and returns its id. */
async function submit(modelUrl: string): Promise<string> {
  const { stderr } = await home.run(['run', modelUrl, PAGE, '--timeout', '1'])
  const [id] = /job_\w+/.exec(stderr) ?? []
  assert.ok(id, stderr)
  return id
}

describe('account', () => {
  it('prints the organisation and its credits', async () => {
    const account = await json<Account>('account')
    assert.equal(account.org_id, organisation.org_id)
    const { stdout } = await home.run(['account'])
    assert.match(stdout, /Acme Fashion/)
    assert.ok(!stdout.includes(organisation.api_keys.test))
    assert.match(stdout, new RegExp(`_sk_…${organisation.api_keys.test.slice(-4)}\n`))
  })

  it('lists the workspaces', async () => {
    const { workspaces } = await json<{ workspaces: Workspace[] }>('workspaces')
    assert.equal(workspaces[0]?.id, organisation.workspaces[0]?.id)
    assert.match((await home.run(['workspaces'])).stdout, /^ID +NAME +CREATED\nws_\w+ +Default/)
  })

  it('ends with 3 for a key that does not exist', async () => {
    const wrong = await home.run(['account', '--json', '--key', 'svc_test_sk_wrong'])
    assert.equal(wrong.code, 3)
    assert.equal(errorOf(wrong).code, 'invalid_api_key')
    assert.match(errorOf(wrong).message, /\/docs\/errors#invalid_api_key/)
    assert.match(errorOf(wrong).message, /Request ID: \w+/)
  })
})

describe('login', () => {
  const env = { TRY_ON_API_KEY: '', TRY_ON_BASE_URL: '' }

  it('stores a key from standard input in a file that only its owner can read', async () => {
    const { test: key } = organisation.api_keys
    const input = `${key}\nwhsec_c2VjcmV0\n`
    const { code, stdout, stderr } = await home.run(
      ['login', '--base-url', service.url],
      env,
      input,
    )
    assert.equal(code, 0, stderr)
    assert.match(stdout, /Logged in to Acme Fashion/)
    assert.ok(!stdout.includes(key) && !stdout.includes('whsec_'))
    assert.equal(statSync(home.configFile).mode & 0o777, 0o600)
    assert.equal(statSync(join(home.configFile, '..')).mode & 0o777, 0o700)
    assert.deepEqual(JSON.parse(readFileSync(home.configFile, 'utf8')), {
      base_url: service.url,
      api_key: key,
      webhook_secret: 'whsec_c2VjcmV0',
    })
    assert.match((await home.run(['account'], env)).stdout, /Acme Fashion/)
  })

  it('is overridden by the environment', async () => {
    const other = await service.newOrganisation({ name: 'Other' })
    const { stdout } = await home.run(['account'], { TRY_ON_API_KEY: other.api_keys.test })
    assert.match(stdout, /Other/)
  })

  it('does not store a key that the service rejects', async () => {
    const stored = readFileSync(home.configFile, 'utf8')
    const { code } = await home.run(['login'], env, 'svc_test_sk_wrong\n')
    assert.equal(code, 3)
    assert.equal(readFileSync(home.configFile, 'utf8'), stored)
  })

  it('ends with 3 when standard input is empty', async () => {
    const { code, stderr } = await home.run(['login', '--base-url', service.url], env)
    assert.equal(code, 3)
    assert.match(stderr, /No API key was entered/)
  })

  it('ends with logout', async () => {
    assert.equal((await home.run(['logout'], env)).stdout, 'Logged out.\n')
    assert.ok(!existsSync(home.configFile))
    const again = await home.run(['account', '--base-url', service.url], env)
    assert.equal(again.code, 3)
    assert.equal((await home.run(['logout'], env)).stdout, 'There was no stored key.\n')
  })
})

describe('run', () => {
  it('uploads local files and downloads the placeholder of a test key', async () => {
    const { code, stdout, stderr } = await home.run(['run', MODEL, GARMENT, '-o', 'out.png'])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^job_\w+ completed in [\d.]+ s\nout\.png\n$/)
    assert.equal(startOf(home.path('out.png'), 8), PNG)
    assert.deepEqual(
      readdirSync(home.folder).filter((name) => name.endsWith('.tmp')),
      [],
    )
  })

  it('creates a picture with a live key', { timeout: 120_000 }, async () => {
    const args = ['run', MODEL, GARMENT, '-o', 'live.jpg', '--json']
    const { code, stdout, stderr } = await home.run(args, {
      TRY_ON_API_KEY: organisation.api_keys.live,
    })
    assert.equal(code, 0, stderr)
    const { job, path } = JSON.parse(stdout) as { job: Job; path: string }
    assert.deepEqual([job.mode, job.credits_consumed, path], ['live', 1, 'live.jpg'])
    assert.equal(startOf(home.path('live.jpg'), 3), JPEG)
  })

  it('names the file after the job, in a folder as well', async () => {
    const { job, path } = await json<{ job: Job; path: string }>('run', PAGE, PAGE)
    assert.equal(path, `${job.job_id}.png`)
    assert.ok(existsSync(home.path(path)))
    const inFolder = await json<{ job: Job; path: string }>('run', PAGE, PAGE, '-o', home.folder)
    assert.equal(inFolder.path, home.path(`${inFolder.job.job_id}.png`))
  })

  it('notes a name that does not fit the format', async () => {
    const { stderr } = await home.run(['run', PAGE, PAGE, '-o', 'out.jpg'])
    assert.equal(stderr, 'The picture is a PNG file. Its name should end in .png.\n')
  })

  it('ends with 1 and the reason when the job fails', async () => {
    const failing = ['run', 'https://test.invalid/fail/person_not_found', PAGE]
    const { code, stderr } = await home.run(failing)
    assert.equal(code, 1)
    assert.match(stderr, /^Error: job_\w+ failed: person_not_found\. No credit was consumed\.\n/)
    assert.ok(stderr.includes(`Help: ${service.url}/docs/errors#person_not_found`))
    const asJson = await home.run([...failing, '--json'])
    const { job, path } = JSON.parse(asJson.stdout) as { job: Job; path: null }
    assert.deepEqual([job.status, path], ['failed', null])
    assert.equal(errorOf(asJson).code, 'person_not_found')
  })

  it('ends with 1 for a file that is not a picture', async () => {
    writeFileSync(home.path('text.jpg'), 'text')
    const rejected = await home.run(['run', 'text.jpg', GARMENT, '--json'])
    assert.equal(rejected.code, 1)
    assert.equal(errorOf(rejected).code, 'validation_error')
  })

  it('ends with 4 at the time limit and says how to continue', async () => {
    const args = ['run', 'https://test.invalid/delay/3', PAGE, '-o', 'later.png', '--timeout', '1']
    const { code, stderr } = await home.run(args)
    assert.equal(code, 4)
    const [, next = ''] = /Wait for it: try-on (jobs wait job_\w+ -o later\.png)/.exec(stderr) ?? []
    const waited = await home.run(next.split(' '))
    assert.equal(waited.code, 0, waited.stderr)
    assert.equal(startOf(home.path('later.png'), 8), PNG)
  })

  it('ends with 130 on Ctrl-C and says how to continue', async () => {
    const running = home.start(['run', 'https://test.invalid/delay/20', PAGE])
    const processing = ['jobs', 'list', '--status', 'processing']
    while ((await json<{ jobs: ListedJob[] }>(...processing)).jobs.length === 0);
    running.child.kill('SIGINT')
    const { code, stderr } = await running.ended
    assert.equal(code, 130)
    assert.match(
      stderr,
      /Interrupted\.\n {2}The job continues\. Wait for it: try-on jobs wait job_/,
    )
  })

  it('ends with 1 and leaves no file when the download fails', async () => {
    const { job } = await json<{ job: Job }>('run', PAGE, PAGE)
    await home.run(['jobs', 'delete-output', job.job_id])
    const { code, stderr } = await home.run(['jobs', 'wait', job.job_id, '-o', 'gone.png'])
    assert.equal(code, 1)
    assert.match(stderr, /has been deleted/)
    assert.ok(!existsSync(home.path('gone.png')))
  })
})

describe('jobs', () => {
  it('lists jobs in a table, filtered and limited', async () => {
    const { stdout, stderr } = await home.run(['jobs', 'list', '--limit', '3'])
    assert.match(stdout, /^JOB +STATUS +MODE +CREATED/)
    assert.equal(stderr, 'There are more jobs. Use --limit N or --all.\n')
    assert.equal(stdout.trimEnd().split('\n').length, 4)
    const { jobs, has_more } = await json<{ jobs: ListedJob[]; has_more: boolean }>(
      'jobs',
      'list',
      '--status',
      'failed',
      '--all',
    )
    assert.equal(has_more, false)
    assert.ok(jobs.length > 0 && jobs.every(({ status }) => status === 'failed'))
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
    const empty = await home.run(['jobs', 'list', '--created-after', tomorrow])
    assert.equal(empty.stdout, 'No jobs.\n')
    const earlier = await json<{ jobs: ListedJob[] }>('jobs', 'list', '--created-before', tomorrow)
    assert.ok(earlier.jobs.length > 0)
    const [workspace] = organisation.workspaces
    const inWorkspace = await json<{ jobs: ListedJob[] }>(
      'jobs',
      'list',
      '--workspace',
      workspace!.id,
    )
    assert.ok(inWorkspace.jobs.length > 0)
  })

  it('shows, waits for and deletes', async () => {
    const id = await submit('https://test.invalid/delay/2')
    const { code, stdout } = await home.run(['jobs', 'wait', id])
    assert.deepEqual([code, /^job_\w+ completed in /.test(stdout)], [0, true])
    assert.match((await home.run(['jobs', 'get', id])).stdout, /^Job +job_\w+\nStatus +completed\n/)
    assert.equal((await json<Job>('jobs', 'wait', id)).job_id, id)
    await json('jobs', 'delete-output', id)
    assert.equal((await json<Job>('jobs', 'get', id)).output_url, null)
  })

  it('cancels a pending job, whose wait ends with 1', async () => {
    const id = await submit('https://test.invalid/pending/60')
    const { stdout } = await home.run(['jobs', 'cancel', id])
    assert.equal(stdout, `Cancelled ${id}. Refunded 0 credits.\n`)
    const waited = await home.run(['jobs', 'wait', id, '--json'])
    assert.equal(waited.code, 1)
    assert.equal((JSON.parse(waited.stdout) as Job).status, 'refunded')
    assert.equal(errorOf(waited).code, 'job_refunded')
    const again = await home.run(['jobs', 'cancel', id, '--json'])
    assert.equal(errorOf(again).code, 'job_not_cancellable')
  })

  it('ends with 1 for an unknown job', async () => {
    const { code, stderr } = await home.run(['jobs', 'get', 'job_unknown'])
    assert.equal(code, 1)
    assert.match(stderr, /See your jobs: try-on jobs list\n {2}Help: http\S+#job_not_found/)
  })
})

it('upload prints a URL for jobs', async () => {
  const { url } = await json<Upload>('upload', MODEL)
  assert.equal((await home.run(['run', url, GARMENT, '-o', 'uploaded.png'])).code, 0)
  const { stdout, stderr } = await home.run(['upload', GARMENT])
  assert.match(stdout, /^http\S+\n$/)
  assert.match(stderr, /^Valid until 2/)
})

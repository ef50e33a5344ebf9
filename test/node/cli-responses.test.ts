// The command line with a service that returns errors and unsafe values.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, beforeEach, describe, it } from 'node:test'
import { CliHome } from './support/cli.ts'

const KEY = 'svc_test_sk_abcdefghijklmnopqrstuvwxyz0123'
const MODEL = 'https://shop.example/model.jpg'
const GARMENT = 'https://shop.example/shirt.png'
const RUN = ['run', MODEL, GARMENT]
const SECRET = 'whsec_c2VjcmV0'

let job: Record<string, unknown>
let jobStatus: number
let organisation: string
let requests: string[]
let url: string
let home: CliHome

const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.url}`)
  const send = (status: number, body: object) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  if (request.method === 'POST') send(202, { ...job, status: 'pending' })
  else if (request.url === '/v1/account') send(200, { name: organisation, org_id: 'org_1' })
  else if (request.url?.startsWith('/v1/jobs/')) {
    send(
      jobStatus,
      jobStatus === 200 ? job : { error: { code: 'api_key_revoked', message: 'No.' } },
    )
  } else response.end('picture')
})

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  url = `http://127.0.0.1:${address.port}`
  home = new CliHome({ TRY_ON_API_KEY: KEY, TRY_ON_BASE_URL: url })
  mkdirSync(home.path('folder'))
})

after(() => {
  home?.remove()
  server.close()
})

beforeEach(() => {
  requests = []
  jobStatus = 200
  organisation = 'Acme'
  job = {
    job_id: 'job_1',
    status: 'completed',
    error_code: null,
    duration_ms: 1000,
    output_url: `${url}/outputs/1.png`,
  }
})

describe('run', () => {
  it('says how to continue after an error that follows the submission', async () => {
    jobStatus = 401
    const { code, stderr } = await home.run([...RUN, '-o', 'out.png'])
    assert.equal(code, 3)
    assert.match(stderr, /The job continues\. Wait for it: try-on jobs wait job_1 -o out\.png\n/)
    assert.match(stderr, /Create a key at/)
  })

  it('does not say that an unknown job continues', async () => {
    jobStatus = 404
    const { code, stderr } = await home.run(['jobs', 'wait', 'job_2'])
    assert.equal(code, 1)
    assert.doesNotMatch(stderr, /The job continues/)
  })

  it('says how to continue, and the last error, at the time limit', async () => {
    jobStatus = 503
    const { code, stderr } = await home.run([...RUN, '--timeout', '2'])
    assert.equal(code, 4)
    assert.match(stderr, /within 2 s\.\n {2}Last error: No\.\n {2}The job continues\. /)
  })

  it('stores the picture under the id of the job', async () => {
    const { stdout } = await home.run([...RUN, '-o', 'folder'])
    assert.match(stdout, /folder\/job_1\.png\n$/)
    assert.deepEqual(readdirSync(home.path('folder')), ['job_1.png'])
  })

  for (const [id, file] of [
    ['../victim', '1.png'],
    ['job_1/../../victim', '1.png'],
    ['job_1', '1.sh'],
  ]) {
    it(`does not store a picture under the name ${id} of ${file}`, async () => {
      Object.assign(job, { job_id: id, output_url: `${url}/outputs/${file}` })
      const { code, stderr } = await home.run([...RUN, '-o', 'folder'])
      assert.equal(code, 1)
      assert.match(stderr, /invalid name for the picture\.\n {2}Name the file: --output FILE/)
      assert.ok(!requests.some((request) => request.includes('/outputs/')))
      assert.ok(!existsSync(home.path('victim.png')))
    })
  }

  it('rejects a pipe as output before it sends a request', async () => {
    // Not a device: without the check, the command would replace it for the whole machine.
    execFileSync('mkfifo', [home.path('pipe')])
    const { code, stderr } = await home.run([...RUN, '-o', 'pipe'])
    assert.equal(code, 2)
    assert.match(stderr, /pipe is not a regular file/)
    assert.deepEqual(requests, [])
  })
})

describe('login', () => {
  const login = (baseUrl: string, secret = '') =>
    home.run(['login', '--base-url', baseUrl], { TRY_ON_API_KEY: '' }, `${KEY}\n${secret}\n`)
  const stored = () => JSON.parse(readFileSync(home.configFile, 'utf8')) as Record<string, string>

  it('keeps the webhook signing secret of the same service', async () => {
    await login(url, SECRET)
    assert.equal((await login(url)).code, 0)
    assert.equal(stored().webhook_secret, SECRET)
    await login(url, 'whsec_bmV3')
    assert.equal(stored().webhook_secret, 'whsec_bmV3')
    await login(url.replace('127.0.0.1', 'localhost'))
    assert.equal(stored().webhook_secret, undefined)
  })

  it('removes control characters from what the service returns', async () => {
    organisation = 'Ac\u001B[31mme\u009B31m'
    const { code, stdout } = await login(url)
    assert.equal(code, 0)
    assert.match(stdout, /^Logged in to Ac\[31mme31m \(org_1\)\./)
  })
})

it('a key in the wrong place is not printed', async () => {
  for (const args of [['login', KEY], [KEY], ['login', KEY, '--json']]) {
    const { code, stderr } = await home.run(args)
    assert.equal(code, 2)
    assert.match(stderr, /svc_test_sk_…0123/)
    assert.ok(!stderr.includes(KEY))
  }
})

// The guides in docs/guides: their curl examples work as they are, and the pages about errors and test
// mode are complete.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { ROOT } from '../../scripts/wrangler.ts'
import type { ErrorCode } from '../../src/domain/errors.ts'
import { JOB_ERROR_CODES } from '../../src/domain/job.ts'
import { sharedService, type NewOrganisation } from './support/service.ts'

/** Codes that only the operator API and the console return. */
type InternalCode = 'unauthorized' | 'deletion_scheduled' | 'payment_provider_unavailable'

/** Codes that /v1 and signed links return. */
const API_ERROR_CODES = Object.keys({
  invalid_api_key: true,
  api_key_revoked: true,
  insufficient_credits: true,
  account_suspended: true,
  forbidden: true,
  invalid_signature: true,
  url_expired: true,
  not_found: true,
  workspace_not_found: true,
  job_not_found: true,
  method_not_allowed: true,
  job_not_cancellable: true,
  job_not_finished: true,
  delivery_in_progress: true,
  payload_too_large: true,
  validation_error: true,
  idempotency_key_reused: true,
  rate_limit_exceeded: true,
  internal_error: true,
} satisfies Record<Exclude<ErrorCode, InternalCode>, true>)

// The values of the examples, which the tests replace.
const ADDRESS = /https:\/\/try-on\.example|http:\/\/localhost:8787/g
const KEY = 'svc_test_sk_...'
const RECEIVER = 'https://shop.example/webhooks/try-on'

/** Between the outputs of two examples. */
const SEPARATOR = '\n---- end of example ----\n'
/**
 * Replaces programs that install packages, run until they are stopped, or change the shell. Addresses that they
 * install from must exist.
 */
const PRELUDE = `
  exec < key.txt
  mkdir -p ~/.config/fish/completions
  npm() { for argument; do case $argument in http*) curl --fail -sS -o /dev/null "$argument"; esac; done; }
  pip() { for argument; do case $argument in ./*) test -f "$argument"; esac; done; }
  source() { :; }
  try-on() { case $1 in listen) ;; *) "$NODE" "$CLI" "$@"; esac; }
`

const run = promisify(execFile)
const service = sharedService()
/** Instead of `try-on listen`. */
const receiver = createServer((_request, response) => response.end())
let organisation: NewOrganisation
/** Where the examples read and write files. */
let folder: string

before(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  organisation = await service.newOrganisation({ rate_limit_per_minute: 600 })
  folder = mkdtempSync(join(tmpdir(), 'try-on-guides-'))
  copyFileSync(join(ROOT, 'samples/model.jpg'), join(folder, 'model.jpg'))
  copyFileSync(join(ROOT, 'samples/garment.jpg'), join(folder, 'garment.png'))
  writeFileSync(join(folder, 'key.txt'), organisation.api_keys.test)
})
after(() => {
  receiver.close()
  receiver.closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
})

const guide = (slug: string) => readFileSync(join(ROOT, `docs/guides/${slug}.md`), 'utf8')

/** The blocks of shell commands of a guide, by heading. */
function examplesOf(slug: string): { heading: string; commands: string[] }[] {
  const sections = guide(slug).split(/^#{2,3} /m)
  return sections.map((section) => ({
    heading: section.slice(0, section.indexOf('\n')),
    commands: [...section.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, text = '']) => text),
  }))
}

/**
 * Runs the examples of a guide in order in one shell, as a reader would, with the variables that the guide sets.
 * Those that other guides set are set.
 * @returns the outputs by heading
 */
async function runExamples(slug: string): Promise<Map<string, string[]>> {
  const examples = examplesOf(slug).flatMap(({ heading, commands }) =>
    commands.map((command) => ({ heading, command })),
  )
  const script = examples
    .map(({ command }) => `${command}\nprintf '${SEPARATOR.replaceAll('\n', String.raw`\n`)}'\n`)
    .join('')
    .replaceAll(ADDRESS, service.url)
    // Nothing listens there, so that no request leaves the computer.
    .replaceAll(RECEIVER, 'http://localhost:9')
    .replaceAll('4242', String((receiver.address() as AddressInfo).port))
    .replaceAll(KEY, organisation.api_keys.test)
  const env = {
    ...process.env,
    HOME: folder,
    NODE: process.execPath,
    CLI: join(ROOT, 'packages/client/bin/try-on.js'),
    TRY_ON_BASE_URL: service.url,
    TRY_ON_API_KEY: organisation.api_keys.test,
  }
  const { stdout } = await run('bash', ['-euc', `${PRELUDE}${script}`], { cwd: folder, env })
  const texts = stdout.split(SEPARATOR)
  const outputs = new Map<string, string[]>()
  for (const [at, { heading }] of examples.entries()) {
    outputs.set(heading, [...(outputs.get(heading) ?? []), texts[at] ?? ''])
  }
  return outputs
}

/** The JSON of a command's output, with or without the response headers of `curl -i`. */
const jsonOf = (output = '') => JSON.parse(output.slice(output.indexOf('{'))) as unknown

/** Asserts that a value has these fields; it may have others. */
const assertFields = (value: unknown, fields: object) =>
  assert.partialDeepStrictEqual(value, fields)

async function submit(modelImageUrl: string): Promise<Response> {
  return fetch(`${service.url}/v1/tryon`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${organisation.api_keys.test}`, Prefer: 'wait=30' },
    body: JSON.stringify({
      model_image_url: modelImageUrl,
      garment_image_url: 'https://shop.example/shirt.png',
    }),
  })
}

describe('index.md', () => {
  it('submits a job and waits for its result', async () => {
    const [, submitted] = (await runExamples('index')).get('Make your first request') ?? []
    assertFields(jsonOf(submitted), { status: 'completed', mode: 'test' })
  })
})

describe('quick-start.md', () => {
  it('submits a job, waits for it and downloads its picture', async () => {
    const outputs = await runExamples('quick-start')
    assertFields(jsonOf(outputs.get('2. Submit a job')?.[0]), { status: 'pending', mode: 'test' })
    assertFields(jsonOf(outputs.get('3. Wait for the result')?.[0]), { status: 'completed' })
    assert.equal(readFileSync(join(folder, 'result.png')).toString('latin1', 1, 4), 'PNG')
  })
})

describe('jobs.md', () => {
  it('submits, lists, cancels and deletes jobs and lists workspaces', async () => {
    // The newest failed job, which the example of a list returns and the examples after it use.
    await submit('https://test.invalid/fail/person_not_found')
    const outputs = await runExamples('jobs')
    const result = (heading: string) => jsonOf(outputs.get(heading)?.[0])
    assertFields(result('Submit a job'), { status: 'pending', mode: 'test' })
    assertFields(result('List jobs'), { jobs: [{ status: 'failed' }] })
    // The job of the first example may have ended.
    assert.match(outputs.get('Cancel a job')?.[0] ?? '', /"job_not_cancellable"|"refunded"/)
    assert.deepEqual(outputs.get('Delete the pictures of a job'), [''])
    assertFields(result('Workspaces'), { workspaces: [{ name: 'Default' }] })
  })
})

describe('webhooks.md', () => {
  it('creates, tests, changes and deletes an endpoint, and lists deliveries', async () => {
    const [created, managed, list] =
      (await runExamples('webhooks')).get('Manage webhooks by API') ?? []
    assertFields(jsonOf(created), { events: ['job.completed', 'job.failed'], mode: 'test' })
    assert.match(managed ?? '', /"type":"job.failed".*"status":"disabled".*"secret":"whsec_/s)
    assertFields(jsonOf(list), { has_more: false })
  })
})

describe('test-mode.md', () => {
  let outputs: Map<string, string[]>
  before(async () => {
    outputs = await runExamples('test-mode')
  })

  it('shows a failed, a slow, a cancelled and a withdrawn job', () => {
    const [failed] = outputs.get('A failed job') ?? []
    assertFields(jsonOf(failed), { status: 'failed', error_code: 'person_not_found' })
    const [slow] = outputs.get('A slow job') ?? []
    assertFields(jsonOf(slow), { status: 'completed' })
    const [pending, cancelled] = outputs.get('A cancellation') ?? []
    assertFields(jsonOf(pending), { status: 'pending' })
    assertFields(jsonOf(cancelled), { status: 'refunded', refunded_credits: 0 })
    const [withdrawn] = outputs.get('A job that the service withdraws') ?? []
    assertFields(jsonOf(withdrawn), { status: 'cancelled', error_code: null })
  })

  it('shows the errors of the API', () => {
    const responses = outputs.get('Errors of the API') ?? []
    assert.deepEqual(
      responses.map((response) => /^HTTP\/\S+ (\d+)/.exec(response)?.[1]),
      ['402', '403', '429', '500'],
    )
    assert.match(responses[2] ?? '', /^retry-after: \d+/im)
  })

  it('lists the codes that a submission can be rejected with', async () => {
    const rows = [...guide('test-mode').matchAll(/^\| `(\w+)` +\| (\d{3}) /gm)]
    assert.ok(rows.length > 0)
    for (const [, code, status] of rows) {
      const response = await submit(`https://test.invalid/refuse/${code}`)
      assert.equal(response.status, Number(status))
      assertFields(await response.json(), { error: { code } })
    }
  })

  it('names scenarios that exist', async () => {
    const documented = [...guide('test-mode').matchAll(/^\| `https:\/\/test\.invalid\/(\w+)/gm)]
    const results = { fail: 422, delay: 422, pending: 422, refuse: 422, withdraw: 200 }
    assert.deepEqual(documented.map(([, action]) => action).sort(), Object.keys(results).sort())
    for (const [action, status] of Object.entries(results)) {
      // Scenarios with a parameter reject a missing one.
      assert.equal((await submit(`https://test.invalid/${action}/`)).status, status, action)
    }
  })
})

describe('errors.md', () => {
  it('has a section for each code of the API and of jobs', () => {
    const sections = [...guide('errors').matchAll(/^### (\w+)$/gm)].map(([, code]) => code)
    const codes = new Set([...API_ERROR_CODES, ...JOB_ERROR_CODES])
    assert.deepEqual(sections.sort(), [...codes].sort())
  })

  it('lists each code in a table', () => {
    const listed = [...guide('errors').matchAll(/^\|.*\[`(\w+)`\]\(#(\w+)\)/gm)]
    for (const [, code, anchor] of listed) assert.equal(code, anchor)
    // internal_error is in both tables.
    assert.deepEqual(
      listed.map(([, code]) => code).sort(),
      [...API_ERROR_CODES, ...JOB_ERROR_CODES].sort(),
    )
  })

  it('names codes that a test job can fail with', async () => {
    const responses = await Promise.all(
      JOB_ERROR_CODES.map((code) => submit(`https://test.invalid/fail/${code}`)),
    )
    for (const [at, response] of responses.entries()) {
      assertFields(await response.json(), { status: 'failed', error_code: JOB_ERROR_CODES[at] })
    }
  })
})

it('the pages have the Strict-Transport-Security of the API', async () => {
  const policyAt = async (path: string) =>
    (await fetch(service.url + path)).headers.get('Strict-Transport-Security')
  const policy = await policyAt('/v1/account')
  assert.match(policy ?? '', /^max-age=/)
  for (const path of ['/docs', '/docs/jobs', '/docs/api', '/docs/nowhere']) {
    assert.equal(await policyAt(path), policy, path)
  }
})

describe('the texts of the site', () => {
  it('contain the address of the service', async () => {
    const paths = [
      '/docs/quick-start.md',
      '/llms.txt',
      '/llms-full.txt',
      '/robots.txt',
      '/sitemap.xml',
    ]
    for (const path of paths) {
      const response = await fetch(service.url + path)
      const text = await response.text()
      assert.equal(response.status, 200, path)
      assert.ok(text.includes(service.url), path)
      assert.doesNotMatch(text, /try-on\.example/, path)
    }
    assert.equal((await fetch(`${service.url}/docs/nowhere.md`)).status, 404)
  })

  it('list pages that exist in the sitemap', async () => {
    const sitemap = await (await fetch(`${service.url}/sitemap.xml`)).text()
    const urls = [...sitemap.matchAll(/<loc>(.+?)<\/loc>/g)].map(([, url = '']) => url)
    assert.ok(urls.length > 15)
    for (const url of urls) assert.equal((await fetch(url)).status, 200, url)
  })

  it('name a contact for vulnerabilities', async () => {
    const response = await fetch(`${service.url}/.well-known/security.txt`)
    const text = await response.text()
    assert.match(response.headers.get('Content-Type') ?? '', /^text\/plain/)
    assert.match(text, new RegExp(`^Contact: ${service.url}/docs/security$`, 'm'))
    const expires = Date.parse(/^Expires: (.*)$/m.exec(text)?.[1] ?? '')
    assert.ok(expires > Date.now())
  })

  it('include an icon and data for previews of links', async () => {
    const icon = await fetch(`${service.url}/favicon.ico`)
    assert.deepEqual([...new Uint8Array(await icon.arrayBuffer()).slice(0, 4)], [0, 0, 1, 0])
    const page = await (await fetch(`${service.url}/docs/jobs`)).text()
    assert.match(page, /<meta property="og:title" content="Jobs">/)
  })
})

describe('other guides', () => {
  const TESTED = new Set(['index', 'quick-start', 'jobs', 'test-mode'])
  const slugs = globSync('*.md', { cwd: join(ROOT, 'docs/guides') })
    .map((file) => file.replace('.md', ''))
    .filter((slug) => !TESTED.has(slug) && examplesOf(slug).some(({ commands }) => commands[0]))

  it('are tested if they have examples', () => {
    for (const slug of ['cli', 'local-development', 'python', 'typescript', 'webhooks']) {
      assert.ok(slugs.includes(slug), slug)
    }
  })

  for (const slug of slugs) {
    it(`${slug}.md has examples that work as printed`, async () => {
      for (const [heading, outputs] of await runExamples(slug)) {
        for (const output of outputs) assert.doesNotMatch(output, /"error":\{/, heading)
      }
    })
  }
})

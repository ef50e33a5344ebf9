// The code of docs/guides/webhooks.md: every snippet accepts authentic deliveries and rejects others.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { ROOT } from '../../scripts/wrangler.ts'
import { EVENT_TYPES } from '../../src/domain/webhook.ts'
import { WebhookBody } from '../../src/webhooks/event.ts'
import { newWebhookSecret } from '../../src/webhooks/endpoints/secrets.ts'
import { hasProgram } from './support/programs.ts'

const GUIDE = readFileSync(join(ROOT, 'docs', 'guides', 'webhooks.md'), 'utf8')
const SECRET = newWebhookSecret()
const FOLDER = mkdtempSync(join(tmpdir(), 'try-on-snippets-'))
const START_TIMEOUT_MS = 30_000

after(() => rmSync(FOLDER, { recursive: true, force: true }))

/** The code blocks of a language below a heading, in order. */
function blocks(heading: string, language: string): string[] {
  const section = GUIDE.split(/^#{2,3} /m).find((text) => text.startsWith(`${heading}\n`))
  assert.ok(section, `The guide has no section "${heading}".`)
  const pattern = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms')
  return Array.from(section.matchAll(pattern), ([, code = '']) => code)
}

/** Writes a code block to a file. @returns its path */
function save(name: string, code: string | undefined): string {
  assert.ok(code, `The guide has no code for ${name}.`)
  const path = join(FOLDER, name)
  writeFileSync(path, code)
  return path
}

interface Delivery {
  body: string
  headers: Record<string, string>
}

/** A delivery as the service sends it, with one signature per secret. */
function delivery(secrets: string[], at = new Date()): Delivery {
  const body = JSON.stringify(JSON.parse(blocks('job.completed', 'json')[0] ?? ''))
  const signatures = secrets.map((secret) => new Webhook(secret).sign('evt_1', at, body))
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': signatures.join(' '),
    },
  }
}

/** @param post sends a delivery to the code of the guide and returns the status of the response */
async function checkReceiver(post: (delivery: Delivery) => Promise<number>): Promise<void> {
  const other = newWebhookSecret()
  const valid = delivery([SECRET])
  const { 'webhook-signature': signature = '', ...unsigned } = valid.headers
  const withSignature = (text: string) => ({
    ...valid,
    headers: { ...unsigned, 'webhook-signature': text },
  })
  const SIX_MINUTES_MS = 6 * 60 * 1_000
  const cases: [string, number, Delivery][] = [
    ['a valid delivery', 204, valid],
    ['a delivery during a rotation', 204, delivery([other, SECRET])],
    ['a changed body', 400, { ...valid, body: valid.body.replace('completed', 'cancelled') }],
    ['another secret', 400, delivery([other])],
    ['an old delivery', 400, delivery([SECRET], new Date(Date.now() - SIX_MINUTES_MS))],
    ['a delivery of the future', 400, delivery([SECRET], new Date(Date.now() + SIX_MINUTES_MS))],
    ['no signature', 400, { ...valid, headers: unsigned }],
    ['no headers', 400, { ...valid, headers: {} }],
    ['another version', 400, withSignature(signature.replace('v1,', 'v2,'))],
    ['a malformed signature', 400, withSignature('v1,%')],
    [
      'a malformed timestamp',
      400,
      { ...valid, headers: { ...valid.headers, 'webhook-timestamp': 'now' } },
    ],
  ]
  for (const [title, status, sent] of cases) assert.equal(await post(sent), status, title)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Starts a server of the guide, which listens on PORT, and sends it deliveries. */
async function checkServer(
  t: TestContext,
  command: (port: number) => [string, ...string[]],
  env: Record<string, string> = {},
): Promise<void> {
  const port = await freePort()
  const [program, ...args] = command(port)
  const child = spawn(program, args, {
    env: { ...process.env, ...env, PORT: String(port), TRY_ON_WEBHOOK_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill())
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const endsAt = Date.now() + START_TIMEOUT_MS
  while (!(await accepts(port))) {
    assert.ok(child.exitCode === null && Date.now() < endsAt, `not started:\n${output}`)
    await sleep(50)
  }
  await checkReceiver(async ({ body, headers }) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })
    await response.arrayBuffer()
    return response.status
  })
}

const requestOf = ({ body, headers }: Delivery) =>
  new Request('https://shop.example/webhooks', { method: 'POST', headers, body })

it('the events of the guide have the form of the service', () => {
  for (const type of EVENT_TYPES) {
    const [code = ''] = blocks(type, 'json')
    const event = WebhookBody.parse(JSON.parse(code))
    assert.equal(event.type, type)
    assert.equal(event.data.status, type.replace('job.', ''))
  }
})

it('the code for Node verifies deliveries', async (t) => {
  const [code] = blocks('Node.js', 'js')
  const path = save('node.mjs', code)
  await checkServer(t, () => [process.execPath, path])
})

it('the code with the TypeScript client verifies deliveries', async () => {
  const client = pathToFileURL(join(ROOT, 'packages', 'client', 'src', 'index.ts')).href
  const [code] = blocks('Fetch runtimes', 'ts')
  const path = save('route.ts', code?.replace("'@try-on/client'", `'${client}'`))
  const { POST: handle } = (await import(pathToFileURL(path).href)) as {
    POST(request: Request): Promise<Response>
  }
  process.env['TRY_ON_WEBHOOK_SECRET'] = SECRET
  await checkReceiver(async (sent) => (await handle(requestOf(sent))).status)
})

it('the code for Fetch runtimes verifies deliveries', async () => {
  const path = save('worker.mjs', blocks('Fetch runtimes', 'js')[0])
  const { default: worker } = (await import(pathToFileURL(path).href)) as {
    default: { fetch(request: Request, env: object): Promise<Response> }
  }
  const env = { TRY_ON_WEBHOOK_SECRET: SECRET }
  await checkReceiver(async (sent) => (await worker.fetch(requestOf(sent), env)).status)
})

if (hasProgram('python3')) {
  it('the code for Python verifies deliveries', async (t) => {
    const [withClient, standardLibrary, ...others] = blocks('Python', 'python')
    assert.equal(others.length, 0)
    const client = save('with_client.py', withClient)
    const env = { PYTHONPATH: join(ROOT, 'packages', 'client-python', 'src') }
    await checkServer(t, () => ['python3', client], env)
    const alone = save('standard_library.py', standardLibrary)
    await checkServer(t, () => ['python3', alone])
  })
}

if (hasProgram('php')) {
  it('the code for PHP verifies deliveries', async (t) => {
    const path = save('webhook.php', blocks('PHP', 'php')[0])
    await checkServer(t, (port) => ['php', '-S', `127.0.0.1:${port}`, path])
  })
}

if (hasProgram('go', 'version')) {
  it('the code for Go verifies deliveries', { timeout: 180_000 }, async (t) => {
    const path = save('webhook.go', blocks('Go', 'go')[0])
    const program = join(FOLDER, 'webhook')
    const build = spawnSync('go', ['build', '-o', program, path], { cwd: FOLDER, encoding: 'utf8' })
    assert.equal(build.status, 0, build.stderr)
    await checkServer(t, () => [program])
  })
}

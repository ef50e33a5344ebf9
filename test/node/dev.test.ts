// `npm run dev`, which imports parts of the service in Node.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { defaultVars } from '../../scripts/dev-settings.ts'
import { DEVELOPMENT } from '../../scripts/seed.ts'
import { ROOT } from '../../scripts/wrangler.ts'

/** Starts `npm run dev` with an empty database. @returns what it printed, and how to stop it */
async function startDev() {
  const folder = mkdtempSync(join(tmpdir(), 'try-on-dev-'))
  const args = ['--port', '0', '--persist-to', folder, '--log-level', 'error']
  const dev = spawn(process.execPath, ['scripts/dev.ts', ...args], { cwd: ROOT })
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    dev.stdout.on('data', (text) => {
      printed += text
      if (printed.includes('scheduled Workers')) resolve()
    })
    dev.stderr.on('data', (text) => (printed += text))
    dev.on('exit', () => reject(new Error(`npm run dev exited early:\n${printed}`)))
  })
  const stop = async () => {
    dev.kill('SIGINT')
    if (dev.exitCode === null) await once(dev, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
  return { printed, stop }
}

/** The first match of a pattern. */
function found(text: string, pattern: RegExp): string {
  const [match] = pattern.exec(text) ?? []
  assert.ok(match, `no ${pattern} in:\n${text}`)
  return match
}

interface Job {
  job_id: string
  status: string
  output_url: string
}

describe('npm run dev', { timeout: 180_000 }, () => {
  let printed = ''
  let stop = async () => {}
  before(async () => {
    ;({ printed, stop } = await startDev())
  })
  after(() => stop())

  const urlOf = () => found(printed, /http:\/\/\S+(?=\/v1\/tryon)/)
  const submit = async (key: RegExp, body: object) => {
    const response = await fetch(`${urlOf()}/v1/tryon`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${found(printed, key)}`, Prefer: 'wait=30' },
      body: JSON.stringify(body),
    })
    return (await response.json()) as Job
  }
  const read = async (jobId: string) => {
    const response = await fetch(`${urlOf()}/v1/jobs/${jobId}`, {
      headers: { Authorization: `Bearer ${found(printed, /svc_live_sk_\w+/)}`, Prefer: 'wait=30' },
    })
    return (await response.json()) as Job
  }
  /** The body of the printed request. */
  const samples = () =>
    JSON.parse(found(printed, /\{"model_image_url".*\}/)) as Record<string, string>

  it('prints keys that work', async () => {
    for (const key of [/svc_test_sk_\w+/, /svc_live_sk_\w+/]) {
      const response = await fetch(`${urlOf()}/v1/account`, {
        headers: { Authorization: `Bearer ${found(printed, key)}` },
      })
      assert.equal(response.status, 200, await response.text())
      assert.match(response.headers.get('RateLimit-Policy') ?? '', /q=600/)
    }
  })

  it('prints a request that makes a picture with the live key', async () => {
    let job = await submit(/svc_live_sk_\w+/, samples())
    while (['pending', 'processing'].includes(job.status)) job = await read(job.job_id)
    assert.equal(job.status, 'completed')
    const picture = await fetch(job.output_url)
    assert.equal(picture.status, 200)
    assert.match(picture.headers.get('Content-Type') ?? '', /^image\/(jpeg|png)$/)
  })

  it('delivers webhooks to this computer, signed with the printed secret', async (t) => {
    const received = Promise.withResolvers<{ body: string; headers: Record<string, string> }>()
    const receiver = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        response.end()
        const headers = Object.entries(request.headers).map(([name, value]) => [
          name,
          String(value),
        ])
        received.resolve({ body, headers: Object.fromEntries(headers) as Record<string, string> })
      })
    })
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    t.after(() => receiver.close())
    const { port } = receiver.address() as AddressInfo
    const webhook_url = `http://127.0.0.1:${port}/`
    const job = await submit(/svc_test_sk_\w+/, { ...samples(), webhook_url })
    assert.equal(job.status, 'completed')
    const { body, headers } = await received.promise
    const secret = found(printed, /whsec_\S+/)
    const event = new Webhook(secret).verify(body, headers) as { type: string }
    assert.equal(event.type, 'job.completed')
  })
})

describe('the guide to local development', () => {
  it('shows the credentials of the development organisation', () => {
    const guide = readFileSync(join(ROOT, 'docs', 'guides', 'local-development.md'), 'utf8')
    const { testKey, liveKey, webhookSecret, workspaceId } = DEVELOPMENT
    for (const text of [testKey, liveKey, webhookSecret, workspaceId]) {
      assert.ok(guide.includes(text), text)
    }
    assert.ok(readFileSync(join(ROOT, 'README.md'), 'utf8').includes(testKey))
  })
})

describe('the default settings of npm run dev', () => {
  const namesOf = (vars: string[]) =>
    vars.filter((text) => text !== '--var').map((text) => text.slice(0, text.indexOf(':')))

  it('are used unless an argument or .dev.vars sets the name', () => {
    const all = namesOf(defaultVars([], ''))
    assert.deepEqual(all, [
      'OUTPUT_SIGNING_SECRET',
      'AUTH_SECRET',
      'ENCRYPTION_KEY',
      'DEV_MAILBOX',
      'ALLOW_PRIVATE_URLS',
    ])
    const args = ['--var', 'DEV_MAILBOX:false']
    const devVars =
      '# AUTH_SECRET=no\nENCRYPTION_KEY="a=b"\n  export ALLOW_PRIVATE_URLS = false\nOTHER=1'
    assert.deepEqual(namesOf(defaultVars(args, devVars)), ['OUTPUT_SIGNING_SECRET', 'AUTH_SECRET'])
  })

  it('apply where .dev.vars has no value', () => {
    const devVars = 'AUTH_SECRET=\nENCRYPTION_KEY = \n\nOUTPUT_SIGNING_SECRET=a\n'
    assert.deepEqual(namesOf(defaultVars([], devVars)), [
      'AUTH_SECRET',
      'ENCRYPTION_KEY',
      'DEV_MAILBOX',
      'ALLOW_PRIVATE_URLS',
    ])
  })

  it('are not in .dev.vars.example, which names every setting of docs/configuration.md', () => {
    const example = readFileSync(join(ROOT, '.dev.vars.example'), 'utf8')
    assert.deepEqual(defaultVars([], example), defaultVars([], ''))
    // The deploy button offers values as the secrets of a deployment, and asks for what has no comment sign.
    assert.doesNotMatch(example, /^\w+=[^\n]/m)
    const asked = [...example.matchAll(/^\w+(?==)/gm)].map(([name]) => name)
    const { cloudflare } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      cloudflare: { bindings: Record<string, { description: string }> }
    }
    for (const name of asked) assert.ok(cloudflare.bindings[name]?.description, name)
    const page = readFileSync(join(ROOT, 'docs', 'configuration.md'), 'utf8')
    const rows = page.split('\n').filter((line) => line.startsWith('| `'))
    const names = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/[A-Z][A-Z\d_]+/g)])
    assert.ok(names.length > 20)
    for (const [name] of names) assert.match(example, new RegExp(`^(# )?${name}=`, 'm'))
  })
})

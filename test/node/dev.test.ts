// `npm run dev`, and `wrangler dev` without it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parseEnv } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { DEVELOPMENT } from '../../scripts/seed.ts'
import { ROOT } from '../../scripts/wrangler.ts'
import { DEVELOPMENT_SECRETS } from '../../src/platform/public-deployment.ts'
import { copyRepository } from './support/copy-repository.ts'

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

  it('answers bodies that are too large, also while they are sent', async () => {
    const body = new Uint8Array(20_000_000)
    const post = async (path: string, headers: Record<string, string>) => {
      const { status } = await fetch(urlOf() + path, { method: 'POST', headers, body })
      return status
    }
    const form = { Origin: urlOf(), 'Content-Type': 'application/x-www-form-urlencoded' }
    const json = {
      Authorization: `Bearer ${found(printed, /svc_test_sk_\w+/)}`,
      'Content-Type': 'application/json',
    }
    for (let count = 0; count < 5; count++) {
      assert.equal(await post('/console/sign-in', form), 413)
      assert.equal(await post('/v1/tryon', json), 413)
    }
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

describe('wrangler dev in a new clone', { timeout: 180_000 }, () => {
  it('starts the service with the development organisation, and writes nothing that Git shows', async (t) => {
    const clone = copyRepository()
    const args = ['wrangler', 'dev', '--port', '0', '--inspector-port', '0']
    const dev = spawn('npx', args, { cwd: clone.folder, detached: true })
    t.after(async () => {
      // npx passes no signal on, so this ends its process group.
      process.kill(-(dev.pid ?? 0), 'SIGTERM')
      if (dev.exitCode === null) await once(dev, 'exit')
      clone.remove()
    })
    let printed = ''
    const url = await new Promise<string>((resolve, reject) => {
      dev.stdout.on('data', (text) => {
        printed += text
        const [, address] = /Ready on (\S+)/.exec(printed) ?? []
        if (address !== undefined) resolve(address)
      })
      dev.stderr.on('data', (text) => (printed += text))
      dev.on('exit', () => reject(new Error(`wrangler dev exited early:\n${printed}`)))
    })
    const headers = { Authorization: `Bearer ${DEVELOPMENT.liveKey}` }
    const account = await fetch(`${url}/v1/account`, { headers })
    assert.partialDeepStrictEqual(await account.json(), { credits: 100 })
    const submitted = await fetch(`${url}/v1/tryon`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        model_image_url: `${url}/static/model.jpg`,
        garment_image_url: `${url}/static/garment.jpg`,
      }),
    })
    assert.equal(submitted.status, 202, await submitted.text())
    assert.equal((await fetch(`${url}/console/dev/mail`)).status, 200)
    assert.equal(clone.git('status', '--porcelain'), '')
  })
})

describe('the settings of wrangler dev', () => {
  const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

  it('are those that a public deployment refuses', () => {
    assert.deepEqual(
      { ...parseEnv(read('.env')) },
      { ...DEVELOPMENT_SECRETS, DEV_MAILBOX: 'true', ALLOW_PRIVATE_URLS: 'true' },
    )
  })

  it('are in .env.example without values, with every setting of docs/configuration.md', () => {
    const example = read('.env.example')
    // The deploy button offers values as the secrets of a deployment, and asks for what has no comment sign.
    assert.doesNotMatch(example, /^\w+=[^\n]/m)
    const asked = [...example.matchAll(/^\w+(?==)/gm)].map(([name]) => name)
    const { cloudflare } = JSON.parse(read('package.json')) as {
      cloudflare: { bindings: Record<string, { description: string }> }
    }
    for (const name of asked) assert.ok(cloudflare.bindings[name]?.description, name)
    const rows = read('docs/configuration.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    const names = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/[A-Z][A-Z\d_]+/g)])
    assert.ok(names.length > 20)
    for (const [name] of names) assert.match(example, new RegExp(`^(# )?${name}=`, 'm'))
  })
})

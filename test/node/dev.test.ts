// `npm run dev`, which imports parts of the service in Node.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { ROOT } from '../../scripts/wrangler.ts'

it('npm run dev prints a URL and keys that work', { timeout: 60_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'try-on-dev-'))
  const args = ['--port', '0', '--persist-to', folder, '--log-level', 'error']
  const dev = spawn(process.execPath, ['scripts/dev.ts', ...args], { cwd: ROOT })
  t.after(async () => {
    dev.kill('SIGINT')
    if (dev.exitCode === null) await once(dev, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  let printed = ''
  const ready = new Promise<void>((resolve, reject) => {
    dev.stdout.on('data', (text) => {
      printed += text
      if (printed.includes('shirt.png')) resolve()
    })
    dev.stderr.on('data', (text) => (printed += text))
    dev.on('exit', () => reject(new Error(`npm run dev exited early:\n${printed}`)))
  })
  await ready

  const [url] = /http:\/\/\S+(?=\/v1\/tryon)/.exec(printed) ?? []
  for (const [key] of printed.matchAll(/svc_(test|live)_sk_\w+/g)) {
    const response = await fetch(`${url}/v1/account`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    assert.equal(response.status, 200, `${key}: ${await response.text()}`)
  }
  const [testKey] = /svc_test_sk_\w+/.exec(printed) ?? []
  const job = await fetch(`${url}/v1/tryon`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${testKey}`, Prefer: 'wait=10' },
    body: JSON.stringify({
      model_image_url: 'https://shop.example/model.jpg',
      garment_image_url: 'https://shop.example/shirt.png',
    }),
  })
  assert.equal(((await job.json()) as { status: string }).status, 'completed')
})

// `npm run smoke` and `npm run load` against a running service.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, describe, it } from 'node:test'
import { smoke } from '../../scripts/smoke.ts'
import { ROOT } from '../../scripts/wrangler.ts'
import { sharedService, type NewOrganisation } from './support/service.ts'

const service = sharedService()
let shop: NewOrganisation

before(async () => {
  shop = await service.newOrganisation({ rate_limit_per_minute: 6_000 })
})

/** Runs the script. @returns whether all checks passed, and the statuses by check */
async function run(args: string[], env: Record<string, string> = {}, url = service.url) {
  const lines: string[] = []
  const passed = await smoke({
    args: ['--url', url, ...args],
    env,
    print: (line) => lines.push(line),
  })
  const rows = lines.map((line) => /^(\w+) +(\S+(?: \S+)*?) {2,}[\d.]+ s {2}(.*)$/.exec(line) ?? [])
  return {
    passed,
    lines,
    checks: Object.fromEntries(rows.map(([, status, name]) => [name, status])),
  }
}

describe('npm run smoke', { timeout: 180_000 }, () => {
  it('passes all checks of a working service, with a line for each', async () => {
    const { test, live } = shop.api_keys
    const { passed, checks, lines } = await run(['--key', test, '--key', live])
    assert.deepEqual(
      checks,
      {
        health: 'passed',
        'test job': 'passed',
        webhook: 'passed',
        cancellation: 'passed',
        'upload and live job': 'passed',
        'signed picture': 'passed',
      },
      lines.join('\n'),
    )
    assert.equal(passed, true)
    assert.ok(!lines.join('').includes('svc_'))
  })

  it('skips the checks of a mode without a key, which may be in the environment', async () => {
    const { passed, checks } = await run([], {
      TRY_ON_LIVE_KEY: '',
      TRY_ON_TEST_KEY: shop.api_keys.test,
    })
    assert.equal(passed, true)
    assert.equal(checks['test job'], 'passed')
    assert.equal(checks['upload and live job'], 'skipped')
    assert.equal(checks['signed picture'], 'skipped')
  })

  it('fails a check and continues with the others', async () => {
    const broke = await service.newOrganisation({ credits: 0 })
    const keys = ['--key', broke.api_keys.test, '--key', broke.api_keys.live]
    // The service rejects this URL.
    const { passed, checks, lines } = await run([...keys, '--webhook', 'ftp://127.0.0.1:9/'])
    assert.equal(passed, false)
    assert.deepEqual(checks, {
      health: 'passed',
      'test job': 'passed',
      webhook: 'FAILED',
      cancellation: 'passed',
      'upload and live job': 'FAILED',
      'signed picture': 'FAILED',
    })
    assert.match(lines.join('\n'), /FAILED +upload and live job .*credits/)
  })

  it('fails everything where the service is down', async () => {
    const server = createServer((_, response) => response.writeHead(404).end('no service'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { test, live } = shop.api_keys
    const result = await run(['--key', test, '--key', live], {}, `http://127.0.0.1:${port}`)
    server.close()
    assert.deepEqual(new Set(Object.values(result.checks)), new Set(['FAILED']))
  })

  it('rejects wrong arguments before any request', async () => {
    const rejected = (args: string[], message: RegExp) =>
      assert.rejects(smoke({ args, env: {}, print: assert.fail }), {
        name: 'ArgumentsError',
        message,
      })
    await rejected([], /--url/)
    await rejected(['--url', 'http://try-on.example', '--key', 'svc_test_sk_1'], /https/)
    await rejected(['--url', 'https://try-on.example'], /--key/)
    await rejected(['--url', 'https://try-on.example', '--key', 'secret'], /must start with/)
    await rejected(['--host', 'x'], /--host/)
  })
})

describe('npm run load', { timeout: 180_000 }, () => {
  const load = (args: string[]) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      const options = { cwd: ROOT, env: { ...process.env, TRY_ON_TEST_KEY: '' } }
      execFile(process.execPath, ['scripts/load.ts', ...args], options, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      )
    })

  it('sends at most the given number of requests to each endpoint', async () => {
    const target = ['--url', service.url, '--key', shop.api_keys.test]
    const { code, stdout, stderr } = await load([
      ...target,
      '--requests',
      '20',
      '--connections',
      '2',
    ])
    assert.equal(code, 0, stderr)
    const rows = stdout.split('\n').filter((line) => /\/v1\//.test(line))
    const cells = rows.map((row) => row.split('│').map((cell) => cell.trim()))
    assert.deepEqual(
      cells.map(([, name, requests]) => [name, requests]),
      [
        ['GET /v1/account', '20'],
        ['GET /v1/workspaces', '20'],
        ['GET /v1/jobs', '20'],
        ['GET /v1/jobs/{id}', '20'],
        ['POST /v1/tryon', '20'],
        ['POST /v1/tryon, to cancel', '20'],
        ['DELETE /v1/jobs/{id}', '20'],
      ],
    )
  })

  it('says that the limit of the key is too low, and fails', async () => {
    const { api_keys: keys } = await service.newOrganisation({ rate_limit_per_minute: 30 })
    const args = ['--url', service.url, '--key', keys.test, '--requests', '40']
    const { code, stdout, stderr } = await load(args)
    assert.equal(code, 1)
    assert.match(stderr, /may send 30 requests a minute/)
    assert.match(stderr, /responses were not 2xx/)
    assert.match(stdout, /429/)
  })

  it('refuses other hosts, live keys and too much', async () => {
    const rejected = async (args: string[], message: RegExp) => {
      const { code, stderr } = await load(args)
      assert.deepEqual([code, message.test(stderr)], [2, true], stderr)
      assert.ok(!stderr.includes('svc_live_sk_1'))
    }
    const test = ['--key', 'svc_test_sk_1']
    await rejected(['--url', 'https://shop.example', ...test], /pass --i-own-this-host/)
    await rejected(['--url', service.url, '--key', 'svc_live_sk_1'], /test key/)
    await rejected(['--url', service.url, ...test, '--seconds', '61'], /from 1 to 60/)
    await rejected(['--url', service.url, ...test, '--requests', '1e9'], /from 1 to 20000/)
  })
})

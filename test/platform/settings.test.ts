// Settings, tested through a request.
import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import worker from '../../src/index.ts'
import { DEVELOPMENT_SECRETS } from '../../src/platform/public-deployment.ts'
import { BASE } from '../support/client.ts'

const read = (vars: Record<string, string>) =>
  worker.fetch(
    new Request(`${BASE}/openapi.json`),
    Object.assign({ ...env }, vars),
    createExecutionContext(),
  )

describe('a setting', () => {
  it.each([
    ['BASE_URL', 'shop.example', 'must be an http or https URL'],
    ['BASE_URL', 'ftp://shop.example', 'must be an http or https URL'],
    ['OPEN_SHARDS', 'first', 'must be numbers of shards, separated by commas'],
    ['OPEN_SHARDS', '0,4', 'requires the binding JOBS_DB_4'],
    ['OUTPUT_SIGNING_SECRET', '', 'must have at least 32 characters'],
    ['OUTPUT_SIGNING_SECRET', 'short-secret', 'must have at least 32 characters'],
    ['OUTPUT_SIGNING_SECRET_PREVIOUS', 'short-secret', 'must have at least 32 characters'],
    ['OPERATOR_TOKEN', 'thirty-one-characters-as-token.', 'must have at least 32 characters'],
  ])(
    'is named in the log without its value when it is invalid: %s=%s',
    async (name, value, problem) => {
      const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
      const response = await read({ [name]: value })
      expect(response.status).toBe(500)
      expect(await response.json()).toMatchObject({ error: { code: 'internal_error' } })
      const log = errors.mock.calls.map(String).join()
      expect(log).toContain(`${name} ${problem}`)
      expect(log).not.toContain(value || 'undefined')
    },
  )

  it.each(['BASE_URL', 'OUTPUT_SIGNING_SECRET_PREVIOUS'])(
    'counts as unset when it is empty: %s',
    async (name) => {
      const response = await read({ [name]: '' })
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ servers: [{ url: BASE }] })
    },
  )

  it.each(['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'])(
    'is named in the log when it is missing with PAYMENT_PROVIDER=stripe: %s',
    async (name) => {
      const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
      const secrets = { STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' }
      const vars = { PAYMENT_PROVIDER: 'stripe', ...secrets, [name]: '' }
      expect((await read(vars)).status).toBe(500)
      const log = errors.mock.calls.map(String).join()
      expect(log).toContain(`${name} is not set: run \`wrangler secret put ${name}\``)
      expect((await read({ PAYMENT_PROVIDER: 'stripe', ...secrets })).status).toBe(200)
    },
  )

  const PUBLIC = { BASE_URL: 'https://api.shop.example', DEV_MAILBOX: 'false' }

  it.each([
    ['BASE_URL', 'http://api.shop.example', 'must start with https://'],
    ['BASE_URL', 'http://8.8.8.8', 'must start with https://'],
    ['DEV_MAILBOX', 'true', 'is for development only'],
    ['ALLOW_PRIVATE_URLS', 'true', 'is for development only'],
    ...Object.entries(DEVELOPMENT_SECRETS).map(([name, value]) => [
      name,
      value,
      'is a published value',
    ]),
    ['OPERATOR_TOKEN', DEVELOPMENT_SECRETS.AUTH_SECRET, 'is a published value'],
  ])('of development is refused with a public BASE_URL: %s=%s', async (name, value, problem) => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    expect((await read({ ...PUBLIC, [name!]: value! })).status).toBe(500)
    expect(errors.mock.calls.map(String).join()).toContain(`${name} ${problem}`)
    expect((await read(PUBLIC)).status).toBe(200)
  })

  it.each(['http://localhost:8787', 'http://127.0.0.1', 'http://192.168.1.2', 'http://[::1]:80'])(
    'of development is accepted with the BASE_URL %s',
    async (url) => {
      const vars = { DEV_MAILBOX: 'true', ALLOW_PRIVATE_URLS: 'true', ...DEVELOPMENT_SECRETS }
      expect((await read({ ...vars, BASE_URL: url })).status).toBe(200)
      expect((await read({ ...vars, BASE_URL: '' })).status).toBe(200)
    },
  )

  it('is applied: BASE_URL without its trailing slash, a previous secret of 32 characters', async () => {
    const vars = {
      ...PUBLIC,
      BASE_URL: 'https://api.shop.example/',
      OUTPUT_SIGNING_SECRET_PREVIOUS: 'p'.repeat(32),
    }
    expect(await (await read(vars)).json()).toMatchObject({
      servers: [{ url: 'https://api.shop.example' }],
    })
  })
})

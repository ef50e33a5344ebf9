// What the Worker makes of its variables, as a request finds out.
import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import worker from '../src/index.ts'
import { BASE } from './support/client.ts'

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
    ['OUTPUT_SIGNING_SECRET', '', 'must have at least 32 characters'],
    ['OUTPUT_SIGNING_SECRET', 'short-secret', 'must have at least 32 characters'],
    ['OUTPUT_SIGNING_SECRET_PREVIOUS', 'short-secret', 'must have at least 32 characters'],
  ])(
    'that is wrong is named in the log, without its value: %s=%s',
    async (name, value, problem) => {
      const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
      const answer = await read({ [name]: value })
      expect(answer.status).toBe(500)
      expect(await answer.json()).toMatchObject({ error: { code: 'internal_error' } })
      const log = errors.mock.calls.map(String).join()
      expect(log).toContain(`${name} ${problem}`)
      expect(log).not.toContain(value || 'undefined')
    },
  )

  it.each(['BASE_URL', 'OUTPUT_SIGNING_SECRET_PREVIOUS'])(
    'that is empty counts as unset: %s',
    async (name) => {
      const answer = await read({ [name]: '' })
      expect(answer.status).toBe(200)
      expect(await answer.json()).toMatchObject({ servers: [{ url: BASE }] })
    },
  )

  it('is in force: BASE_URL without its last slash, a previous secret of 32 characters', async () => {
    const vars = {
      BASE_URL: 'https://api.shop.example/',
      OUTPUT_SIGNING_SECRET_PREVIOUS: 'p'.repeat(32),
    }
    expect(await (await read(vars)).json()).toMatchObject({
      servers: [{ url: 'https://api.shop.example' }],
    })
  })
})

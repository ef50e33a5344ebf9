import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { signedUrl } from '../../src/platform/signing/signed-url.ts'
import { BASE, codeOf, request } from '../support/client.ts'
import { finished, newOrganisation, readJob, submit } from '../support/world.ts'

let path: string

const get = (to: string, init?: RequestInit) => request(to.replace(BASE, ''), init)

beforeAll(async () => {
  const shop = await newOrganisation()
  const { job_id } = await submit(shop.test)
  path = String((await finished(shop.test, job_id))['output_url']).replace(BASE, '')
})

describe('a signed link', () => {
  it('serves the picture for an hour', async () => {
    const response = await get(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('image/png')
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(response.headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin')
    expect(response.headers.get('Cache-Control')).toMatch(/^private, max-age=3[56]\d\d$/)
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(Array.from(bytes.subarray(1, 4))).toEqual([0x50, 0x4e, 0x47])
    expect(response.headers.get('Content-Length')).toBe(String(bytes.byteLength))

    const expires = Number(new URL(path, BASE).searchParams.get('expires'))
    expect(Math.abs(expires - Date.now() / 1_000 - 3_600)).toBeLessThan(60)
  })

  it('returns 304 when the client has the picture', async () => {
    const etag = (await get(path)).headers.get('ETag')!
    for (const known of [etag, `W/${etag}`, `"a,b", W/"other" ,${etag}`, '*']) {
      const response = await get(path, { headers: { 'If-None-Match': known } })
      expect(response.status, known).toBe(304)
      expect(await response.text()).toBe('')
      expect(response.headers.get('ETag')).toBe(etag)
      expect(response.headers.get('Cache-Control')).toMatch(/^private, max-age=3[56]\d\d$/)
    }
  })

  it('ignores other and malformed preconditions', async () => {
    const etag = (await get(path)).headers.get('ETag')!
    for (const headers of [
      { 'If-None-Match': 'abc' },
      { 'If-None-Match': etag.replaceAll('"', '') },
      { 'If-None-Match': `"other", ${etag}, "` },
      { 'If-None-Match': '"", W/"*", "a b"' },
      { 'If-None-Match': `${etag}, *` },
      { 'If-None-Match': '' },
      { 'If-Match': 'abc' },
      { 'If-Match': '"other"' },
      { 'If-Modified-Since': new Date(Date.now() + 60_000).toUTCString() },
      { 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
    ]) {
      const response = await get(path, { headers })
      expect(response.status, JSON.stringify(headers)).toBe(200)
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0)
    }
  })

  it('returns the request id with every response', async () => {
    const headers = { 'X-Request-Id': 'request-of-a-test' }
    for (const [status, init] of [
      [200, { headers }],
      [200, { method: 'HEAD', headers }],
      [304, { headers: { ...headers, 'If-None-Match': '*' } }],
    ] as const) {
      const response = await get(path, init)
      expect(response.status).toBe(status)
      expect(response.headers.get('X-Request-Id')).toBe('request-of-a-test')
      expect(response.headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin')
    }
  })

  it('responds to HEAD without a body', async () => {
    const response = await get(path, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
  })

  it('is rejected when any part of it was changed', async () => {
    const url = new URL(path, BASE)
    const expires = url.searchParams.get('expires')!
    const signature = url.searchParams.get('signature')!
    const changed = (changes: Record<string, string>) => {
      const other = new URL(url)
      for (const [name, value] of Object.entries(changes)) other.searchParams.set(name, value)
      return other.href
    }
    for (const link of [
      url.pathname,
      changed({ expires: String(Number(expires) + 1) }),
      changed({ expires: `0${expires}` }),
      changed({ expires: '' }),
      changed({ signature: '' }),
      changed({ signature: signature.replace(/^./, signature.startsWith('A') ? 'B' : 'A') }),
      changed({ signature: `${signature}=` }),
      path.replace('.png', '.jpg'),
      path.replace('/outputs/', '/outputs/%00'),
    ]) {
      const response = await get(link)
      expect(response.status, link).toBe(403)
      expect(await codeOf(response)).toBe('invalid_signature')
    }
  })

  it('is rejected after an hour', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_602_000 })
    const response = await get(path)
    vi.useRealTimers()
    expect(response.status).toBe(403)
    expect(await codeOf(response)).toBe('url_expired')
  })

  it('returns 404 once the picture is deleted', async () => {
    const response = await get(signedUrl(env, BASE, 'outputs/job_gone.png'))
    expect(response.status).toBe(404)
    expect(await codeOf(response)).toBe('not_found')
  })

  it('is signed again for each read of the job', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test)
    const first = (await finished(shop.test, job_id))['output_url']
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5_000 })
    const second = (await readJob(shop.test, job_id))['output_url']
    vi.useRealTimers()
    expect(second).not.toBe(first)
  })
})

import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { signedUrl } from '../../src/signing/signed-url.ts'
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
    const answer = await get(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Content-Type')).toBe('image/png')
    expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(answer.headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin')
    expect(answer.headers.get('Cache-Control')).toMatch(/^private, max-age=3[56]\d\d$/)
    const bytes = new Uint8Array(await answer.arrayBuffer())
    expect(Array.from(bytes.subarray(1, 4))).toEqual([0x50, 0x4e, 0x47])
    expect(answer.headers.get('Content-Length')).toBe(String(bytes.byteLength))

    const expires = Number(new URL(path, BASE).searchParams.get('expires'))
    expect(Math.abs(expires - Date.now() / 1_000 - 3_600)).toBeLessThan(60)
  })

  it('is answered 304 when the caller has the picture', async () => {
    const etag = (await get(path)).headers.get('ETag')!
    for (const known of [etag, `W/${etag}`, `"a,b", W/"other" ,${etag}`, '*']) {
      const answer = await get(path, { headers: { 'If-None-Match': known } })
      expect(answer.status, known).toBe(304)
      expect(await answer.text()).toBe('')
      expect(answer.headers.get('ETag')).toBe(etag)
      expect(answer.headers.get('Cache-Control')).toMatch(/^private, max-age=3[56]\d\d$/)
    }
  })

  it('serves the picture whatever other or malformed precondition comes with the request', async () => {
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
      const answer = await get(path, { headers })
      expect(answer.status, JSON.stringify(headers)).toBe(200)
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(0)
    }
  })

  it('names the request in every answer', async () => {
    const headers = { 'X-Request-Id': 'request-of-a-test' }
    for (const [status, init] of [
      [200, { headers }],
      [200, { method: 'HEAD', headers }],
      [304, { headers: { ...headers, 'If-None-Match': '*' } }],
    ] as const) {
      const answer = await get(path, init)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('X-Request-Id')).toBe('request-of-a-test')
      expect(answer.headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin')
    }
  })

  it('answers HEAD', async () => {
    const answer = await get(path, { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
  })

  it('is refused when any part of it was changed', async () => {
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
      const answer = await get(link)
      expect(answer.status, link).toBe(403)
      expect(await codeOf(answer)).toBe('invalid_signature')
    }
  })

  it('is refused after an hour', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_602_000 })
    const answer = await get(path)
    vi.useRealTimers()
    expect(answer.status).toBe(403)
    expect(await codeOf(answer)).toBe('url_expired')
  })

  it('leads to 404 once the picture is no longer kept', async () => {
    const answer = await get(signedUrl(env, BASE, 'outputs/job_gone.png'))
    expect(answer.status).toBe(404)
    expect(await codeOf(answer)).toBe('not_found')
  })

  it('is signed afresh at each read', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test)
    const first = (await finished(shop.test, job_id))['output_url']
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5_000 })
    const second = (await readJob(shop.test, job_id))['output_url']
    vi.useRealTimers()
    expect(second).not.toBe(first)
  })
})

import { describe, expect, it } from 'vitest'
import { pollAfterSeconds } from '../../src/engines/engine.ts'
import { MAX_OUTPUT_BYTES, decodeOutput, fetchOutput } from '../../src/engines/output.ts'
import { scrub, BaseUrl } from '../../src/engines/provider-api.ts'
import { retryAfterSeconds } from '../../src/platform/net/retry-after.ts'
import { jpeg, png } from '../support/picture.ts'
import { fakeProvider } from '../support/provider.ts'

const provider = fakeProvider()
const URL_ = 'https://cdn.example/a.png'

describe('fetchOutput, of a URL', () => {
  it('detects the format from the bytes, not from the content type', async () => {
    const response = new Response(png(), { headers: { 'content-type': 'image/jpeg' } })
    provider.on('GET', URL_, response)
    expect(await fetchOutput('fake', URL_)).toEqual({ bytes: png(), format: 'png' })
    expect(provider.seen[0]?.signal).toBeInstanceOf(AbortSignal)
    expect(provider.seen[0]?.headers).toEqual({})
  })

  it('follows at most 3 redirects, to https only', async () => {
    provider
      .on('GET', URL_, new Response(null, { status: 302, headers: { location: '/b.png' } }))
      .on('GET', 'https://cdn.example/b.png', new Response(jpeg()))
    expect(await fetchOutput('fake', URL_)).toMatchObject({ format: 'jpeg' })
    expect(provider.seen.map(({ redirect }) => redirect)).toEqual(['manual', 'manual'])

    const insecure = { location: 'http://cdn.example/a.png' }
    provider.on('GET', URL_, new Response(null, { status: 302, headers: insecure }))
    await expect(fetchOutput('fake', URL_)).rejects.toMatchObject(over('URL is not allowed'))

    for (let hop = 0; hop < 4; hop += 1) {
      provider.on('GET', URL_, new Response(null, { status: 307, headers: { location: URL_ } }))
    }
    await expect(fetchOutput('fake', URL_)).rejects.toMatchObject(over('more than 3 redirects'))
  })

  it.each([
    ['a temporary error', () => new Response('', { status: 503 }), 'alive'],
    ['a timeout', () => new DOMException('', 'TimeoutError'), 'alive'],
    ['an expired URL', () => new Response('', { status: 403 }), 'over'],
    ['a file that is not a picture', () => new Response('<html>'), 'over'],
    ['a picture with a truncated header', () => new Response(png().slice(0, 20)), 'over'],
  ])('throws a retriable error for %s', async (_, reply, work) => {
    provider.on('GET', URL_, reply())
    await expect(fetchOutput('fake', URL_)).rejects.toMatchObject({
      code: 'generation_failed',
      retriable: true,
      work,
    })
  })

  it('stops at 20 MB, with or without Content-Length', async () => {
    const length = { 'content-length': String(MAX_OUTPUT_BYTES + 1) }
    provider.on('GET', URL_, new Response(new ReadableStream(), { headers: length }))
    await expect(fetchOutput('fake', URL_)).rejects.toMatchObject(over('too large'))

    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1
        controller.enqueue(new Uint8Array(1024 * 1024))
      },
    })
    provider.on('GET', URL_, new Response(endless))
    await expect(fetchOutput('fake', URL_)).rejects.toMatchObject(over('too large'))
    expect(sent).toBeLessThan(24)
  })

  it('uses http only for the loopback host of the base URL', async () => {
    const local = 'http://127.0.0.1:9000/a.png'
    for (const base of [undefined, 'https://api.example', 'http://localhost:8000']) {
      await expect(fetchOutput('fake', local, base)).rejects.toMatchObject(over('is not allowed'))
    }
    provider.on('GET', local, new Response(png()))
    expect(await fetchOutput('fake', local, 'http://127.0.0.1:8000')).toMatchObject({
      format: 'png',
    })
  })
})

describe('decodeOutput', () => {
  it('decodes base64, bare or as a data URI', async () => {
    const base64 = png().toBase64()
    expect(decodeOutput('fake', base64)).toEqual({ bytes: png(), format: 'png' })
    const uri = `data:image/webp;base64,${base64}`
    expect(await fetchOutput('fake', uri)).toEqual({ bytes: png(), format: 'png' })
  })

  it('throws for invalid base64, for other files and above the size limit', () => {
    const text = btoa('not a picture at all')
    const large = 'A'.repeat(Math.ceil((MAX_OUTPUT_BYTES / 3) * 4) + 8)
    for (const reference of ['ftp://x', text, '', large]) {
      expect(() => decodeOutput('fake', reference)).toThrow(
        expect.objectContaining({ code: 'generation_failed', work: 'over' }),
      )
    }
  })
})

describe('helpers', () => {
  it('retryAfterSeconds parses both forms of Retry-After', () => {
    const after = (value: string) =>
      retryAfterSeconds(new Headers({ 'retry-after': value }), 1_000_000)
    expect(after('7')).toBe(7)
    expect(after(new Date(1_030_000).toUTCString())).toBe(30)
    expect(after(new Date(0).toUTCString())).toBe(0)
    expect(after('soon')).toBeUndefined()
    expect(retryAfterSeconds(new Headers())).toBeUndefined()
  })

  it('scrub removes URLs and secrets from a message', () => {
    expect(scrub('cannot load https://ours.example/m?signature=abc now')).toBe(
      'cannot load [url] now',
    )
    expect(scrub('bad data:image/png;base64,AAAA')).toBe('bad [url]')
    expect(scrub('invalid token r8_0123456789abcdefghijkl')).toBe('invalid token [long]')
    expect(scrub('key s3cret is invalid', 's3cret')).toBe('key [secret] is invalid')
    expect(scrub('ConcurrencyLimitExceeded: downstream_service_unavailable')).toBe(
      'ConcurrencyLimitExceeded: downstream_service_unavailable',
    )
  })

  it('pollAfterSeconds grows with the age of the work', () => {
    const after = (ageMs: number) => pollAfterSeconds(Date.now() - ageMs)
    expect([0, 20_000, 100_000, 400_000].map(after)).toEqual([2, 5, 15, 30])
  })

  it('BaseUrl accepts https, and http on a loopback host', () => {
    expect(BaseUrl.parse('https://api.example/')).toBe('https://api.example')
    expect(BaseUrl.parse('http://localhost:8080')).toBe('http://localhost:8080')
    for (const invalid of ['http://api.example', 'https://u:p@api.example', 'api.example']) {
      expect(BaseUrl.safeParse(invalid).success).toBe(false)
    }
  })
})

const over = (reason: string) => ({
  code: 'generation_failed',
  retriable: true,
  work: 'over',
  message: expect.stringContaining(reason),
})

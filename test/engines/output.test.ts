import { describe, expect, it } from 'vitest'
import { BaseUrl } from '../../src/engines/base-url.ts'
import { pollAfterSeconds } from '../../src/engines/handle.ts'
import { MAX_OUTPUT_BYTES, decodeOutput, fetchOutput } from '../../src/engines/output.ts'
import { scrub } from '../../src/engines/provider.ts'
import { retryAfterSeconds } from '../../src/net/retry-after.ts'
import { jpeg, png } from '../support/picture.ts'
import { fakeProvider } from '../support/provider.ts'

const provider = fakeProvider()
const URL_ = 'https://cdn.example/a.png'

describe('a picture behind a URL', () => {
  it('has the format of its bytes, whatever the answer calls it', async () => {
    const answer = new Response(png(), { headers: { 'content-type': 'image/jpeg' } })
    provider.on('GET', URL_, answer)
    expect(await fetchOutput('fake', URL_)).toEqual({ bytes: png(), format: 'png' })
    expect(provider.seen[0]?.signal).toBeInstanceOf(AbortSignal)
    expect(provider.seen[0]?.headers).toEqual({})
  })

  it('is followed through a few redirects, to https only', async () => {
    provider
      .on('GET', URL_, new Response(null, { status: 302, headers: { location: '/b.png' } }))
      .on('GET', 'https://cdn.example/b.png', new Response(jpeg()))
    expect(await fetchOutput('fake', URL_)).toMatchObject({ format: 'jpeg' })
    expect(provider.seen.map(({ redirect }) => redirect)).toEqual(['manual', 'manual'])

    const away = { location: 'http://cdn.example/a.png' }
    provider.on('GET', URL_, new Response(null, { status: 302, headers: away }))
    await expect(fetchOutput('fake', URL_)).rejects.toMatchObject(over('URL is not allowed'))

    for (let hop = 0; hop < 4; hop += 1) {
      provider.on('GET', URL_, new Response(null, { status: 307, headers: { location: URL_ } }))
    }
    await expect(fetchOutput('fake', URL_)).rejects.toMatchObject(over('more than 3 redirects'))
  })

  it.each([
    ['a passing fault', () => new Response('', { status: 503 }), 'alive'],
    ['a time-out', () => new DOMException('', 'TimeoutError'), 'alive'],
    ['an expired URL', () => new Response('', { status: 403 }), 'over'],
    ['no picture', () => new Response('<html>'), 'over'],
    ['a picture without its header', () => new Response(png().slice(0, 20)), 'over'],
  ])('%s fails the generation, retriably', async (_, reply, work) => {
    provider.on('GET', URL_, reply())
    await expect(fetchOutput('fake', URL_)).rejects.toMatchObject({
      code: 'generation_failed',
      retriable: true,
      work,
    })
  })

  it('is given up once it is larger than 20 MB, announced or not', async () => {
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

  it('is fetched over http only from the loopback host that the engine talks to', async () => {
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

describe('a picture in base64', () => {
  it('is decoded, bare or as a data URI', async () => {
    const base64 = png().toBase64()
    expect(decodeOutput('fake', base64)).toEqual({ bytes: png(), format: 'png' })
    const uri = `data:image/webp;base64,${base64}`
    expect(await fetchOutput('fake', uri)).toEqual({ bytes: png(), format: 'png' })
  })

  it('fails the generation when it is no base64, no picture or too large', () => {
    const text = btoa('not a picture at all')
    const large = 'A'.repeat(Math.ceil((MAX_OUTPUT_BYTES / 3) * 4) + 8)
    for (const reference of ['ftp://x', text, '', large]) {
      expect(() => decodeOutput('fake', reference)).toThrow(
        expect.objectContaining({ code: 'generation_failed', work: 'over' }),
      )
    }
  })
})

describe('the small parts', () => {
  it('reads both forms of Retry-After', () => {
    const after = (value: string) =>
      retryAfterSeconds(new Headers({ 'retry-after': value }), 1_000_000)
    expect(after('7')).toBe(7)
    expect(after(new Date(1_030_000).toUTCString())).toBe(30)
    expect(after(new Date(0).toUTCString())).toBe(0)
    expect(after('soon')).toBeUndefined()
    expect(retryAfterSeconds(new Headers())).toBeUndefined()
  })

  it('takes URLs and secrets out of what a provider says', () => {
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

  it('asks less often the longer the work takes', () => {
    const after = (ageMs: number) => pollAfterSeconds(Date.now() - ageMs)
    expect([0, 20_000, 100_000, 400_000].map(after)).toEqual([2, 5, 15, 30])
  })

  it('takes https anywhere and http on this machine as a base URL', () => {
    expect(BaseUrl.parse('https://api.example/')).toBe('https://api.example')
    expect(BaseUrl.parse('http://localhost:8080')).toBe('http://localhost:8080')
    for (const wrong of ['http://api.example', 'https://u:p@api.example', 'api.example']) {
      expect(BaseUrl.safeParse(wrong).success).toBe(false)
    }
  })
})

const over = (reason: string) => ({
  code: 'generation_failed',
  retriable: true,
  work: 'over',
  message: expect.stringContaining(reason),
})

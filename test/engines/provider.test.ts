// The common behaviour of all engines with an HTTP API, tested for each of them.
import { describe, expect, it } from 'vitest'
import { JobFailure } from '../../src/domain/failure.ts'
import { POLLS, SECRET, STARTS } from '../support/engines.ts'
import { engineInput } from '../support/picture.ts'
import { fakeProvider, json } from '../support/provider.ts'

const provider = fakeProvider()

const unavailable = (work: string) => ({ code: 'engine_unavailable', retriable: true, work })

const redirect = () =>
  new Response(null, { status: 307, headers: { location: 'https://elsewhere.example/' } })

describe.each(STARTS)('%s.start', (_, create, url, before) => {
  it.each([
    ['a lost connection', () => new TypeError('network'), 'ambiguous'],
    ['a timeout', () => new DOMException('', 'TimeoutError'), 'ambiguous'],
    ['500', () => json({ error: 'x' }, 500), 'ambiguous'],
    ['503 without JSON', () => new Response('<html>', { status: 503 }), 'ambiguous'],
    ['408', () => json({}, 408), 'ambiguous'],
    ['200 that is not JSON', () => new Response('ok'), 'ambiguous'],
    ['200 with unexpected JSON', () => json([1]), 'ambiguous'],
    [
      '200 with a body above the limit',
      () => new Response('x'.repeat(32 * 1024 * 1024)),
      'ambiguous',
    ],
    ['a redirect', redirect, 'ambiguous'],
    ['401', () => json({ error: 'Unauthorized' }, 401), 'refused'],
    ['402', () => json({ detail: 'Insufficient credit' }, 402), 'refused'],
    ['403', () => json({ detail: 'User is locked. Reason: Exhausted balance.' }, 403), 'refused'],
    ['404', () => json({ detail: 'no such model' }, 404), 'refused'],
    ['429', () => json({ error: 'RateLimitExceeded', message: 'slow' }, 429), 'refused'],
  ])('maps %s to an unavailable engine', async (__, reply, work) => {
    before(provider)
    provider.on('POST', url, reply())
    await expect(create().start(engineInput())).rejects.toMatchObject(unavailable(work))
  })

  it('returns the seconds of Retry-After', async () => {
    before(provider)
    provider.on('POST', url, json({}, 429, { 'retry-after': '17' }))
    await expect(create().start(engineInput())).rejects.toMatchObject({ retryAfterSeconds: 17 })
  })

  it('does not follow redirects, and sets a timeout', async () => {
    before(provider)
    provider.on('POST', url, redirect())
    await expect(create().start(engineInput())).rejects.toThrow()
    expect(provider.seen.map((request) => request.redirect)).not.toContain(undefined)
    expect(new Set(provider.seen.map((request) => request.redirect))).toEqual(new Set(['manual']))
    expect(provider.seen.at(-1)?.signal).toBeInstanceOf(AbortSignal)
  })

  it('does not include keys and signed URLs in the error', async () => {
    const text = `Key ${SECRET} cannot load https://ours.example/model?signature=s1gnature`
    const error = { error: 'BadRequest', message: text, detail: text, title: text }
    const google = { error: { status: 'PERMISSION_DENIED', message: text } }
    for (const body of [error, google]) {
      before(provider)
      provider.on('POST', url, json(body, 400))
      const thrown = await create()
        .start(engineInput())
        .catch((reason: unknown) => reason)
      expect(thrown).toBeInstanceOf(JobFailure)
      expect(String(thrown)).not.toContain(SECRET)
      expect(String(thrown)).not.toContain('s1gnature')
      expect(thrown).toMatchObject({ cause: undefined })
    }
  })

  it('is marked as paid', () => {
    expect(create().paid).toBe(true)
  })
})

describe.each(POLLS)('%s.poll', (_, create, handle, url) => {
  it.each([
    ['a lost connection', () => new TypeError('network')],
    ['500', () => json({}, 500)],
    ['401', () => json({ detail: 'Unauthorized' }, 401)],
    ['429', () => json({}, 429)],
    ['an unexpected response', () => json({ status: 'dancing' })],
    ['a redirect', redirect],
  ])('can be repeated after %s', async (__, reply) => {
    provider.on('GET', url, reply())
    await expect(create().poll?.(handle)).rejects.toMatchObject(unavailable('alive'))
  })

  it('fails when the provider no longer knows the work', async () => {
    provider.on('GET', url, json({ error: 'NotFound', detail: 'Not found' }, 404))
    await expect(create().poll?.(handle)).rejects.toMatchObject({
      code: 'generation_failed',
      retriable: true,
      work: 'over',
    })
  })

  it.each(['', 'not json', '{}', '{"id":7}'])(
    'sends no request for the invalid handle %j',
    async (invalid) => {
      await expect(create().poll?.(invalid)).rejects.toMatchObject({
        code: 'internal_error',
        retriable: false,
      })
    },
  )
})

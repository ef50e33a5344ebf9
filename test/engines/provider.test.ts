// What every engine with an HTTP API promises, asked of each of them.
import { describe, expect, it } from 'vitest'
import { JobFailure } from '../../src/domain/failure.ts'
import { POLLS, SECRET, STARTS } from '../support/engines.ts'
import { engineInput } from '../support/picture.ts'
import { fakeProvider, json } from '../support/provider.ts'

const provider = fakeProvider()

const unavailable = (work: string) => ({ code: 'engine_unavailable', retriable: true, work })

const redirect = () =>
  new Response(null, { status: 307, headers: { location: 'https://elsewhere.example/' } })

describe.each(STARTS)('starting %s', (_, create, url, before) => {
  it.each([
    ['a lost connection', () => new TypeError('network'), 'ambiguous'],
    ['a time-out', () => new DOMException('', 'TimeoutError'), 'ambiguous'],
    ['500', () => json({ error: 'x' }, 500), 'ambiguous'],
    ['503 without JSON', () => new Response('<html>', { status: 503 }), 'ambiguous'],
    ['408', () => json({}, 408), 'ambiguous'],
    ['200 that is no JSON', () => new Response('ok'), 'ambiguous'],
    ['200 with JSON of another kind', () => json([1]), 'ambiguous'],
    ['200 that is endless', () => new Response('x'.repeat(32 * 1024 * 1024)), 'ambiguous'],
    ['a redirect', redirect, 'ambiguous'],
    ['401', () => json({ error: 'Unauthorized' }, 401), 'refused'],
    ['402', () => json({ detail: 'Insufficient credit' }, 402), 'refused'],
    ['403', () => json({ detail: 'User is locked. Reason: Exhausted balance.' }, 403), 'refused'],
    ['404', () => json({ detail: 'no such model' }, 404), 'refused'],
    ['429', () => json({ error: 'RateLimitExceeded', message: 'slow' }, 429), 'refused'],
  ])('tells %s from the others', async (__, reply, work) => {
    before(provider)
    provider.on('POST', url, reply())
    await expect(create().start(engineInput())).rejects.toMatchObject(unavailable(work))
  })

  it('hands on how long to stay away', async () => {
    before(provider)
    provider.on('POST', url, json({}, 429, { 'retry-after': '17' }))
    await expect(create().start(engineInput())).rejects.toMatchObject({ retryAfterSeconds: 17 })
  })

  it('never follows a redirect with our key, and never waits for ever', async () => {
    before(provider)
    provider.on('POST', url, redirect())
    await expect(create().start(engineInput())).rejects.toThrow()
    expect(provider.seen.map((request) => request.redirect)).not.toContain(undefined)
    expect(new Set(provider.seen.map((request) => request.redirect))).toEqual(new Set(['manual']))
    expect(provider.seen.at(-1)?.signal).toBeInstanceOf(AbortSignal)
  })

  it('keeps keys and signed URLs out of the error', async () => {
    const told = `Key ${SECRET} cannot load https://ours.example/model?signature=s1gnature`
    const error = { error: 'BadRequest', message: told, detail: told, title: told }
    const google = { error: { status: 'PERMISSION_DENIED', message: told } }
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

  it('says that it costs money', () => {
    expect(create().paid).toBe(true)
  })
})

describe.each(POLLS)('polling %s', (_, create, handle, url) => {
  it.each([
    ['a lost connection', () => new TypeError('network')],
    ['500', () => json({}, 500)],
    ['401', () => json({ detail: 'Unauthorized' }, 401)],
    ['429', () => json({}, 429)],
    ['an answer of another kind', () => json({ status: 'dancing' })],
    ['a redirect', redirect],
  ])('keeps the work alive after %s', async (__, reply) => {
    provider.on('GET', url, reply())
    await expect(create().poll?.(handle)).rejects.toMatchObject(unavailable('alive'))
  })

  it('knows work that the provider has forgotten', async () => {
    provider.on('GET', url, json({ error: 'NotFound', detail: 'Not found' }, 404))
    await expect(create().poll?.(handle)).rejects.toMatchObject({
      code: 'generation_failed',
      retriable: true,
      work: 'over',
    })
  })

  it.each(['', 'not json', '{}', '{"id":7}'])('sends nothing for the handle %j', async (wrong) => {
    await expect(create().poll?.(wrong)).rejects.toMatchObject({
      code: 'internal_error',
      retriable: false,
    })
  })
})

// Headers, retries, timeouts, aborts and error responses, with a fake `fetch`.
import { ApiError, ConnectionError, TimeoutError, TryOnClient, VERSION } from '../src/index.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  abortedLater,
  BASE_URL,
  errorResponse,
  expectError,
  fakeService,
  IMAGES,
  jobResponse,
  networkError,
  rateLimited,
  settle,
  stalled,
  submitted,
} from './fake-service.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const account = () => Response.json({ org_id: 'org_1', credits: 100 })
const unavailable = () => errorResponse(503, 'internal_error')

describe('a request', () => {
  it('has the key, the version of the client and the path', async () => {
    const { client, requests } = fakeService([account()])
    expect(await client.account.get()).toEqual({ org_id: 'org_1', credits: 100 })
    expect(requests[0]).toMatchObject({ method: 'GET', path: '/v1/account' })
    expect(requests[0]?.headers.get('Authorization')).toBe('Bearer svc_test_sk_1')
    expect(requests[0]?.headers.get('User-Agent')).toBe(`try-on-client/${VERSION}`)
  })

  it.each(['', '.', '..'])('is not sent for the job id %j', async (id) => {
    const { client, requests } = fakeService([])
    await expect(client.jobs.get(id)).rejects.toThrow(TypeError)
    await expect(client.jobs.cancel(id)).rejects.toThrow(TypeError)
    expect(requests).toEqual([])
  })

  it('warns about a field that the service does not know', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    const response = Response.json({}, { headers: { 'Ignored-Fields': 'webook_url' } })
    await fakeService([response]).client.account.get()
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      'The Try-On service ignored unknown fields: webook_url',
    )
  })

  it('encodes the job id', async () => {
    const { client, requests } = fakeService([jobResponse()])
    await client.jobs.get('a/b?c')
    expect(requests[0]?.path).toBe('/v1/jobs/a%2Fb%3Fc')
  })

  it('is not sent with an Idempotency-Key that a header cannot have', async () => {
    const { client, requests } = fakeService([])
    await expect(client.tryOn.submit(IMAGES, { idempotencyKey: 'a\nb' })).rejects.toThrow(TypeError)
    expect(requests).toEqual([])
  })
})

describe('a retry', () => {
  it('follows a network error and has the same Idempotency-Key and body', async () => {
    const { client, requests } = fakeService([networkError(), unavailable(), submitted()])
    expect(await settle(client.tryOn.submit(IMAGES))).toMatchObject({ job_id: 'job_1' })
    expect(requests.map(({ body }) => body)).toEqual(Array(3).fill(JSON.stringify(IMAGES)))
    const keys = requests.map(({ headers }) => headers.get('Idempotency-Key'))
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(new Set(keys).size).toBe(1)
  })

  it('is not made for another call: each submission has its own Idempotency-Key', async () => {
    const { client, requests } = fakeService([submitted(), submitted(), submitted()])
    await client.tryOn.submit(IMAGES)
    await client.tryOn.submit(IMAGES)
    await client.tryOn.submit(IMAGES, { idempotencyKey: 'order-7' })
    const keys = requests.map(({ headers }) => headers.get('Idempotency-Key'))
    expect(new Set(keys).size).toBe(3)
    expect(keys[2]).toBe('order-7')
  })

  it.each([
    ['7', 7],
    [new Date(Date.UTC(2026, 10, 22, 12, 0, 9)).toUTCString(), 9],
  ])('waits for Retry-After and a random part of it: %s', async (retryAfter, seconds) => {
    vi.setSystemTime(Date.UTC(2026, 10, 22, 12, 0, 0))
    vi.spyOn(Math, 'random').mockReturnValue(0.8)
    const times: number[] = []
    const record = (response: Response) => async () => {
      times.push(Date.now())
      return response
    }
    const { client } = fakeService([record(rateLimited(retryAfter)), record(account())])
    await settle(client.account.get())
    expect(times[1]! - times[0]!).toBe(seconds * 1_200)
  })

  it('is not made when Retry-After is longer than a minute', async () => {
    const { client, requests } = fakeService([rateLimited('7200')])
    const error = await settle(client.account.get())
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 7_200 })
    expect(requests).toHaveLength(1)
  })

  it('is made at most maxRetries times', async () => {
    const { client, requests } = fakeService([unavailable(), unavailable()], { maxRetries: 1 })
    expect(await settle(client.account.get())).toMatchObject({ status: 503 })
    expect(requests).toHaveLength(2)
    const patient = fakeService([networkError()], { maxRetries: 0 })
    await expectError(patient.client.account.get(), ConnectionError, {
      message: `${BASE_URL} cannot be reached: read ECONNRESET`,
      cause: expect.any(TypeError),
    })
  })

  it('is not made after an error of the caller', async () => {
    const { client, requests } = fakeService([errorResponse(422, 'validation_error')])
    expect(await settle(client.tryOn.submit(IMAGES))).toMatchObject({ code: 'validation_error' })
    expect(requests).toHaveLength(1)
  })
})

describe('an error response', () => {
  it('becomes an ApiError', async () => {
    const response = errorResponse(402, 'insufficient_credits', { 'X-Request-Id': 'req-1' })
    const { client } = fakeService([response])
    await expectError(client.tryOn.submit(IMAGES), ApiError, {
      name: 'ApiError',
      status: 402,
      code: 'insufficient_credits',
      message: 'Message of insufficient_credits.',
      requestId: 'req-1',
      retryAfterSeconds: null,
      docsUrl: `${BASE_URL}/docs/errors#insufficient_credits`,
    })
  })

  it('may have a code that the client does not know', async () => {
    const { client } = fakeService([errorResponse(418, 'new_code')])
    expect(await settle(client.account.get())).toMatchObject({ status: 418, code: 'new_code' })
  })

  it.each([
    [502, '<h1>Bad   Gateway</h1>', '<h1>Bad Gateway</h1>'],
    [404, '{"message":"no route"}', '{"message":"no route"}'],
    [403, '{"error":null}', '{"error":null}'],
    [403, 'null', 'null'],
    [500, '', 'empty'],
    [200, '<p>Sign in to this network', '<p>Sign in to this network'],
    [200, '"text"', '"text"'],
  ])('of another server is described: %s %s', async (status, body, excerpt) => {
    const headers = { 'Content-Type': 'text/html' }
    const { client } = fakeService([new Response(body, { status, headers })], { maxRetries: 0 })
    const code = 'unexpected_response'
    const message = expect.stringContaining(`status ${status}, text/html): ${excerpt}`)
    await expectError(client.account.get(), ApiError, { status, code, message })
  })

  it('names the target of a redirect, which is not followed', async () => {
    const headers = { Location: 'https://www.try-on.example/v1/account' }
    const { client, requests } = fakeService([new Response(null, { status: 301, headers })])
    const message = expect.stringContaining('redirects to https://www.try-on.example')
    await expectError(client.account.get(), ApiError, { message })
    expect(requests).toHaveLength(1)
  })
})

describe('a time limit', () => {
  it('applies to each attempt', async () => {
    const { client, requests } = fakeService([stalled, account()], { timeoutMs: 1_000 })
    expect(await settle(client.account.get())).toMatchObject({ org_id: 'org_1' })
    expect(requests).toHaveLength(2)
  })

  it('throws a TimeoutError with the job id and the cause', async () => {
    const { client } = fakeService([stalled], { timeoutMs: 1_000, maxRetries: 0 })
    const cause = expect.any(ConnectionError)
    await expectError(client.jobs.get('job_1'), TimeoutError, { jobId: 'job_1', cause })
  })

  it('applies to the body of a response', async () => {
    const neverEnds = new Response(new ReadableStream({ start() {} }))
    const { client } = fakeService(
      [
        async (init) => {
          const endless = vi.spyOn(neverEnds, 'text')
          endless.mockImplementation(() => stalled(init).then(() => ''))
          return neverEnds
        },
      ],
      { timeoutMs: 1_000, maxRetries: 0 },
    )
    expect(await settle(client.account.get())).toBeInstanceOf(TimeoutError)
  })

  it('includes the time for which the service waits', async () => {
    const slow = (init: RequestInit) =>
      Promise.race([
        stalled(init),
        new Promise<Response>((resolve) => setTimeout(() => resolve(jobResponse()), 20_000)),
      ])
    const { client, requests } = fakeService([slow], { timeoutMs: 1_000 })
    expect(await settle(client.jobs.get('job_1', { waitSeconds: 99 }))).toMatchObject({
      status: 'completed',
    })
    expect(requests[0]?.headers.get('Prefer')).toBe('wait=30')
  })
})

describe('an abort', () => {
  it('before the call sends nothing', async () => {
    const reason = new Error('the user left')
    const { client, requests } = fakeService([])
    const error = await settle(client.account.get({ signal: AbortSignal.abort(reason) }))
    expect(error).toBe(reason)
    expect(requests).toEqual([])
  })

  it.each([
    ['a request', stalled],
    ['the delay of a retry', rateLimited('30')],
  ])('during %s throws the reason of the signal', async (_, step) => {
    const { client, requests } = fakeService([step])
    const { signal, reason } = abortedLater()
    expect(await settle(client.account.get({ signal }))).toBe(reason)
    expect(requests).toHaveLength(1)
  })
})

describe('the settings', () => {
  it('require a key and a base URL', () => {
    expect(() => new TryOnClient({ baseUrl: BASE_URL })).toThrow('TRY_ON_API_KEY')
    expect(() => new TryOnClient({ apiKey: 'svc_test_sk_1' })).toThrow('TRY_ON_BASE_URL')
    expect(() => new TryOnClient({ apiKey: 'k', baseUrl: 'try-on.example' })).toThrow('baseUrl')
  })

  it('reject a key that a header cannot have, without repeating it', () => {
    const create = () => new TryOnClient({ apiKey: 'svc_test\nsk_1', baseUrl: BASE_URL })
    expect(create).toThrow(/^apiKey has characters that no key has\.$/)
  })

  it.each(['/', '/v1', '/v1/'])('accept a base URL that ends in %s', async (end) => {
    const { client, requests } = fakeService([account()], { baseUrl: BASE_URL + end })
    await client.account.get()
    expect(requests[0]?.path).toBe('/v1/account')
  })

  it('do not show the key', () => {
    const { client } = fakeService([])
    expect(JSON.stringify(client)).not.toContain('svc_test_sk_1')
  })

  it('reject a live key in a browser unless it is allowed', () => {
    vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' })
    const options = { apiKey: 'svc_live_sk_1', baseUrl: BASE_URL }
    expect(() => new TryOnClient(options)).toThrow('dangerouslyAllowBrowser')
    expect(new TryOnClient({ ...options, dangerouslyAllowBrowser: true })).toBeDefined()
    expect(new TryOnClient({ ...options, apiKey: 'svc_test_sk_1' })).toBeDefined()
    vi.unstubAllGlobals()
  })
})

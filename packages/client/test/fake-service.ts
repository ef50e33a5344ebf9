// A `fetch` that returns prepared responses and records the requests.
import { TryOnClient, type ClientOptions, type Job } from '../src/index.ts'
import { expect, vi } from 'vitest'

export const BASE_URL = 'https://try-on.example'

export interface SentRequest {
  method: string
  path: string
  headers: Headers
  body: unknown
}

/** A response, an error that `fetch` throws, or a function of the request. */
type Step = Response | Error | ((init: RequestInit) => Promise<Response>)

/** A client whose requests get the steps in order. A request without a step fails the test. */
export function fakeService(steps: Step[], options: ClientOptions = {}) {
  const requests: SentRequest[] = []
  const queue = [...steps]
  const client = new TryOnClient({
    apiKey: 'svc_test_sk_1',
    baseUrl: BASE_URL,
    async fetch(url, init = {}) {
      requests.push({
        method: init.method ?? 'GET',
        path: url.slice(BASE_URL.length),
        headers: new Headers(init.headers),
        body: init.body,
      })
      const step = queue.shift()
      if (!step) throw new Error(`No step for ${init.method} ${url}`)
      if (step instanceof Error) throw step
      return step instanceof Response ? step : step(init)
    },
    ...options,
  })
  return { client, requests }
}

/** Settles a promise while fake timers advance. @returns its value or its error */
export async function settle<T>(promise: Promise<T>): Promise<T | unknown> {
  const state = { done: false }
  const result = promise
    .catch((error: unknown) => error)
    .finally(() => {
      state.done = true
    })
  while (!state.done) await vi.advanceTimersByTimeAsync(100)
  return result
}

/** Settles a promise, which must reject with an error of this class and with these properties. */
export async function expectError(
  promise: Promise<unknown>,
  type: abstract new (...args: never[]) => Error,
  properties: object,
): Promise<void> {
  const error = await settle(promise)
  expect(error).toBeInstanceOf(type)
  expect(error).toMatchObject(properties)
}

/** A signal that is aborted after a second. */
export function abortedLater(): { signal: AbortSignal; reason: Error } {
  const controller = new AbortController()
  const reason = new Error('the user left')
  setTimeout(() => controller.abort(reason), 1_000)
  return { signal: controller.signal, reason }
}

/** A request that never gets a response. */
export const stalled = ({ signal }: RequestInit): Promise<Response> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

export const errorResponse = (
  status: number,
  code: string,
  headers: Record<string, string> = {},
): Response =>
  Response.json({ error: { code, message: `Message of ${code}.` } }, { status, headers })

export const rateLimited = (retryAfter?: string): Response =>
  errorResponse(429, 'rate_limit_exceeded', retryAfter ? { 'Retry-After': retryAfter } : {})

export const networkError = (): Error =>
  new TypeError('fetch failed', { cause: new Error('read ECONNRESET') })

export const IMAGES = {
  model_image_url: 'https://shop.example/model.jpg',
  garment_image_url: 'https://shop.example/shirt.png',
}

export const submitted = (): Response =>
  Response.json(
    { job_id: 'job_1', status: 'pending', created_at: '2026-11-22T10:00:00.000Z', mode: 'test' },
    { status: 202 },
  )

export const jobResponse = (changes: Partial<Job> | { status: string } = {}): Response =>
  Response.json({
    job_id: 'job_1',
    status: 'completed',
    workspace_id: 'ws_1',
    mode: 'test',
    output_url: 'https://try-on.example/outputs/job_1.png',
    credits_consumed: 0,
    error_code: null,
    created_at: '2026-11-22T10:00:00.000Z',
    completed_at: '2026-11-22T10:00:05.000Z',
    duration_ms: 4_000,
    webhook_url: null,
    webhook_status: null,
    ...changes,
  })

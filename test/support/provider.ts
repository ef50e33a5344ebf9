// A strict fake of a provider's HTTP API: exactly the expected requests must arrive, in order.
import { afterEach, beforeEach, expect, vi } from 'vitest'

export interface SeenRequest {
  method: string
  url: string
  headers: Record<string, string>
  /** Parsed if it was JSON. */
  body: unknown
  redirect: string | undefined
  signal: AbortSignal | null | undefined
}

type Reply = Response | Error

export interface FakeProvider {
  /** Expects one request and defines its response. */
  on(method: string, url: string, reply: Reply): FakeProvider
  readonly seen: SeenRequest[]
}

/** Replaces the network for every test of the calling file. */
export function fakeProvider(): FakeProvider {
  let expected: { method: string; url: string; reply: Reply }[] = []
  const seen: SeenRequest[] = []
  let unexpected: string[] = []

  beforeEach(() => {
    expected = []
    unexpected = []
    seen.length = 0
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      const { method, url } = request
      const next = expected.shift()
      if (next?.method !== method || next.url !== url) {
        unexpected.push(
          `${method} ${url}, expected ${next ? `${next.method} ${next.url}` : 'none'}`,
        )
        throw new TypeError('unexpected request')
      }
      const text = new TextDecoder().decode(await request.bytes())
      seen.push({
        method,
        url,
        headers: Object.fromEntries(request.headers),
        body: request.headers.get('content-type') === 'application/json' ? JSON.parse(text) : text,
        redirect: init?.redirect,
        signal: init?.signal,
      })
      if (next.reply instanceof Error) throw next.reply
      return next.reply
    })
  })

  // An adapter turns a failed fetch into its own error, so the throw above is not enough.
  afterEach(() => {
    expect(unexpected).toEqual([])
    expect(expected.map(({ method, url }) => `${method} ${url}`)).toEqual([])
  })

  return {
    seen,
    on(method, url, reply) {
      expected.push({ method, url, reply })
      return this
    },
  }
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers })

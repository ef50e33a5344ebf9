// A provider's HTTP API, faked strictly: every request must have been foreseen, in this order, and
// every foreseen request must come.
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
  /** Foresees one request, and says how it is answered. */
  on(method: string, url: string, reply: Reply): FakeProvider
  readonly seen: SeenRequest[]
}

/** Replaces the network for every test of the calling file. */
export function fakeProvider(): FakeProvider {
  let foreseen: { method: string; url: string; reply: Reply }[] = []
  const seen: SeenRequest[] = []
  let unforeseen: string[] = []

  beforeEach(() => {
    foreseen = []
    unforeseen = []
    seen.length = 0
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      const { method, url } = request
      const next = foreseen.shift()
      if (next?.method !== method || next.url !== url) {
        unforeseen.push(`${method} ${url}, not ${next ? `${next.method} ${next.url}` : 'any'}`)
        throw new TypeError('unforeseen request')
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
    expect(unforeseen).toEqual([])
    expect(foreseen.map(({ method, url }) => `${method} ${url}`)).toEqual([])
  })

  return {
    seen,
    on(method, url, reply) {
      foreseen.push({ method, url, reply })
      return this
    },
  }
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers })

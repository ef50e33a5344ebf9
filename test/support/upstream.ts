// Fakes the network: image hosts and webhook receivers. Strict: an unexpected request fails the test.
import { afterEach, beforeEach, expect, vi } from 'vitest'

export interface SeenRequest {
  method: string
  url: string
  headers: Headers
  body: string
  /** Aborted when the Worker stops waiting. */
  signal: AbortSignal | undefined
}

type Reply = (request: SeenRequest) => Response | Promise<Response>

export interface Upstream {
  /** Defines the response to requests of a URL with any method. */
  on(url: string, reply: Reply): Upstream
  /** The requests to a URL, or all requests, in order. */
  seen(url?: string): SeenRequest[]
}

/** A response that never arrives. */
export const hang = ({ signal }: SeenRequest): Promise<never> =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error))
  })

/** A response whose body never ends. */
export const drip = ({ signal }: SeenRequest): Response =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(1))
        signal?.addEventListener('abort', () => controller.error(signal.reason))
      },
    }),
  )

/** The body of a message of any type. Its own `text()` logs a warning unless the type is a text. */
export const textOf = ({ body }: Request | Response): Promise<string> => new Response(body).text()

/** Replaces the network for every test of the calling file. */
export function fakeUpstream(): Upstream {
  const replies = new Map<string, Reply>()
  let seen: SeenRequest[] = []
  let unexpected: string[] = []

  beforeEach(() => {
    replies.clear()
    seen = []
    unexpected = []
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      const { method, url, headers } = request
      const reply = replies.get(url)
      if (!reply) {
        unexpected.push(`${method} ${url}`)
        throw new TypeError('unexpected request')
      }
      const signal = init?.signal ?? undefined
      const known = { method, url, headers, body: await textOf(request), signal }
      seen.push(known)
      return reply(known)
    })
  })
  // The Worker handles a failed fetch, so the error above does not fail the test.
  afterEach(() => expect(unexpected).toEqual([]))

  return {
    on(url, reply) {
      replies.set(url, reply)
      return this
    },
    seen: (url) => (url === undefined ? seen : seen.filter((request) => request.url === url)),
  }
}

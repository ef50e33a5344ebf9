// Everything outside the Worker: customers' image hosts and webhook receivers. Strict: a request
// that no test foresaw fails the test.
import { afterEach, beforeEach, expect, vi } from 'vitest'

export interface SeenRequest {
  method: string
  url: string
  headers: Headers
  body: string
  /** Aborted when the Worker waits no longer. */
  signal: AbortSignal | undefined
}

type Reply = (request: SeenRequest) => Response | Promise<Response>

export interface Upstream {
  /** Answers every request to a URL, whatever its method. */
  on(url: string, reply: Reply): Upstream
  /** The requests to a URL, or all, in the order of their coming. */
  seen(url?: string): SeenRequest[]
}

/** A reply that never comes. */
export const hang = ({ signal }: SeenRequest): Promise<never> =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error))
  })

/** A reply whose body never ends. */
export const drip = ({ signal }: SeenRequest): Response =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(1))
        signal?.addEventListener('abort', () => controller.error(signal.reason))
      },
    }),
  )

/** Replaces the network for every test of the calling file. */
export function fakeUpstream(): Upstream {
  const replies = new Map<string, Reply>()
  let seen: SeenRequest[] = []
  let unforeseen: string[] = []

  beforeEach(() => {
    replies.clear()
    seen = []
    unforeseen = []
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      const { method, url, headers } = request
      const reply = replies.get(url)
      if (!reply) {
        unforeseen.push(`${method} ${url}`)
        throw new TypeError('unforeseen request')
      }
      const signal = init?.signal ?? undefined
      const known = { method, url, headers, body: await request.text(), signal }
      seen.push(known)
      return reply(known)
    })
  })
  // The Worker handles a failed fetch, so throwing above is not enough.
  afterEach(() => expect(unforeseen).toEqual([]))

  return {
    on(url, reply) {
      replies.set(url, reply)
      return this
    },
    seen: (url) => (url === undefined ? seen : seen.filter((request) => request.url === url)),
  }
}

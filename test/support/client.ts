// Requests to the Worker through its front door.
import { exports } from 'cloudflare:workers'

export const BASE = 'https://try-on.test'

type Headers = Record<string, string>

/** Any request at all. */
export const request = (path: string, init?: RequestInit): Promise<Response> =>
  exports.default.fetch(new Request(`${BASE}${path}`, init))

export interface Client {
  get(path: string, headers?: Headers): Promise<Response>
  post(path: string, body?: unknown, headers?: Headers): Promise<Response>
  patch(path: string, body: unknown): Promise<Response>
  delete(path: string): Promise<Response>
}

/** A client that sends this API key or operator token. */
export function clientOf(token: string): Client {
  const send = (method: string, path: string, body?: unknown, headers: Headers = {}) =>
    request(path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  return {
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    patch: (path, body) => send('PATCH', path, body),
    delete: (path) => send('DELETE', path),
  }
}

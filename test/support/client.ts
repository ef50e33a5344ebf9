// Requests to the Worker's fetch handler. Every response is validated against the OpenAPI document.
import { exports } from 'cloudflare:workers'
import { expectDocumented } from './documented.ts'

export const BASE = 'https://try-on.test'

type Headers = Record<string, string>

/** Sends a request. */
export async function request(path: string, init?: RequestInit): Promise<Response> {
  const response = await exports.default.fetch(new Request(`${BASE}${path}`, init))
  await expectDocumented(init?.method ?? 'GET', path, response.clone())
  return response
}

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

/** The error in a response. */
export const errorOf = async (response: Response) =>
  (await response.json<{ error: { code: string; message: string } }>()).error

export const codeOf = async (response: Response) => (await errorOf(response)).code

// Requests to the Worker through its front door. Every answer is held against the OpenAPI document.
import { exports } from 'cloudflare:workers'
import { expectDocumented } from './documented.ts'

export const BASE = 'https://try-on.test'

type Headers = Record<string, string>

/** Any request at all. */
export async function request(path: string, init?: RequestInit): Promise<Response> {
  const answer = await exports.default.fetch(new Request(`${BASE}${path}`, init))
  await expectDocumented(init?.method ?? 'GET', path, answer.clone())
  return answer
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

/** What an error answer says. */
export const errorOf = async (answer: Response) =>
  (await answer.json<{ error: { code: string; message: string } }>()).error

export const codeOf = async (answer: Response) => (await errorOf(answer)).code

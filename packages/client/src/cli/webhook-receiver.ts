// Verifies and forwards one webhook of try-on listen, and responds to it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { webhooks, WebhookVerificationError } from '../index.ts'

const MAX_BODY_BYTES = 1024 * 1024
/** The service waits 15 s for a response. */
const FORWARD_TIMEOUT_MS = 14_000
const FORWARDED_HEADERS = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]

/** What is printed about a delivery, as one line of JSON with --json. */
export interface Delivery {
  received_at: string
  webhook_id: string | null
  type: string | null
  job_id: string | null
  job_status: string | null
  /** null without a secret. */
  verified: boolean | null
  problem: string | null
  forward_status: number | null
  response_status: number
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  secret: string | undefined
  forwardUrl: string | undefined
}

/** Responds, and returns what to print; undefined for requests that are not webhooks. */
export async function receiveWebhook({ request, response, secret, forwardUrl }: Exchange) {
  if (request.method !== 'POST') {
    response.writeHead(405, { Allow: 'POST' }).end('Send webhooks as POST requests.\n')
    return undefined
  }
  const body = await readBody(request)
  if (!body) {
    response.writeHead(413, { Connection: 'close' }).end('The body is larger than 1 MB.\n')
    return undefined
  }
  const problem = secret ? await problemOf(body, request, secret) : null
  const forwarded =
    problem === null && forwardUrl ? await forward(body, request, forwardUrl) : undefined
  const status = problem === null ? (forwarded?.status ?? 200) : 400
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    ...(forwarded?.retryAfter && { 'Retry-After': forwarded.retryAfter }),
  })
  response.end(problem === null ? '' : `${problem}\n`)
  const delivery: Delivery = {
    received_at: new Date().toISOString(),
    webhook_id: header(request, 'webhook-id') ?? null,
    ...contentOf(body),
    verified: secret ? problem === null : null,
    problem: problem ?? forwarded?.problem ?? null,
    forward_status: forwarded?.isResponse ? forwarded.status : null,
    response_status: status,
  }
  return delivery
}

/** undefined when the body is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue
    size += chunk.length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function problemOf(body: Buffer, request: IncomingMessage, secret: string) {
  try {
    await webhooks.verify({ body, headers: request.headers, secret })
    return null
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message
    throw error
  }
}

/** 502 when the server cannot be reached, 504 when it does not respond. */
async function forward(body: Buffer, request: IncomingMessage, url: string) {
  const headers = new Headers()
  for (const name of FORWARDED_HEADERS) {
    const value = header(request, name)
    if (value !== undefined) headers.set(name, value)
  }
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
    })
    await response.body?.cancel()
    const { status } = response
    return { status, isResponse: true, retryAfter: response.headers.get('Retry-After') }
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    const problem = isTimeout ? `${url} did not respond within 14 s` : `${url} cannot be reached`
    return { status: isTimeout ? 504 : 502, isResponse: false, retryAfter: null, problem }
  }
}

/** The fields that are printed, from a body that may not be authentic. */
function contentOf(body: Buffer): Pick<Delivery, 'type' | 'job_id' | 'job_status'> {
  let event: unknown
  try {
    event = JSON.parse(body.toString('utf8'))
  } catch {
    event = null
  }
  const data = property(event, 'data')
  return {
    type: textOf(property(event, 'type')),
    job_id: textOf(property(data, 'job_id')),
    job_status: textOf(property(data, 'status')),
  }
}

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const header = (request: IncomingMessage, name: string): string | undefined =>
  request.headers[name]?.toString()

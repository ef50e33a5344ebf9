// try-on listen: receives, verifies, prints and forwards webhooks on this machine.
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { webhooks, WebhookVerificationError } from '../index.ts'
import type { Command, Context } from './command.ts'
import { CliError, UsageError } from './errors.ts'
import { failureOf } from './failure.ts'
import { printable } from './output.ts'
import { webhookSecret } from './settings.ts'

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
interface Delivery {
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

export const listen: Command = {
  name: 'listen',
  summary: 'Receive, verify and print webhooks, and forward them to a local server.',
  details: `
Listens on 127.0.0.1 until Ctrl-C. Responds to an invalid signature with 400, and otherwise with the
status of the server to which it forwards, or 200. With --json, prints one JSON document per line.

The service must be able to reach this machine. A service on the internet needs a tunnel to the
port. Use the address of the tunnel as webhook_url.`,
  options: [
    { name: 'port', value: 'PORT', summary: 'Port. Default: 4242. 0 chooses a free port.' },
    { name: 'forward', value: 'URL', summary: 'Receives the body and headers of each webhook.' },
    {
      name: 'secret',
      value: 'SECRET',
      summary: 'Webhook signing secret. Prefer TRY_ON_WEBHOOK_SECRET or try-on login.',
    },
  ],
  examples: ['try-on listen', 'try-on listen --port 4242 --forward http://localhost:3000/webhooks'],
  async run(context) {
    const { options, output, signal } = context
    const port = options.integer('port', { min: 0, max: 65_535 }) ?? 4242
    const forwardUrl = checkedForwardUrl(options.text('forward'))
    const secret = await webhookSecret(context)
    if (secret) checkSecret(secret)
    if (!secret) {
      output.warn('No webhook signing secret: webhooks are not verified.')
      output.note('Set TRY_ON_WEBHOOK_SECRET. Owners find the secret in the console.')
    }
    const server = createServer((request, response) => {
      void receive({ request, response, secret, forwardUrl }).then(
        (delivery) => delivery && output.entry(delivery, lineOf(delivery, context)),
        (error: unknown) => {
          // An incomplete request: the sender closed the connection.
          if (request.complete) output.failure(failureOf(error, false))
          response.destroy()
        },
      )
    })
    const url = await start(server, port)
    output.note(`Listening on ${url}${forwardUrl ? `, forwarding to ${forwardUrl}` : ''}`)
    output.note(`Use ${url} as webhook_url. A service on the internet needs a tunnel to this port.`)
    if (output.isJson) output.entry({ listening: url }, '')
    await stopped(server, signal)
  },
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  secret: string | undefined
  forwardUrl: string | undefined
}

/** Responds, and returns what to print; undefined for requests that are not webhooks. */
async function receive({ request, response, secret, forwardUrl }: Exchange) {
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

function lineOf(delivery: Delivery, { output }: Context): string {
  const { type, job_id: jobId, job_status: jobStatus, verified, problem } = delivery
  const check =
    verified === null
      ? output.colour('not verified', 'yellow')
      : verified
        ? output.colour('verified', 'green')
        : output.colour('invalid', 'red')
  const parts = [type ?? 'unknown type', jobId ?? 'no job', jobStatus ?? '']
  return [
    output.colour(delivery.received_at.slice(11, 19), 'dim'),
    ...parts.filter((part) => part !== '').map(printable),
    check,
    ...(delivery.forward_status === null ? [] : [`forwarded: ${delivery.forward_status}`]),
    `→ ${delivery.response_status}`,
    ...(problem ? [`(${printable(problem)})`] : []),
  ].join('  ')
}

/** @throws UsageError for a secret that `webhooks.verify` rejects */
function checkSecret(secret: string): void {
  try {
    if (secret.startsWith('whsec_') && atob(secret.slice('whsec_'.length)) !== '') return
  } catch {
    // Not base64.
  }
  throw new UsageError('The webhook signing secret must start with whsec_, followed by base64.')
}

function checkedForwardUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(
      '--forward must be an http(s) URL, for example http://localhost:3000/webhooks',
    )
  }
  return text
}

function start(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new CliError('listen_failed', `Cannot listen on port ${port}: ${error.code}`, {
          hints: ['Choose another port with --port.'],
        }),
      ),
    )
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      const actual = typeof address === 'object' && address ? address.port : port
      resolve(`http://127.0.0.1:${actual}`)
    })
  })
}

/** Resolves after Ctrl-C: the end of this command is not an error. */
function stopped(server: Server, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    server.on('close', resolve)
    const close = () => {
      server.close()
      server.closeAllConnections()
    }
    if (signal.aborted) close()
    else signal.addEventListener('abort', close, { once: true })
  })
}

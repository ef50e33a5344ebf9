// Sends requests: headers, timeouts and retries. Most calls of this client are safe to repeat: submissions have an
// Idempotency-Key, and an upload that is stored twice costs nothing. The others set `isRepeatable`.
import { ApiError, ConnectionError, TimeoutError, TryOnError } from './errors.ts'
import { parseResponse } from './response.ts'
import { sleep, withTimeout } from './timing.ts'

/** The form of `fetch` that the client needs. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then throws the reason of the signal. */
  signal?: AbortSignal | undefined
}

/** The settings of a client, with defaults applied. */
export interface Connection {
  apiKey: string
  /** Without a trailing slash. */
  baseUrl: string
  fetch: Fetch
  maxRetries: number
  timeoutMs: number
  userAgent: string | undefined
}

export interface Call extends CallOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below /v1, with the query. */
  path: string
  headers?: Record<string, string>
  body?: string | Blob | Uint8Array<ArrayBuffer>
  /** Asks the service to wait for the end of the job. */
  waitSeconds?: number | undefined
  /** The job that the call is about. */
  jobId?: string
  /** False: retries only after 429, since a repetition would take effect twice. Default: true. */
  isRepeatable?: boolean
  /** Retries until the signal is aborted, and then throws the error of the last attempt. */
  retriesUntilAborted?: boolean
  /** Called before each retry with the error of the attempt. */
  onRetry?(error: unknown): void
}

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8_000
/** A request that has to wait longer fails instead, and the caller decides. */
const MAX_RETRY_AFTER_SECONDS = 60

export class Requester {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Sends a request, with retries after network errors, 408, 429 and 5xx.
   * @returns the parsed body, which is not validated
   * @throws ApiError, ConnectionError, TimeoutError, or the reason of the signal
   */
  async send<T>(call: Call): Promise<T> {
    const { retriesUntilAborted = false, isRepeatable = true, signal } = call
    const maxRetries = retriesUntilAborted ? Infinity : this.#connection.maxRetries
    const maxRetryAfterSeconds = retriesUntilAborted ? Infinity : MAX_RETRY_AFTER_SECONDS
    const headers = this.#headers(call)
    for (let attempt = 0; ; attempt++) {
      try {
        return (await this.#attempt(call, headers)) as T
      } catch (error) {
        if (error instanceof TryOnError) error.jobId = call.jobId ?? null
        const isRejected = error instanceof ApiError && error.status === 429
        if (!isRepeatable && !isRejected) throw error
        const delayMs = retryDelayMs(error, attempt, maxRetryAfterSeconds)
        if (attempt >= maxRetries || delayMs === null) throw error
        call.onRetry?.(error)
        await sleep(delayMs, signal).catch((reason: unknown) => {
          throw retriesUntilAborted ? error : reason
        })
      }
    }
  }

  #headers({ headers, waitSeconds }: Call): Headers {
    const { apiKey, userAgent } = this.#connection
    return new Headers({
      Authorization: `Bearer ${apiKey}`,
      Accept: 'application/json',
      ...(userAgent !== undefined && { 'User-Agent': userAgent }),
      ...(waitSeconds && { Prefer: `wait=${waitSeconds}` }),
      ...headers,
    })
  }

  #attempt(call: Call, headers: Headers): Promise<unknown> {
    const { baseUrl, timeoutMs, fetch } = this.#connection
    const { method, path, body, waitSeconds = 0, jobId } = call
    const limitMs = timeoutMs + waitSeconds * 1_000
    const send = async (signal: AbortSignal) => {
      // A redirect could send the key to another host and turn a POST into a GET.
      const init: RequestInit = { method, headers, signal, redirect: 'manual' }
      const { response, text } = await fetch(
        `${baseUrl}/v1${path}`,
        body ? { ...init, body } : init,
      )
        .then(async (received) => ({ response: received, text: await received.text() }))
        .catch((cause: unknown) => {
          throw new ConnectionError(`${baseUrl} cannot be reached: ${messageOf(cause)}`, { cause })
        })
      const ignored = response.headers.get('ignored-fields')
      // oxlint-disable-next-line no-console -- nothing else reaches the developer
      if (ignored !== null) console.warn(`The Try-On service ignored unknown fields: ${ignored}`)
      return parseResponse(baseUrl, response, text)
    }
    const onTimeout = (cause: unknown) =>
      new TimeoutError(`${baseUrl} has not responded within ${limitMs} ms.`, jobId, { cause })
    return withTimeout(limitMs, call.signal, send, onTimeout)
  }
}

/**
 * The path of a resource.
 * @throws TypeError for an id that would change the path of the URL
 */
export function pathTo(collection: string, id: string, message = 'The id is required.'): string {
  if (!id || /^\.+$/.test(id)) throw new TypeError(message)
  return `${collection}/${encodeURIComponent(id)}`
}

/** The body of a request with JSON. */
export const jsonBody = (value: object) => ({
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(value),
})

/** `fetch` of Node says only "fetch failed"; its cause has the reason. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message ? error.cause.message : error.message
}

/** The delay before the next attempt; null when the error is not temporary. */
function retryDelayMs(
  error: unknown,
  attempt: number,
  maxRetryAfterSeconds: number,
): number | null {
  // A random part keeps clients from retrying at the same moment.
  const backOffMs = Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS)
  const delayMs = backOffMs / 2 + Math.random() * (backOffMs / 2)
  if (!(error instanceof ApiError)) {
    return error instanceof ConnectionError || error instanceof TimeoutError ? delayMs : null
  }
  const { status, retryAfterSeconds } = error
  if (status < 500 && status !== 429 && status !== 408) return null
  if (retryAfterSeconds === null) return delayMs
  if (retryAfterSeconds > maxRetryAfterSeconds) return null
  return Math.max(delayMs, retryAfterSeconds * 1_000 * (1 + Math.random() / 4))
}

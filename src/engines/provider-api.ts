// Calls a provider's JSON API: with a timeout, without redirects, with a parsed response. Every error
// becomes a JobFailure. The adapters map the providers' own error names.
import { z } from 'zod'
import type { JobErrorCode } from '../domain/job.ts'
import { readLimited } from '../platform/net/read-limited.ts'
import { retryAfterSeconds } from '../platform/net/retry-after.ts'
import { JobFailure, type ProviderWork } from '../domain/failure.ts'
import { parseJson } from './engine.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

export const isLoopback = (hostname: string): boolean => LOOPBACK.has(hostname)

/**
 * The base URL of an API: https, or plain http on a loopback host for local development. Without trailing slashes,
 * so that `${base}/path` is correct.
 */
export const BaseUrl = z
  .string()
  .refine((value) => {
    const url = URL.parse(value)
    if (!url || url.username || url.password || url.search || url.hash) return false
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
  }, 'must be an https URL, or http on a loopback host, without credentials, query or fragment')
  .transform((value) => value.replace(/\/+$/, ''))

interface ProviderCall<Result> {
  provider: string
  /** Determines the `work` of an error: after a lost response to `start`, paid work may be running. */
  during: 'start' | 'poll' | 'cancel'
  /** By default GET for a poll, and POST otherwise. */
  method?: 'PUT'
  url: string
  headers: Record<string, string>
  json?: unknown
  form?: URLSearchParams
  /** The schema of a successful response. */
  schema: z.ZodType<Result>
  /** Maps an error response. If it returns undefined, the HTTP status determines the error. */
  explain?: Explain
  timeoutMs?: number
  maxBytes?: number
}

interface ErrorResponse {
  status: number
  headers: Headers
  /** The parsed body; undefined when it is not JSON. */
  body: unknown
}

export interface JobError {
  code: JobErrorCode
  retriable: boolean
}

interface Explanation extends JobError {
  /** The provider's message, for the log. */
  reason: string
  work?: ProviderWork
  retryAfterSeconds?: number
}

export type Explain = (response: ErrorResponse) => Explanation | undefined

/** Our key, credit or request, or the provider, is the cause: another attempt or engine may succeed. */
export const unavailable = (...reason: ReasonPart[]): Explanation => ({
  code: 'engine_unavailable',
  retriable: true,
  reason: joined(reason),
})

/** The failure of work that the provider accepted and has ended. */
export const jobFailure = (
  provider: string,
  { code, retriable }: JobError,
  ...reason: ReasonPart[]
): JobFailure =>
  new JobFailure(code, `${provider} job: ${scrub(joined(reason))}`, { retriable, work: 'over' })

/** A part of a provider's error, such as its name or its text. */
type ReasonPart = string | null | undefined

const joined = (parts: ReasonPart[]): string => parts.filter(Boolean).join(': ')

const TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 1024 * 1024

/** `callProvider` with the parts that the calls of one provider share. */
export const callerOf =
  (shared: Pick<ProviderCall<unknown>, 'provider' | 'headers' | 'explain'>) =>
  <Result>(
    call: Omit<ProviderCall<Result>, 'provider' | 'headers'> &
      Partial<Pick<ProviderCall<Result>, 'headers'>>,
  ): Promise<Result> =>
    callProvider({ ...shared, ...call, headers: { ...shared.headers, ...call.headers } })

/** @throws JobFailure */
export async function callProvider<Result>(call: ProviderCall<Result>): Promise<Result> {
  const noResult = (reason: string) =>
    new JobFailure('engine_unavailable', `${call.provider} ${call.during}: ${reason}`, {
      retriable: true,
      work: call.during === 'start' ? 'ambiguous' : 'alive',
    })

  let response: Response
  let bytes: Uint8Array | null
  try {
    response = await fetch(call.url, {
      method: call.method ?? (call.during === 'poll' ? 'GET' : 'POST'),
      headers: {
        ...call.headers,
        ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: call.json === undefined ? (call.form ?? null) : JSON.stringify(call.json),
      // Following a redirect would send the key to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(call.timeoutMs ?? TIMEOUT_MS),
    })
    bytes = await readLimited(response, call.maxBytes ?? MAX_RESPONSE_BYTES)
  } catch (error) {
    // Omits cause and message, since they may contain the URL.
    throw noResult(error instanceof Error ? error.name : 'no response')
  }
  const body = bytes && parseJson(new TextDecoder().decode(bytes))
  if (!response.ok) {
    throw responseError(call, { status: response.status, headers: response.headers, body })
  }
  const result = call.schema.safeParse(body)
  if (!result.success) throw noResult(`${response.status} with an unexpected body`)
  return result.data
}

function responseError<Result>(call: ProviderCall<Result>, response: ErrorResponse): JobFailure {
  const { status, headers } = response
  const explained = call.explain?.(response)
  const { code, retriable } = explained ?? mappingOf(call.during, status)
  const secret = call.headers.authorization?.split(' ').at(-1)
  const reason = explained ? ` ${scrub(explained.reason, secret)}` : ''
  return new JobFailure(code, `${call.provider} ${call.during}: ${status}${reason}`, {
    retriable,
    work: explained?.work ?? workAfter(call.during, status),
    retryAfterSeconds: explained?.retryAfterSeconds ?? retryAfterSeconds(headers),
  })
}

/** Without an explanation, the customer's images are assumed not to be the cause. */
const mappingOf = (during: string, status: number): JobError =>
  during === 'poll' && isGone(status)
    ? { code: 'generation_failed', retriable: true }
    : { code: 'engine_unavailable', retriable: true }

function workAfter(during: string, status: number): ProviderWork {
  if (during !== 'start') return isGone(status) ? 'over' : 'alive'
  // A proxy may send 408 after forwarding the request; 3xx is ambiguous too.
  return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'ambiguous'
}

const isGone = (status: number) => status === 404 || status === 410

/** Removes URLs and secrets from a provider's message, because it is logged. */
export function scrub(text: string, secret?: string): string {
  return (secret ? text.replaceAll(secret, '[secret]') : text)
    .replace(/\b(https?:\/\/|data:)\S+/gi, '[url]')
    .replace(/[\w+/=.~-]{24,}/g, (run) => (/\d/.test(run) || run.length > 40 ? '[long]' : run))
    .slice(0, 200)
}

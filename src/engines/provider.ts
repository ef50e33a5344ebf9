// One call to a provider's JSON API: a deadline, no redirects, the answer parsed, and everything
// that goes wrong told as an JobFailure. What a provider's own error names mean is for its adapter.
import type { ProviderWork } from '../domain/failure.ts'
import type { z } from 'zod'
import type { JobErrorCode } from '../domain/job.ts'
import { readLimited } from '../net/read-limited.ts'
import { retryAfterSeconds } from '../net/retry-after.ts'
import { JobFailure } from '../domain/failure.ts'
import { parseJson } from './json.ts'

export interface ProviderCall<Answer> {
  provider: string
  /** Decides what a failure says of the paid work: a lost `start` is worse than a lost `poll`. */
  during: 'start' | 'poll' | 'cancel'
  method: 'GET' | 'POST' | 'PUT'
  url: string
  headers: Record<string, string>
  json?: unknown
  form?: URLSearchParams
  answer: z.ZodType<Answer>
  /** The provider's own reading of an error answer; undefined leaves it to the status. */
  explain?: (failure: Failure) => Explanation | undefined
  timeoutMs?: number
  maxBytes?: number
}

export interface Failure {
  status: number
  headers: Headers
  /** The parsed body, or undefined if it was no JSON. */
  body: unknown
}

export interface Explanation {
  code: JobErrorCode
  retriable: boolean
  /** The provider's words for it, for the log. */
  reason: string
  work?: ProviderWork
  retryAfterSeconds?: number
}

const TIMEOUT_MS = 30_000
const MAX_ANSWER_BYTES = 1024 * 1024

export async function callProvider<Answer>(call: ProviderCall<Answer>): Promise<Answer> {
  const unclear = (reason: string) =>
    new JobFailure('engine_unavailable', `${call.provider} ${call.during}: ${reason}`, {
      retriable: true,
      work: call.during === 'start' ? 'ambiguous' : 'alive',
    })

  let response: Response
  let bytes: Uint8Array | null
  try {
    response = await fetch(call.url, {
      method: call.method,
      headers: {
        ...call.headers,
        ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: call.json === undefined ? (call.form ?? null) : JSON.stringify(call.json),
      // A redirect would carry our key to wherever it points.
      redirect: 'manual',
      signal: AbortSignal.timeout(call.timeoutMs ?? TIMEOUT_MS),
    })
    bytes = await readLimited(
      response.body,
      call.maxBytes ?? MAX_ANSWER_BYTES,
      response.headers.get('content-length'),
    )
  } catch (error) {
    // Neither cause nor message goes on: the runtime may quote the URL in them.
    throw unclear(error instanceof Error ? error.name : 'no answer')
  }
  const body = bytes && parseJson(new TextDecoder().decode(bytes))
  if (!response.ok)
    throw rejection(call, { status: response.status, headers: response.headers, body })

  const answer = call.answer.safeParse(body)
  if (!answer.success) throw unclear(`${response.status} with an answer we cannot read`)
  return answer.data
}

function rejection<Answer>(call: ProviderCall<Answer>, failure: Failure): JobFailure {
  const explained = call.explain?.(failure)
  const { code, retriable } = explained ?? byStatus(call.during, failure.status)
  const secret = call.headers.authorization?.split(' ').at(-1)
  const reason = explained ? ` ${scrub(explained.reason, secret)}` : ''
  return new JobFailure(code, `${call.provider} ${call.during}: ${failure.status}${reason}`, {
    retriable,
    work: explained?.work ?? workAfter(call.during, failure.status),
    retryAfterSeconds: explained?.retryAfterSeconds ?? retryAfterSeconds(failure.headers),
  })
}

/** Without a better explanation every rejection is between the provider and us, not the customer. */
const byStatus = (during: string, status: number): { code: JobErrorCode; retriable: boolean } =>
  during === 'poll' && isGone(status)
    ? { code: 'generation_failed', retriable: true }
    : { code: 'engine_unavailable', retriable: true }

function workAfter(during: string, status: number): ProviderWork {
  if (during !== 'start') return isGone(status) ? 'over' : 'alive'
  // 408 comes from a proxy that may already have passed the request on; 3xx proves nothing.
  return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'ambiguous'
}

const isGone = (status: number) => status === 404 || status === 410

/** Providers quote URLs and keys in their messages; a log must hold neither. */
export function scrub(text: string, secret?: string): string {
  return (secret ? text.replaceAll(secret, '[secret]') : text)
    .replace(/\b(https?:\/\/|data:)\S+/gi, '[url]')
    .replace(/[\w+/=.~-]{24,}/g, (run) => (/\d/.test(run) || run.length > 40 ? '[long]' : run))
    .slice(0, 200)
}

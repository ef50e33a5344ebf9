// Fetches a customer's picture once, and trusts nothing that the server says about it.
import { JobFailure } from '../domain/failure.ts'
import type { JobErrorCode } from '../domain/job.ts'
import { readLimited } from '../net/read-limited.ts'
import { IMAGE_TIMEOUT_MS, MAX_IMAGE_BYTES, MAX_IMAGE_REDIRECTS } from '../domain/limits.ts'
import { inspect, detectFormat } from '@try-on/image-files'
import type { ImageFormat } from '../domain/image.ts'
import { HostTimeouts } from './host-timeouts.ts'
import { urlProblem } from '../net/public-url.ts'
import type { UrlPolicy } from '../net/public-url.ts'

export type Role = 'model' | 'garment'

export interface FetchedImage {
  bytes: Uint8Array<ArrayBuffer>
  format: ImageFormat
}

export interface Download {
  /** Whose picture it is. */
  organisationId: string
  /**
   * Is waited for once the server has responded and before the body is read. The wait does not count
   * against the time limit. What it throws is passed on.
   */
  beforeBody?: () => Promise<void>
}

/** Of this isolate. */
const hostTimeouts = new HostTimeouts()

/**
 * Fetches and checks one picture: at most 10 s, 3 redirects (each hop checked like the first
 * address) and 10 MB, past which no more than one chunk is taken in.
 * @throws JobFailure `{role}_image_unreachable | _too_large | _unsupported_format | _corrupt`, none
 * of them retriable
 */
export async function fetchImage(
  role: Role,
  address: string,
  policy: UrlPolicy,
  { organisationId, beforeBody }: Download,
): Promise<FetchedImage> {
  const refuse = (problem: Problem, reason: string, cause?: unknown): never => {
    throw new JobFailure(`${role}_image_${problem}` satisfies JobErrorCode, reason, { cause })
  }
  const limit = new TimeLimit(IMAGE_TIMEOUT_MS)
  let host = ''
  const checkHost = (url: URL) => {
    host = url.host
    if (hostTimeouts.isBlocked(organisationId, host)) throw new Error(`${host} timed out before`)
  }
  const unreachable = (error: unknown): never => {
    if (limit.signal.aborted) hostTimeouts.record(organisationId, host)
    return refuse('unreachable', error instanceof Error ? error.message : String(error), error)
  }
  try {
    limit.run()
    const body = await follow(address, policy, limit.signal, checkHost).catch(unreachable)
    limit.pause()
    await beforeBody?.().catch(async (error: unknown) => {
      await body.cancel().catch(() => {})
      throw error
    })
    limit.run()
    const bytes = await readLimited(body, MAX_IMAGE_BYTES).catch(unreachable)
    if (!bytes) return refuse('too_large', `more than ${MAX_IMAGE_BYTES} bytes`)
    return checkImage(role, bytes)
  } finally {
    limit.pause()
  }
}

/** Aborts its signal once it has run for so long, pauses not counted. */
class TimeLimit {
  readonly #controller = new AbortController()
  #leftMs: number
  #runsSince = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number) {
    this.#leftMs = ms
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  run(): void {
    this.#runsSince = Date.now()
    const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
    this.#timer = setTimeout(() => this.#controller.abort(reason), this.#leftMs)
  }

  pause(): void {
    clearTimeout(this.#timer)
    this.#leftMs = Math.max(0, this.#leftMs - (Date.now() - this.#runsSince))
  }
}

/**
 * Tells the format of a picture that is at hand, and refuses one whose structure would cost a decoder
 * more than its size says. Every engine's pictures pass here, before anybody is called or paid.
 * @throws JobFailure `{role}_image_unsupported_format | _corrupt`
 */
export function checkImage(role: Role, bytes: Uint8Array<ArrayBuffer>): FetchedImage {
  const format = detectFormat(bytes)
  if (!format) {
    const reason = 'the bytes are no JPEG, PNG or WebP'
    throw new JobFailure(`${role}_image_unsupported_format`, reason)
  }
  const header = inspect(bytes, format)
  if ('corrupt' in header) throw new JobFailure(`${role}_image_corrupt`, header.corrupt)
  return { bytes, format }
}

type Problem = 'unreachable' | 'too_large' | 'unsupported_format' | 'corrupt'

async function follow(
  address: string,
  policy: UrlPolicy,
  signal: AbortSignal,
  checkHost: (url: URL) => void,
): Promise<ReadableStream<Uint8Array>> {
  let url = address
  for (let hop = 0; hop <= MAX_IMAGE_REDIRECTS; hop++) {
    const problem = urlProblem(url, policy)
    if (problem) throw new Error(`the address ${problem}`)
    checkHost(new URL(url))
    const response = await fetch(url, {
      redirect: 'manual',
      signal,
      headers: { Accept: 'image/jpeg, image/png, image/webp', 'User-Agent': 'try-on/1.0' },
    })
    if (response.ok && response.body) return response.body
    await response.body?.cancel()
    const location = response.headers.get('Location')
    if (![301, 302, 303, 307, 308].includes(response.status) || !location) {
      throw new Error(`the server answered ${response.status}`)
    }
    const next = URL.parse(location, url)
    if (!next) throw new Error('the server redirects to something that is no address')
    url = next.href
  }
  throw new Error(`more than ${MAX_IMAGE_REDIRECTS} redirects`)
}

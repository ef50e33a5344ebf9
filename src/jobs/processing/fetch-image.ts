// Downloads a customer's image once. Trusts only the bytes, not the headers of the server.
import { JobFailure } from '../../domain/failure.ts'
import { followRedirects, RedirectError } from '../../platform/net/follow-redirects.ts'
import { readLimited } from '../../platform/net/read-limited.ts'
import { IMAGE_TIMEOUT_MS, MAX_IMAGE_BYTES, MAX_IMAGE_REDIRECTS } from '../../domain/limits.ts'
import { inspect, detectFormat } from '@try-on/image-files'
import type { ImageFile } from '../../domain/image.ts'
import { HostTimeouts } from './host-timeouts.ts'
import { urlProblem, type UrlPolicy } from '../../platform/net/public-url.ts'

export type Role = 'model' | 'garment'

/** Shared by all downloads of this isolate. */
const hostTimeouts = new HostTimeouts()

/**
 * Downloads and checks one image: within 10 s, through at most 3 redirects (each URL is checked like
 * the first one), and up to 10 MB. Reads at most one chunk more. Timeouts are counted per organisation.
 * @param beforeBody awaited after the server has responded and before the body is read. The wait does not
 *   count against the time limit. Its errors are rethrown unchanged
 * @throws JobFailure `{role}_image_unreachable | _too_large | _unsupported_format | _corrupt`, none
 * of them retriable
 */
export async function fetchImage(
  role: Role,
  imageUrl: string,
  policy: UrlPolicy,
  { organisationId, beforeBody }: { organisationId: string; beforeBody?: () => Promise<void> },
): Promise<ImageFile> {
  const limit = new TimeLimit(IMAGE_TIMEOUT_MS)
  let host = ''
  const checkUrl = (url: string) => {
    const problem = urlProblem(url, policy)
    if (problem) throw new Unreachable(`the URL ${problem}`)
    host = new URL(url).host
    if (hostTimeouts.isBlocked(organisationId, host)) {
      throw new Unreachable(`${host} has timed out repeatedly`)
    }
  }
  const unreachable = (error: unknown): never => {
    if (!limit.signal.aborted) throw unreachableFailure(role, error)
    hostTimeouts.record(organisationId, host)
    throw unreachableFailure(role, new Unreachable(TIMED_OUT, { cause: error }))
  }
  try {
    limit.run()
    const body = await openBody(imageUrl, limit.signal, checkUrl).catch(unreachable)
    limit.pause()
    await beforeBody?.().catch(async (error: unknown) => {
      await body.cancel().catch(() => {})
      throw error
    })
    limit.run()
    const bytes = await readLimited({ body }, MAX_IMAGE_BYTES).catch(unreachable)
    if (!bytes) throw rejection(role, 'too_large', `more than ${MAX_IMAGE_BYTES} bytes`)
    return checkImage(role, bytes)
  } finally {
    limit.pause()
  }
}

/** An image cannot be downloaded, in this service's own words. */
class Unreachable extends Error {}

const TIMED_OUT = `no complete response within ${IMAGE_TIMEOUT_MS / 1_000} seconds`

/** The messages of the runtime are for staff: they can describe the deployment's network. */
function unreachableFailure(role: Role, error: unknown): JobFailure {
  const isOwn = error instanceof Unreachable || error instanceof RedirectError
  return new JobFailure(
    `${role}_image_unreachable`,
    error instanceof Error ? error.message : String(error),
    { audience: isOwn ? 'members' : 'staff', cause: error },
  )
}

const rejection = (
  role: Role,
  problem: RejectedImage['problem'] | 'too_large',
  reason: string,
): JobFailure => new JobFailure(`${role}_image_${problem}`, reason, { audience: 'members' })

/** @throws Unreachable when the final response is not 2xx or has no body; RedirectError */
async function openBody(url: string, signal: AbortSignal, checkUrl: (url: string) => void) {
  const response = await followRedirects(url, {
    maxRedirects: MAX_IMAGE_REDIRECTS,
    signal,
    headers: { Accept: 'image/jpeg, image/png, image/webp', 'User-Agent': 'try-on/1.0' },
    checkUrl,
  })
  if (response.ok && response.body) return response.body
  await response.body?.cancel()
  throw new Unreachable(`the server responded with ${response.status}`)
}

/**
 * Checks an image like `inspectImage`. Every image is checked before an engine is called.
 * @throws JobFailure `{role}_image_unsupported_format | _corrupt`
 */
export function checkImage(role: Role, bytes: Uint8Array<ArrayBuffer>): ImageFile {
  const result = inspectImage(bytes)
  if ('problem' in result) throw rejection(role, result.problem, result.reason)
  return result
}

/** A file that is not accepted. The reason is a sentence without a capital and a full stop. */
export interface RejectedImage {
  problem: 'unsupported_format' | 'corrupt'
  reason: string
}

/**
 * Detects the format of an image, and rejects files whose decoding would need excessive memory or time.
 */
export function inspectImage(bytes: Uint8Array<ArrayBuffer>): ImageFile | RejectedImage {
  const format = detectFormat(bytes)
  if (!format) {
    return { problem: 'unsupported_format', reason: 'the file is not a JPEG, PNG or WebP' }
  }
  const header = inspect(bytes, format)
  return 'corrupt' in header ? { problem: 'corrupt', reason: header.corrupt } : { bytes, format }
}

/** A timeout that can be paused: aborts its signal after `ms` of running time. */
class TimeLimit {
  readonly #controller = new AbortController()
  #remainingMs: number
  #runningSinceMs = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number) {
    this.#remainingMs = ms
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  run(): void {
    this.#runningSinceMs = Date.now()
    const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
    this.#timer = setTimeout(() => this.#controller.abort(reason), this.#remainingMs)
  }

  pause(): void {
    clearTimeout(this.#timer)
    this.#remainingMs = Math.max(0, this.#remainingMs - (Date.now() - this.#runningSinceMs))
  }
}

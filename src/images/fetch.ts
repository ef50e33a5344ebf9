// Fetches a customer's picture once, and believes nothing the server claims about it.
import { EngineError } from '../engines/engine.ts'
import type { JobErrorCode } from '../jobs/status.ts'
import { readAtMost } from '../read-at-most.ts'
import { IMAGE_TIMEOUT_MS, MAX_IMAGE_BYTES, MAX_IMAGE_REDIRECTS } from '../settings.ts'
import { inspect, recognise } from './format.ts'
import type { ImageFormat } from './format.ts'
import { urlProblem } from './url.ts'
import type { UrlPolicy } from './url.ts'

export type Role = 'model' | 'garment'

export interface FetchedImage {
  bytes: Uint8Array<ArrayBuffer>
  format: ImageFormat
}

/**
 * Fetches and checks one picture: at most 10 s, 3 redirects (each hop checked like the first
 * address) and 10 MB, past which no more than one chunk is taken in.
 * @throws EngineError `{role}_image_unreachable | _too_large | _unsupported_format | _corrupt`, none
 * of them retriable
 */
export async function fetchImage(
  role: Role,
  address: string,
  policy: UrlPolicy,
): Promise<FetchedImage> {
  const refuse = (problem: Problem, reason: string, cause?: unknown): never => {
    throw new EngineError(`${role}_image_${problem}` satisfies JobErrorCode, reason, { cause })
  }
  const signal = AbortSignal.timeout(IMAGE_TIMEOUT_MS)
  let bytes: Uint8Array<ArrayBuffer> | null
  try {
    bytes = await readAtMost(await follow(address, policy, signal), MAX_IMAGE_BYTES)
  } catch (error) {
    return refuse('unreachable', error instanceof Error ? error.message : String(error), error)
  }
  if (!bytes) return refuse('too_large', `more than ${MAX_IMAGE_BYTES} bytes`)
  return checkImage(role, bytes)
}

/**
 * Tells the format of a picture that is at hand, and refuses one whose structure would cost a decoder
 * more than its size says. Every engine's pictures pass here, before anybody is called or paid.
 * @throws EngineError `{role}_image_unsupported_format | _corrupt`
 */
export function checkImage(role: Role, bytes: Uint8Array<ArrayBuffer>): FetchedImage {
  const format = recognise(bytes)
  if (!format) {
    const reason = 'the bytes are no JPEG, PNG or WebP'
    throw new EngineError(`${role}_image_unsupported_format`, reason)
  }
  const header = inspect(bytes, format)
  if ('corrupt' in header) throw new EngineError(`${role}_image_corrupt`, header.corrupt)
  return { bytes, format }
}

type Problem = 'unreachable' | 'too_large' | 'unsupported_format' | 'corrupt'

async function follow(
  address: string,
  policy: UrlPolicy,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  let url = address
  for (let hop = 0; hop <= MAX_IMAGE_REDIRECTS; hop++) {
    const problem = urlProblem(url, policy)
    if (problem) throw new Error(`the address ${problem}`)
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

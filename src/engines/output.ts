// A provider's picture, fetched at once since its URL expires, and trusted only for its bytes.
import type { Work } from '../domain/failure.ts'
import { JobFailure } from '../domain/failure.ts'
import { dimensions, detectFormat } from '@try-on/image-files'
import { readLimited } from '../net/read-limited.ts'
import { isLoopback } from './base-url.ts'
import { type GeneratedImage } from './engine.ts'

export const MAX_OUTPUT_BYTES = 20 * 1024 * 1024
const TIMEOUT_MS = 60_000
const MAX_REDIRECTS = 3

/** The picture behind a provider's answer: a URL, a data URI or bare base64. */
export async function fetchOutput(
  provider: string,
  reference: string,
  baseUrl?: string,
): Promise<GeneratedImage> {
  if (/^https?:/i.test(reference)) return download(provider, reference, baseUrl)
  return decodeOutput(provider, reference)
}

/** Decodes base64, bare or as a data URI. */
export function decodeOutput(provider: string, reference: string): GeneratedImage {
  const base64 = reference.replace(/^data:[^,]{0,100};base64,/i, '')
  if (base64.length > (MAX_OUTPUT_BYTES / 3) * 4 + 4) throw failed(provider, 'output too large')
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = Uint8Array.fromBase64(base64)
  } catch {
    throw failed(provider, 'output is neither a URL nor base64')
  }
  return checked(provider, bytes)
}

async function download(
  provider: string,
  reference: string,
  baseUrl: string | undefined,
): Promise<GeneratedImage> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  let url = allowed(provider, reference, baseUrl)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    let response: Response
    let bytes: Uint8Array<ArrayBuffer> | null
    try {
      response = await fetch(url, { redirect: 'manual', signal })
      bytes = await readLimited(
        response.body,
        MAX_OUTPUT_BYTES,
        response.headers.get('content-length'),
      )
    } catch (error) {
      throw failed(provider, `output: ${error instanceof Error ? error.name : 'lost'}`, 'alive')
    }
    const location = response.headers.get('location')
    if (response.status >= 300 && response.status < 400 && location) {
      url = allowed(provider, location, baseUrl, url)
      continue
    }
    if (!response.ok) {
      const passing = response.status >= 500 || response.status === 429
      throw failed(provider, `output: ${response.status}`, passing ? 'alive' : 'over')
    }
    if (!bytes) throw failed(provider, 'output too large')
    return checked(provider, bytes)
  }
  throw failed(provider, 'output redirected too often')
}

/** Plain http only back to the loopback host that the engine is configured to talk to. */
function allowed(provider: string, reference: string, baseUrl?: string, from?: URL): URL {
  const url = URL.parse(reference, from?.href)
  const base = baseUrl === undefined ? null : URL.parse(baseUrl)
  const ours = base !== null && isLoopback(base.hostname) && url?.hostname === base.hostname
  if (url && (url.protocol === 'https:' || (url.protocol === 'http:' && ours))) return url
  throw failed(provider, 'output at an address we do not fetch')
}

function checked(provider: string, bytes: Uint8Array<ArrayBuffer>): GeneratedImage {
  const format = detectFormat(bytes)
  if (!format || !dimensions(bytes, format)) throw failed(provider, 'output is no picture')
  return { bytes, format }
}

const failed = (provider: string, reason: string, work: Work = 'over') =>
  new JobFailure('generation_failed', `${provider}: ${reason}`, { retriable: true, work })

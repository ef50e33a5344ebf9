// Loads a provider's picture. It is downloaded immediately, because its URL expires. The format is
// detected from its bytes.
import { JobFailure, type ProviderWork } from '../domain/failure.ts'
import { detectFormat, withMetadata } from '@try-on/image-files'
import { followRedirects, RedirectError } from '../platform/net/follow-redirects.ts'
import { readLimited } from '../platform/net/read-limited.ts'
import { isLoopback } from './provider-api.ts'
import type { ImageFile } from '../domain/image.ts'

export const MAX_OUTPUT_BYTES = 20 * 1024 * 1024
const TIMEOUT_MS = 60_000
const MAX_REDIRECTS = 3

/**
 * Fetches or decodes a picture.
 * @param reference a URL, a data URI or base64
 * @param baseUrl the provider's API; plain http is allowed only to the same loopback host
 */
export async function fetchOutput(provider: string, reference: string, baseUrl?: string) {
  if (/^https?:/i.test(reference)) return download(provider, reference, baseUrl)
  return decodeOutput(provider, reference)
}

/** Decodes base64, bare or as a data URI. */
export function decodeOutput(provider: string, reference: string): ImageFile {
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

async function download(provider: string, outputUrl: string, baseUrl: string | undefined) {
  let response: Response
  let bytes: Uint8Array<ArrayBuffer> | null
  try {
    response = await followRedirects(outputUrl, {
      maxRedirects: MAX_REDIRECTS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      checkUrl(url) {
        if (!isAllowed(url, baseUrl)) throw failed(provider, 'output URL is not allowed')
      },
    })
    bytes = await readLimited(response, MAX_OUTPUT_BYTES)
  } catch (error) {
    if (error instanceof JobFailure) throw error
    if (error instanceof RedirectError) throw failed(provider, `output: ${error.message}`)
    const reason = error instanceof Error ? error.name : 'unknown error'
    throw failed(provider, `output: ${reason}`, 'alive')
  }
  if (!response.ok) {
    const temporary = response.status >= 500 || response.status === 429
    throw failed(provider, `output: ${response.status}`, temporary ? 'alive' : 'over')
  }
  if (!bytes) throw failed(provider, 'output too large')
  return checked(provider, bytes)
}

/** https anywhere; plain http only to the loopback host that the engine is configured to call. */
function isAllowed(outputUrl: string, baseUrl: string | undefined): boolean {
  const url = URL.parse(outputUrl)
  const base = baseUrl === undefined ? null : URL.parse(baseUrl)
  const isConfigured = base !== null && isLoopback(base.hostname) && url?.hostname === base.hostname
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isConfigured)
}

function checked(provider: string, bytes: Uint8Array<ArrayBuffer>): ImageFile {
  const format = detectFormat(bytes)
  if (!format) throw failed(provider, 'output is not a picture')
  // An output that cannot be marked later must fail here, where other engines can still be tried.
  const parts = withMetadata(bytes, format, '')
  if ('corrupt' in parts) throw failed(provider, `output is not a picture: ${parts.corrupt}`)
  return { bytes, format }
}

const failed = (provider: string, reason: string, work: ProviderWork = 'over') =>
  new JobFailure('generation_failed', `${provider}: ${reason}`, { retriable: true, work })

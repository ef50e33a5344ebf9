// Parses responses: JSON bodies, error envelopes, and responses of other servers, such as proxies.
import { ApiError } from './errors.ts'

const EXCERPT_LENGTH = 120

/**
 * The body of a successful response; undefined for 204.
 * @param text the body
 * @throws ApiError for an error response, and for a response that is not JSON
 */
export function parseResponse(baseUrl: string, response: Response, text: string): unknown {
  const body = parseJson(text)
  if (response.ok) {
    if (response.status === 204) return undefined
    if (typeof body === 'object' && body !== null) return body
    throw unexpectedResponse(baseUrl, response, text)
  }
  const error = errorOf(body)
  if (!error) throw unexpectedResponse(baseUrl, response, text)
  throw new ApiError({
    ...error,
    ...commonDetails(response),
    docsUrl: `${baseUrl}/docs/errors#${error.code}`,
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The content of the error envelope; undefined when the body has another form. */
function errorOf(body: unknown): { code: string; message: string } | undefined {
  const { error } = (body ?? {}) as { error?: { code?: unknown; message?: unknown } | null }
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined
  return { code: error.code, message: error.message }
}

function unexpectedResponse(baseUrl: string, response: Response, text: string): ApiError {
  return new ApiError({
    code: 'unexpected_response',
    message: describeUnexpected(baseUrl, response, text),
    ...commonDetails(response),
    docsUrl: `${baseUrl}/docs/typescript#errors`,
  })
}

function describeUnexpected(baseUrl: string, response: Response, text: string): string {
  const { status, headers } = response
  // A browser hides the target of a redirect, and its status is 0.
  if (status === 0 || (status >= 300 && status < 400)) {
    const target = headers.get('location') ?? 'another address'
    return `${baseUrl} redirects to ${target}. Set baseUrl to the final address.`
  }
  const contentType = headers.get('content-type') ?? 'no Content-Type'
  const excerpt = text.replace(/\s+/g, ' ').trim().slice(0, EXCERPT_LENGTH)
  return `The response of ${baseUrl} is not a response of the API (status ${status}, ${contentType}): ${excerpt || 'empty'}`
}

const commonDetails = ({ status, headers }: Response) => ({
  status,
  requestId: headers.get('x-request-id'),
  retryAfterSeconds: retryAfterSeconds(headers.get('retry-after')),
})

/** Parses Retry-After, in seconds or as a date. @returns null when it is missing or malformed */
export function retryAfterSeconds(value: string | null): number | null {
  if (value === null) return null
  if (/^\d+$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000))
}

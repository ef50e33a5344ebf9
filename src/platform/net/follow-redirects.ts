// Follows redirects manually, so that every URL is checked before it is requested.

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])

/** There were too many redirects, or a `Location` header was not a valid URL. */
export class RedirectError extends Error {
  override readonly name = 'RedirectError'
}

export interface FollowOptions {
  maxRedirects: number
  signal: AbortSignal
  headers?: Record<string, string>
  /** Called with each URL before it is requested, the first one included. Throws to reject it. */
  checkUrl(url: string): void
}

/**
 * Fetches a URL, following its redirects. Cancels the bodies of the redirects.
 * @returns the first response that is not a redirect, with any status and an unread body
 * @throws RedirectError; also the errors of `checkUrl` and of `fetch`
 */
export async function followRedirects(
  url: string,
  { maxRedirects, signal, headers = {}, checkUrl }: FollowOptions,
): Promise<Response> {
  let current = url
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    checkUrl(current)
    const response = await fetch(current, { redirect: 'manual', signal, headers })
    const location = response.headers.get('Location')
    if (!REDIRECT_STATUSES.has(response.status) || !location) return response
    await response.body?.cancel()
    const next = URL.parse(location, current)
    if (!next) throw new RedirectError('the Location header is not a valid URL')
    current = next.href
  }
  throw new RedirectError(`more than ${maxRedirects} redirects`)
}

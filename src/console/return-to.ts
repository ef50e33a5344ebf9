import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleContext } from './console-context.ts'
import { withQuery } from './forms.ts'

/** Returns path and query of a console URL, otherwise null. Prevents open redirects. */
export function safeReturnTo(text: string | undefined): string | null {
  if (!text?.startsWith('/console')) return null
  const origin = 'https://console.invalid'
  const url = URL.parse(text, origin)
  if (!url || url.origin !== origin) return null
  const isConsole = url.pathname === '/console' || url.pathname.startsWith('/console/')
  return isConsole ? url.pathname + url.search : null
}

/** @param next the console page to show after signing in */
export const redirectToSignIn = (c: ConsoleContext, next: string | null): Response =>
  c.redirect(withQuery('/console/sign-in', { next }), 303)

/** Returns the console page that sent the form, according to the Referer header, if it is one of this service. */
export function returnTo(c: ConsoleContext): string | null {
  const page = URL.parse(c.req.header('Referer') ?? '')
  return page && isOwnOrigin(c, page.origin) ? safeReturnTo(page.pathname + page.search) : null
}

/** Whether an origin is that of the request or of BASE_URL. */
export const isOwnOrigin = (c: ConsoleContext, origin: string | undefined): boolean =>
  [c.req.url, baseUrlOf(c)].some((url) => origin === new URL(url).origin)

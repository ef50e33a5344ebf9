import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleContext } from './context.ts'

/** A path of the console to go on to after signing in; anything else is ignored. */
export function safeReturnTo(text: string | undefined): string | null {
  if (!text?.startsWith('/console')) return null
  const here = 'https://console.invalid'
  const url = URL.parse(text, here)
  if (!url || url.origin !== here) return null
  const inside = url.pathname === '/console' || url.pathname.startsWith('/console/')
  return inside ? url.pathname + url.search : null
}

/** The page of the console that a form was on, as far as the browser says. */
export function returnTo(c: ConsoleContext): string | null {
  const page = URL.parse(c.req.header('Referer') ?? '')
  const ours = [c.req.url, baseUrlOf(c)].some((url) => page?.origin === new URL(url).origin)
  return page && ours ? safeReturnTo(page.pathname + page.search) : null
}

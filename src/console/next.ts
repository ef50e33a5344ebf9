/** A path of the console to go on to after signing in; anything else is ignored. */
export function safeNext(text: string | undefined): string | null {
  if (!text?.startsWith('/console')) return null
  const here = 'https://console.invalid'
  const url = URL.parse(text, here)
  if (!url || url.origin !== here) return null
  const inside = url.pathname === '/console' || url.pathname.startsWith('/console/')
  return inside ? url.pathname + url.search : null
}

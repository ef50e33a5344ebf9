// Texts of the documentation site that need the Worker: those that contain the address of the service, which the build
// does not know, and the page for unknown addresses. All other pages are static assets.
import type { Context } from 'hono'
import { EXAMPLE_ORIGIN } from '../domain/docs.ts'
import { DAY_MS } from '../domain/limits.ts'
import { baseUrlOf } from '../http/base-url.ts'
import type { App } from '../http/request-context.ts'
import { settingsOf } from '../platform/settings.ts'

/** RFC 9116 recommends less than a year. */
const SECURITY_TXT_MS = 180 * DAY_MS

/** The page for unknown addresses below /docs. */
export async function docsPageNotFound({ env, req }: Context<App>): Promise<Response> {
  const page = await env.ASSETS.fetch(new URL('/docs/404', req.url))
  return new Response(page.body, { status: 404, headers: page.headers })
}

/** A static text, with the address of this service instead of the example. */
export async function siteText(c: Context<App>): Promise<Response> {
  const file = await c.env.ASSETS.fetch(new URL(c.req.path, c.req.url))
  if (!file.ok) return docsPageNotFound(c)
  const text = (await file.text()).replaceAll(EXAMPLE_ORIGIN, baseUrlOf(c))
  const headers = new Headers(file.headers)
  // They describe the original.
  for (const name of ['ETag', 'Content-Length']) headers.delete(name)
  return new Response(text, { headers })
}

/** Where to report a vulnerability (RFC 9116). */
export function securityTxt(c: Context<App>): Response {
  const baseUrl = baseUrlOf(c)
  const { supportEmail } = settingsOf(c.env)
  const contact = supportEmail ? `mailto:${supportEmail}` : `${baseUrl}/docs/security`
  return c.text(`Contact: ${contact}
Expires: ${new Date(Date.now() + SECURITY_TXT_MS).toISOString()}
Preferred-Languages: en
Canonical: ${baseUrl}/.well-known/security.txt
Policy: ${baseUrl}/docs/security
`)
}

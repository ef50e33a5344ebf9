// The console's door. What is behind it, better-auth above all, is evaluated at the first request
// for a page and never for a request to /v1.
import type { Context } from 'hono'
import type { App } from '../http/context.ts'

/** Answers a request for a page. */
export async function serveConsole(c: Context<App>): Promise<Response> {
  const { pages } = await import('./routes.tsx')
  const request = new Request(c.req.raw)
  request.headers.set('X-Request-Id', c.var.requestId)
  return pages.fetch(request, c.env, c.executionCtx)
}

// Loads the console's routes at the first request for a page, so that requests to /v1 do not load
// better-auth and the other dependencies of the console.
import type { Context } from 'hono'
import type { App } from '../http/context.ts'

export async function serveConsole(c: Context<App>): Promise<Response> {
  const { pages, publicPages } = await import('./routes.tsx')
  const request = new Request(c.req.raw)
  request.headers.set('X-Request-Id', c.var.requestId)
  const isConsole = /^\/console(\/|$)/.test(c.req.path)
  return (isConsole ? pages : publicPages).fetch(request, c.env, c.executionCtx)
}

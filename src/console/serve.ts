// Loads the console's routes at the first request for a page, so that requests to /v1 do not load
// better-auth and the other dependencies of the console.
import type { Context } from 'hono'
import type { App } from '../http/request-context.ts'
import type * as Console from './console.tsx'

/** Not imported by each request: one that waits for the import of another can be ended as hung. */
let routes: typeof Console | undefined

export async function serveConsole(c: Context<App>): Promise<Response> {
  const { pages, publicPages } = (routes ??= await import('./console.tsx'))
  const isConsole = /^\/console(\/|$)/.test(c.req.path)
  return (isConsole ? pages : publicPages).fetch(c.req.raw, c.env, c.executionCtx)
}

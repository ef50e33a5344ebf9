// Combines the HTTP modules and adds what they share: request id, security headers and errors.
import { Hono } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { openApiDocument } from './api/openapi.ts'
import { v1 } from './api/routes.ts'
import { serveConsole } from './console/serve.ts'
import { AppError } from './domain/errors.ts'
import { baseUrlOf } from './http/base-url.ts'
import type { App } from './http/context.ts'
import { errorResponse } from './http/errors.ts'
import { log, withLogFields } from './log.ts'
import { operator } from './operator/routes.ts'
import { outputs } from './outputs/routes.ts'
import { payments } from './payments/routes.ts'

/** Disables the headers that apply only to pages: setting a header takes time in every request. */
const FOR_DATA = {
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
  removePoweredBy: false,
}
const dataHeaders = secureHeaders(FOR_DATA)
/** Shops embed outputs in their own pages, which `same-origin` would prevent. */
const pictureHeaders = secureHeaders({ ...FOR_DATA, crossOriginResourcePolicy: 'cross-origin' })
const PAGES = /^\/(console|sandbox|pricing)(\/|$)/
/** Pages set their own headers. */
const noHeaders: typeof dataHeaders = (_, next) => next()

function headersFor(path: string) {
  if (path.startsWith('/outputs/')) return pictureHeaders
  return PAGES.test(path) ? noHeaders : dataHeaders
}

export const app = new Hono<App>()
  .use(requestId())
  .use((c, next) =>
    withLogFields({ requestId: c.get('requestId') }, () => headersFor(c.req.path)(c, next)),
  )
  .route('/v1', v1)
  .route('/operator', operator)
  .route('/payments', payments)
  .get('/openapi.json', (c) => c.json(openApiDocument(baseUrlOf(c))))
  .get('/', (c) => c.redirect('/console'))
  .all('/console', serveConsole)
  .all('/console/*', serveConsole)
  .all('/pricing', serveConsole)
  .all('/sandbox/*', serveConsole)
  .route('/', outputs)
  .onError((error, c) => {
    if (error instanceof AppError) return errorResponse(c, error)
    log.error('request failed', error, { method: c.req.method, path: c.req.path })
    return errorResponse(c, new AppError('internal_error'))
  })

const rejectMethod = methodNotAllowed({
  app,
  onMethodNotAllowed: (c, methods) =>
    errorResponse(c, new AppError('method_not_allowed', undefined, { Allow: methods.join(', ') })),
})

// Not mounted as middleware, so that it does not run for requests that match a route.
app.notFound(async (c) => {
  await rejectMethod(c, async () => {
    c.res = errorResponse(c, new AppError('not_found'))
  })
  return c.res
})

// Puts the surfaces together, with what all of them share.
import { Hono } from 'hono'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { allow } from './http/allow.ts'
import { errorResponse } from './http/errors.ts'
import { account } from './api/account.ts'
import { baseUrlOf } from './http/base-url.ts'
import { jobs } from './api/jobs.ts'
import { openApiDocument } from './api/openapi.ts'
import { tryOn } from './api/try-on.ts'
import { serveConsole } from './console/serve.ts'
import type { App } from './http/context.ts'
import { AppError } from './domain/errors.ts'
import { log, withLogFields } from './log.ts'
import { operator } from './operator/routes.ts'
import { outputs } from './outputs/routes.ts'

/** What means nothing but on pages is left out: each header is paid for at each request. */
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
/** Shops show outputs on their own pages, which the usual same-origin policy would forbid. */
const pictureHeaders = secureHeaders({ ...FOR_DATA, crossOriginResourcePolicy: 'cross-origin' })
/** The console sets headers for pages, not for data. */
const noHeaders: typeof dataHeaders = (_, next) => next()

function headersFor(path: string) {
  if (path.startsWith('/outputs/')) return pictureHeaders
  return path === '/console' || path.startsWith('/console/') ? noHeaders : dataHeaders
}

const v1 = new Hono<App>()
  .use((c, next) => {
    c.header('Cache-Control', 'no-store') // set afterwards, it would make Hono copy the answer
    return next()
  })
  .route('/tryon', tryOn)
  .route('/jobs', jobs)
  .route('/', account)

export const app = new Hono<App>()
  .use(requestId())
  .use((c, next) => withLogFields({ requestId: c.get('requestId') }, next))
  .use((c, next) => headersFor(c.req.path)(c, next))
  .route('/v1', v1)
  .route('/operator', operator)
  .get('/openapi.json', (c) => c.json(openApiDocument(baseUrlOf(c))))
  .all('/openapi.json', allow('GET', 'HEAD'))
  .get('/', (c) => c.redirect('/console'))
  .all('/', allow('GET', 'HEAD'))
  .all('/console', serveConsole)
  .all('/console/*', serveConsole)
  .route('/', outputs)
  .notFound((c) => errorResponse(c, new AppError('not_found')))
  .onError((error, c) => {
    if (error instanceof AppError) return errorResponse(c, error)
    log.error('request failed', error, { method: c.req.method, path: c.req.path })
    return errorResponse(c, new AppError('internal_error'))
  })

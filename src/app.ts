// Puts the surfaces together, with what all of them share.
import { Hono } from 'hono'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { account } from './api/account.ts'
import { baseUrlOf } from './api/base-url.ts'
import { jobs } from './api/jobs.ts'
import { openApiDocument } from './api/openapi.ts'
import { tryOn } from './api/try-on.ts'
import type { App } from './context.ts'
import { AppError, errorResponse } from './errors.ts'
import { log, withLogFields } from './log.ts'
import { operator } from './operator/routes.ts'
import { outputs } from './outputs/routes.ts'

const v1 = new Hono<App>()
  .use(async (c, next) => {
    await next()
    c.header('Cache-Control', 'no-store')
  })
  .route('/tryon', tryOn)
  .route('/jobs', jobs)
  .route('/', account)

export const app = new Hono<App>()
  .use(requestId())
  .use((c, next) => withLogFields({ requestId: c.var.requestId }, next))
  .use(secureHeaders())
  .route('/v1', v1)
  .route('/operator', operator)
  .get('/openapi.json', (c) => c.json(openApiDocument(baseUrlOf(c))))
  .route('/', outputs)
  .notFound((c) => errorResponse(c, new AppError('not_found')))
  .onError((error, c) => {
    if (error instanceof AppError) return errorResponse(c, error)
    log.error('request failed', error, { method: c.req.method, path: c.req.path })
    return errorResponse(c, new AppError('internal_error'))
  })

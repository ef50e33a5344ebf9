// The routes of /v1. All of them use `readCredentials`.
import { Hono } from 'hono'
import { account } from './account.ts'
import { readCredentials } from './authenticate-key.ts'
import type { ApiApp } from './api-context.ts'
import { cors } from './cors.ts'
import { jobs } from './jobs.ts'
import { logRequest } from './log-request.ts'
import { tryOn } from './try-on.ts'
import { uploads } from './uploads.ts'
import { usage } from './usage.ts'
import { webhookDeliveries } from './webhook-deliveries.ts'
import { webhookEndpoints } from './webhook-endpoints.ts'

export const v1 = new Hono<ApiApp>()
  .use(logRequest)
  .use(cors)
  .use((c, next) => {
    // Set before the handler: Hono would copy the response to set it afterwards.
    c.header('Cache-Control', 'no-store')
    return readCredentials(c, next)
  })
  .route('/tryon', tryOn)
  .route('/jobs', jobs)
  .route('/uploads', uploads)
  .route('/usage', usage)
  .route('/webhook-endpoints', webhookEndpoints)
  .route('/webhook-deliveries', webhookDeliveries)
  .route('/', account)

// The routes of /v1. Each is behind `readCredentials`.
import { Hono } from 'hono'
import { account } from './account.ts'
import { readCredentials } from './authenticate.ts'
import type { ApiApp } from './context.ts'
import { jobs } from './jobs.ts'
import { tryOn } from './try-on.ts'

export const v1 = new Hono<ApiApp>()
  .use((c, next) => {
    c.header('Cache-Control', 'no-store') // set after the handler, it would make Hono copy the response
    return readCredentials(c, next)
  })
  .route('/tryon', tryOn)
  .route('/jobs', jobs)
  .route('/', account)

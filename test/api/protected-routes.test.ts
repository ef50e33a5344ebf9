// No route is public unless this file lists it.
import { env } from 'cloudflare:workers'
import { inspectRoutes } from 'hono/dev'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import type { ApiApp } from '../../src/api/api-context.ts'
import { readCredentials } from '../../src/api/authenticate-key.ts'
import { app } from '../../src/app.ts'
import { errorResponse } from '../../src/http/on-error.ts'
import type { AppError } from '../../src/domain/errors.ts'
import { newId } from '../../src/platform/ids.ts'
import { createKey } from '../../src/credits/api-key.ts'
import { codeOf, request } from '../support/client.ts'
import { IMAGES } from '../support/world.ts'

/** The console authenticates by session, behind one handler; test/console covers it. */
const PUBLIC = [
  'GET /openapi.json',
  'GET /openapi.yaml',
  'GET /',
  'GET /health',
  // The page 'not found' of the documentation.
  'GET /docs/*',
  'GET /docs/:page{.+\\.md}',
  'GET /llms.txt',
  'GET /llms-full.txt',
  'GET /robots.txt',
  'GET /sitemap.xml',
  'GET /.well-known/security.txt',
  'ALL /console',
  'ALL /console/*',
  'ALL /pricing',
  // The secret in the address of a sandbox page identifies the customer; test/console/sandbox covers it.
  'ALL /sandbox/*',
  // Authenticated by Stripe's signature; test/billing/stripe/events covers it.
  'POST /payments/stripe/events',
  'GET /outputs/:file',
  'GET /inputs/:job/:file',
  'GET /uploads/:upload/:file',
]

const routes = [
  ...new Set(
    inspectRoutes(app)
      .filter(({ isMiddleware }) => !isMiddleware)
      .map(({ method, path }) => `${method} ${path}`),
  ),
]
const routesUnder = (prefix: string) =>
  routes.filter((route) => route.split(' ')[1]?.startsWith(prefix))

function call(route: string, token?: string): Promise<Response> {
  const [method = '', template = ''] = route.split(' ')
  const path = template.replace(':jobId', newId('job')).replace(':orgId', newId('org'))
  return request(path.replace(/:\w+/g, 'x'), {
    method,
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    ...(method !== 'GET' && { body: JSON.stringify(IMAGES) }),
  })
}

describe('the routes of the app', () => {
  it('are under /v1 or /operator, or public', () => {
    expect(routesUnder('/v1/')).toHaveLength(19)
    const others = routes.filter((route) => !/ \/(v1|operator)\//.test(route))
    expect(others.toSorted()).toEqual(PUBLIC.toSorted())
  })

  it.each(routesUnder('/v1/'))('return 401 without an API key: %s', async (route) => {
    const response = await call(route)
    expect([response.status, await codeOf(response)]).toEqual([401, 'invalid_api_key'])
  })

  it.each(routesUnder('/v1/'))('return 401 for an unknown API key: %s', async (route) => {
    const response = await call(route, createKey(newId('org'), 'live'))
    expect([response.status, await codeOf(response)]).toEqual([401, 'invalid_api_key'])
  })

  it.each(routesUnder('/operator/'))('return 401 without the operator token: %s', async (route) => {
    const response = await call(route)
    expect([response.status, await codeOf(response)]).toEqual([401, 'unauthorized'])
  })

  it('return 401 without an API key if a route accepts all methods', async () => {
    const open = new Hono<ApiApp>()
      .basePath('/v1')
      .use(readCredentials)
      .all('/export', (c) => c.text('everything'))
      .onError((error, c) => errorResponse(c, error as AppError))
    const response = await open.request('/v1/export', {}, env)
    expect([response.status, await codeOf(response)]).toEqual([401, 'invalid_api_key'])
    expect((await open.request('/v1/unknown', {}, env)).status).toBe(404)
  })
})

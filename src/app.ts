// Combines the HTTP modules and adds what they share: request id, security headers and errors.
import { Hono } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { v1 } from './api/v1.ts'
import { serveConsole } from './console/serve.ts'
import { errorDocsPath } from './domain/docs.ts'
import { AppError } from './domain/errors.ts'
import { baseUrlOf } from './http/base-url.ts'
import { health } from './api/health.ts'
import { networkOf } from './http/network.ts'
import type { App } from './http/request-context.ts'
import { errorResponse } from './http/on-error.ts'
import { withRequestLine } from './http/request-line.ts'
import { limitRoute } from './http/take-budget.ts'
import { log } from './platform/log.ts'
import { operator } from './operator/operator.ts'
import { outputs } from './api/outputs.ts'
import { paymentEvents } from './api/payment-events.ts'
import { docsPageNotFound, securityTxt, siteText } from './api/site-texts.ts'

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
const imageHeaders = secureHeaders({ ...FOR_DATA, crossOriginResourcePolicy: 'cross-origin' })
/** RFC 9512. */
const YAML_TYPE = 'application/yaml'
const PAGES = /^\/(console|sandbox|pricing|docs)(\/|$)/
/** Pages set their own headers. */
const noHeaders: typeof dataHeaders = (_, next) => next()

const limitNetwork = limitRoute<App>(
  (c) => ({ network: networkOf(c) }),
  (seconds) => `Too many requests from your network. Try again in ${seconds} s.`,
)

function headersFor(path: string) {
  if (path.startsWith('/outputs/')) return imageHeaders
  return PAGES.test(path) ? noHeaders : dataHeaders
}

export const app = new Hono<App>()
  .use(requestId())
  .use((c, next) => withRequestLine(c, async () => headersFor(c.req.path)(c, next)))
  .route('/v1', v1)
  .route('/operator', operator)
  .all('/console', serveConsole)
  .all('/console/*', serveConsole)
  .all('/pricing', serveConsole)
  .all('/sandbox/*', serveConsole)
  // The routes above take their budgets themselves.
  .use(limitNetwork)
  .route('/payments', paymentEvents)
  .get('/openapi.json', async (c) => {
    // Imported on demand: other requests do not need the document.
    const { openApiDocument } = await import('./api/openapi-document.ts')
    return c.json(openApiDocument(baseUrlOf(c)))
  })
  .get('/openapi.yaml', async (c) => {
    const { openApiYaml } = await import('./api/openapi-document.ts')
    return c.body(await openApiYaml(baseUrlOf(c)), 200, { 'Content-Type': YAML_TYPE })
  })
  .get('/health', health)
  .get('/', (c) => c.redirect('/console'))
  .get('/docs/:page{.+\\.md}', siteText)
  .on('GET', ['/llms.txt', '/llms-full.txt', '/robots.txt', '/sitemap.xml'], siteText)
  .get('/.well-known/security.txt', securityTxt)
  .get('/docs/*', docsPageNotFound)
  .route('/', outputs)
  .onError((error, c) => {
    if (error instanceof AppError) return errorResponse(c, error)
    log.error('request failed', error, { docsUrl: errorDocsPath('internal_error') })
    return errorResponse(c, new AppError('internal_error'))
  })

const rejectMethod = methodNotAllowed({
  app,
  onMethodNotAllowed: (c, methods) =>
    errorResponse(c, new AppError('method_not_allowed', undefined, { Allow: methods.join(', ') })),
})

// Not mounted as middleware, so that it does not run for requests that match a route.
/** Paths whose callers are programs, also when they accept everything. */
const DATA = /^\/(v1|operator|outputs|payments|health|openapi)/

app.notFound(async (c) => {
  const acceptsPage = c.req.method === 'GET' && c.req.header('Accept')?.includes('text/html')
  if (acceptsPage && !DATA.test(c.req.path)) return docsPageNotFound(c)
  await rejectMethod(c, async () => {
    c.res = errorResponse(c, new AppError('not_found'))
  })
  return c.res
})

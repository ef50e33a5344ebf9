// The routes and shared middleware of the console, whose pages are rendered on the server. serve.ts
// loads this module at the first request.
import { HTTPException } from 'hono/http-exception'
import { secureHeaders } from 'hono/secure-headers'
import { trimTrailingSlash } from 'hono/trailing-slash'
import { authSecretOf } from '../users/auth.ts'
import { consolePath } from '../domain/console-path.ts'
import { MAX_BODY_BYTES } from '../domain/limits.ts'
import { organisationOf } from '../organisations/locate.ts'
import { logFields } from '../platform/log.ts'
import { readRequestBody } from '../platform/net/read-limited.ts'
import { settingsOf } from '../platform/settings.ts'
import { account } from './pages/account-forms.tsx'
import { auditLog } from './pages/audit-log-page.tsx'
import { accountData } from './pages/account-data.tsx'
import { signInCode } from './pages/sign-in-code.tsx'
import { billing } from './pages/billing.tsx'
import { billingPayment } from './pages/billing-payment.tsx'
import { addResponseFields } from '../http/request-line.ts'
import { notFoundPage, pageOfError, tooLargePage } from './error-pages.tsx'
import { credits } from './pages/credits.tsx'
import { invitations } from './pages/invitation-pages.tsx'
import { jobs } from './pages/jobs-page.tsx'
import { keys } from './pages/keys.tsx'
import { limitConcurrentPages, limitNetwork } from './middleware/throttle.tsx'
import { devMailbox } from './pages/dev-mailbox.tsx'
import { onboarding } from './pages/onboarding.tsx'
import { organisationSettings } from './pages/organisation-settings.tsx'
import { passwordReset } from './pages/password-reset.tsx'
import { redirectTo } from './form-notices.ts'
import { createMiddleware, createApp, pathOf, type ConsoleContext } from './console-context.ts'
import { isOwnOrigin } from './return-to.ts'
import { overview } from './pages/overview.tsx'
import { playground } from './pages/playground.tsx'
import { pricing } from './pages/pricing.tsx'
import { requests } from './pages/requests.tsx'
import {
  permitted,
  requireOrganisation,
  requireSession,
  unlimitedForms,
} from './middleware/session.ts'
import { search } from './pages/search-page.ts'
import { sandbox } from './pages/sandbox.tsx'
import { signIn } from './pages/sign-in.tsx'
import { signUp } from './pages/sign-up.tsx'
import { useReplicas } from './middleware/use-replicas.ts'
import { choices } from './pages/choices.ts'
import { team } from './pages/team.tsx'
import { webhooks } from './pages/webhooks.tsx'
import { workspaces } from './pages/workspaces-page.tsx'

/**
 * A form with errors is rendered at the URL of its action. Loading that URL again, or returning to it
 * after signing in, redirects to the page of the form.
 */
const formRedirects = createApp()
  .get('/billing/:form', (c) => redirectTo(c, '/billing'))
  .get('/checklist/:form', (c) => redirectTo(c, ''))
  .get('/playground/:form', (c) => redirectTo(c, '/playground'))
  .get('/settings/organisation/:form', (c) => redirectTo(c, '/settings/organisation'))
  .get('/settings/team/invitations', (c) => redirectTo(c, '/settings/team'))
  .get('/settings/webhooks/url', (c) => redirectTo(c, '/settings/webhooks'))
  .get('/settings/webhooks/reveal', (c) => redirectTo(c, '/settings/webhooks'))
  .get('/settings/webhooks/rotate', (c) => redirectTo(c, '/settings/webhooks'))
  .get('/settings/webhooks/endpoints/enable', (c) => redirectTo(c, '/settings/webhooks'))
  .get('/settings/webhooks/test', (c) => redirectTo(c, '/settings/webhooks'))
  .get('/settings/workspaces/:workspaceId/:form', (c) => redirectTo(c, '/settings/workspaces'))

/** The path of the page of an object, with the address of the organisation and the object's id. */
const OBJECT_PAGE =
  /^\/console\/(?<addressed>org_\w+)(?<page>\/(?:jobs|settings\/webhooks|billing\/payments)\/(?<id>\w+))$/

/**
 * A link to a job, webhook event or payment leads to the organisation of that object: also if the link names another
 * organisation of the user, or none.
 */
const rightOrganisation = createMiddleware(async (c, next) => {
  await next()
  if (c.res.status !== 404 || c.req.method !== 'GET') return
  const { pathname, search } = new URL(c.req.url)
  const { addressed, page, id } = OBJECT_PAGE.exec(pathname)?.groups ?? {}
  if (page === undefined || id === undefined) return
  const organisationId = await organisationOf(c.env, id)
  const isOwn = c.var.memberships.some(({ organisation }) => organisation.id === organisationId)
  if (organisationId === undefined || organisationId === addressed || !isOwn) return
  c.res = c.redirect(consolePath(organisationId, page + search), 302)
})

export const organisationPages = createApp()
  .use(rightOrganisation)
  .use(requireOrganisation)
  .use(limitConcurrentPages)
  // The permissions for pages and, if different, for their forms. Other pages are for all members.
  .use('/playground/*', permitted('develop'))
  .use('/jobs/*', permitted('jobs'))
  .use('/billing/*', permitted('billing'))
  .use('/requests/*', permitted('jobs'))
  .use('/settings/api-keys/*', permitted('develop'), unlimitedForms)
  .use('/settings/webhooks/*', permitted('jobs', 'develop'), unlimitedForms)
  .use('/settings/workspaces/*', permitted('jobs', 'administer'))
  .use('/settings/organisation/:form', permitted('administer'))
  .use('/settings/team/invitations/*', permitted('administer'))
  .use('/settings/team/members/:userId', permitted('administer'))
  .use('/settings/team/members/:userId/role', permitted('administer'))
  .use('/settings/audit-log/*', permitted('administer'))
  .route('/', formRedirects)
  .route('/', overview)
  .route('/search', search)
  .route('/jobs', jobs)
  .route('/requests', requests)
  .route('/playground', playground)
  .route('/settings/organisation', organisationSettings)
  .route('/settings/api-keys', keys)
  .route('/settings/webhooks', webhooks)
  .route('/settings/workspaces', workspaces)
  .route('/credits', credits)
  .route('/billing', billing)
  .route('/billing/payments', billingPayment)
  .route('/settings/team', team)
  .route('/settings/audit-log', auditLog)
  .all('*', (c) => notFoundPage(c))

/** The page of the organisation that was used last, for an address without an organisation. */
function redirectToOrganisation(c: ConsoleContext) {
  const { pathname, search } = new URL(c.req.url)
  const page = pathname.replace(/^\/console/, '') + search
  // 307 preserves the method and the form.
  return c.redirect(pathOf(c, page), c.req.method === 'GET' ? 302 : 307)
}

const signedIn = createApp()
  .use(requireSession)
  .route('/', choices)
  .route('/:organisationId{org_[0-9a-z]+}', organisationPages)
  .use(requireOrganisation)
  .route('/account', account)
  .all('*', redirectToOrganisation)

/** CSRF protection: rejects requests from other origins, for every Content-Type. */
const requireOwnOrigin = createMiddleware(async (c, next) => {
  const isSafe = ['GET', 'HEAD', 'OPTIONS'].includes(c.req.method)
  if (!isSafe && !isOwnOrigin(c, c.req.header('Origin'))) throw new HTTPException(403)
  await next()
})

/**
 * Continues with the id of app.ts. It is not passed in a header: a copy of the request would close the connection
 * of a client whose form is too large before it has the response.
 */
const shareRequestId = createMiddleware(async (c, next) => {
  const id = String(logFields()['requestId'])
  c.set('requestId', id)
  c.header('X-Request-Id', id)
  await next()
})

/**
 * Answers a form of more than 64 KiB with the page for it, before the form is parsed.
 * @throws AppError validation_error when the client closes the connection
 */
const formLimit = createMiddleware(async (c, next) => {
  const { raw } = c.req
  if (!raw.body) return next()
  const body = await readRequestBody(raw, MAX_BODY_BYTES)
  if (!body) return tooLargePage(c)
  c.req.raw = new Request(raw, { method: raw.method, body })
  return next()
})

/** What all pages share. */
const pageApp = () =>
  createApp()
    .use(trimTrailingSlash())
    .use(shareRequestId)
    .use(async (c, next) => {
      await next()
      addResponseFields(c)
      if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store')
    })
    .use((c, next) => pageHeaders(c.env)(c, next))
    .use(limitNetwork)
    .use(useReplicas)
    .use(requireOwnOrigin)
    .notFound((c) => notFoundPage(c))
    .onError(pageOfError)

/** The pages outside of the console, which need no session. */
export const publicPages = pageApp()
  .use(formLimit)
  .route('/pricing', pricing)
  .route('/sandbox', sandbox)

export const pages = pageApp()
  .basePath('/console')
  // The body of an upload is a file, which has its own limit.
  .use((c, next) => (c.req.path.endsWith('/playground/uploads') ? next() : formLimit(c, next)))
  .use(async (c, next) => {
    authSecretOf(c.env)
    await next()
  })
  .route('/', signUp)
  .route('/', signIn)
  .route('/sign-in/code', signInCode)
  .route('/', passwordReset)
  .route('/', devMailbox)
  .route('/onboarding', onboarding)
  .route('/invitations', invitations)
  .route('/account', accountData)
  .route('/', signedIn)

const STRIPE_PAGES = [
  'https://checkout.stripe.com',
  'https://billing.stripe.com',
  'https://invoice.stripe.com',
]

/** Allows only the console's own scripts and form targets, and no frames. */
function pageHeaders(env: Env) {
  // Job pages load images from the customers' URLs; in development, these may be http.
  const settings = settingsOf(env)
  const imageSources = settings.devMailbox ? ['https:', 'http:'] : ['https:']
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:', ...imageSources],
      connectSrc: ["'self'"],
      // A form that starts a payment redirects to the provider's page.
      formAction: ["'self'", ...(settings.paymentProvider === 'stripe' ? STRIPE_PAGES : [])],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
  })
}

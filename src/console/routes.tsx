// The console: pages for people, drawn on the server. Loaded at its first request only (see app), so
// that /v1 does not pay for it.
import { MAX_BODY_BYTES } from '../domain/limits.ts'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import { HTTPException } from 'hono/http-exception'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { trimTrailingSlash } from 'hono/trailing-slash'
import { authSecretOf, ConsoleNotSetUp } from '../accounts/auth.ts'
import { AppError } from '../domain/errors.ts'
import { log } from '../log.ts'
import { settingsOf } from '../settings.ts'
import { account } from './pages/account.tsx'
import { auditLog } from './pages/audit-log.tsx'
import { accountData } from './pages/account-data.tsx'
import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from './context.ts'
import { credits } from './pages/credits.tsx'
import { invitations } from './pages/invitations.tsx'
import { jobs } from './pages/jobs.tsx'
import { keys } from './pages/keys.tsx'
import { guestPage } from './components/layout.tsx'
import { limitChanges } from './middleware/throttle.tsx'
import { mailbox } from './pages/mailbox.tsx'
import { onboarding } from './pages/onboarding.tsx'
import { organisationSettings } from './pages/organisation-settings.tsx'
import { overview } from './pages/overview.tsx'
import { playground, uploadLimit } from './pages/playground.tsx'
import { requireOrganisation, requireSession } from './middleware/session.ts'
import { signIn } from './pages/sign-in.tsx'
import { signUp } from './pages/sign-up.tsx'
import { requireSameOrganisation, switching } from './pages/switching.tsx'
import { team } from './pages/team.tsx'
import { webhooks } from './pages/webhooks.tsx'
import { workspaces } from './pages/workspaces.tsx'

/**
 * What answers a form with complaints keeps the form's address; whoever loads that address, or is led
 * back to it after signing in, gets the page that the form is on.
 */
const formAddresses = new Hono<ConsoleApp>()
  .get('/account/password', (c) => c.redirect('/console/account', 303))
  .get('/playground/sample', (c) => c.redirect('/console/playground', 303))
  .get('/settings/organisation/:form', (c) => c.redirect('/console/settings/organisation', 303))
  .get('/settings/team/invitations', (c) => c.redirect('/console/settings/team', 303))
  .get('/settings/webhooks/url', (c) => c.redirect('/console/settings/webhooks', 303))
  .get('/settings/webhooks/reveal', (c) => c.redirect('/console/settings/webhooks', 303))
  .get('/settings/webhooks/rotate', (c) => c.redirect('/console/settings/webhooks', 303))
  .get('/settings/webhooks/endpoints/enable', (c) => c.redirect('/console/settings/webhooks', 303))
  .get('/settings/webhooks/test', (c) => c.redirect('/console/settings/webhooks', 303))
  .get('/settings/workspaces/:workspaceId/rename', (c) =>
    c.redirect('/console/settings/workspaces', 303),
  )

const PLAYGROUND = '/playground'

const inside = new Hono<ConsoleApp>()
  .use(requireSession)
  .use(requireOrganisation)
  .use(PLAYGROUND, uploadLimit)
  .route('/', formAddresses)
  .route('/account', account)
  .route('/', switching)
  .use(requireSameOrganisation)
  .use(limitChanges)
  .route('/', overview)
  .route('/jobs', jobs)
  .route(PLAYGROUND, playground)
  .route('/settings/organisation', organisationSettings)
  .route('/settings/api-keys', keys)
  .route('/settings/webhooks', webhooks)
  .route('/settings/workspaces', workspaces)
  .route('/credits', credits)
  .route('/settings/team', team)
  .route('/settings/audit-log', auditLog)

/** Rejects what changes something unless it comes from our own pages, for every Content-Type. */
const ownOriginOnly = createMiddleware<ConsoleApp>(async (c, next) => {
  const isSafe = ['GET', 'HEAD', 'OPTIONS'].includes(c.req.method)
  if (!isSafe && !isOwnOrigin(c, c.req.header('Origin'))) throw new HTTPException(403)
  await next()
})

const tooLarge = (c: ConsoleContext) =>
  failure(c, 413, 'That is too much', 'The form is too large.')

const formLimit = bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => tooLarge(c) })

export const pages = new Hono<ConsoleApp>()
  .basePath('/console')
  .use(trimTrailingSlash())
  .use(requestId())
  .use(async (c, next) => {
    await next()
    c.header('Cache-Control', 'no-store')
  })
  .use((c, next) => protect(c.env)(c, next))
  .use(ownOriginOnly)
  // The playground takes files and has a limit of its own, whose page needs the organisation.
  .use((c, next) => (c.req.path === `/console${PLAYGROUND}` ? next() : formLimit(c, next)))
  .use(async (c, next) => {
    authSecretOf(c.env)
    await next()
  })
  .route('/', signUp)
  .route('/', signIn)
  .route('/', mailbox)
  .route('/onboarding', onboarding)
  .route('/invitations', invitations)
  .route('/account', accountData)
  .route('/', inside)
  .notFound((c) => failure(c, 404, 'Not found', 'There is nothing at this address.'))
  .onError((error, c) => {
    if (error instanceof AppError && error.code === 'not_found') {
      return failure(c, 404, 'Not found', 'There is nothing at this address.')
    }
    if (error instanceof AppError && error.code === 'deletion_scheduled') {
      return failure(c, 409, 'Nothing was changed', error.message)
    }
    if (error instanceof HTTPException && error.status === 403) {
      return failure(c, 403, 'Not accepted', 'This form was not sent from the console’s own pages.')
    }
    if (error instanceof ConsoleNotSetUp) {
      log.error('console not set up', error)
      return failure(c, 503, 'The console is not set up', error.message)
    }
    log.error('console request failed', error, { method: c.req.method, path: c.req.path })
    const words = `Something went wrong on our side. Try again; if it persists, quote ${c.var.requestId}.`
    return failure(c, 500, 'That did not work', words)
  })

const isOwnOrigin = (c: ConsoleContext, origin: string | undefined) =>
  origin === new URL(c.req.url).origin || origin === new URL(baseUrlOf(c)).origin

/** No script but our own files, no frame, and forms go nowhere else. */
function protect(env: Env) {
  // Customers' pictures are shown from where they are; local ones are there without TLS.
  const pictures = settingsOf(env).devMailbox ? ['https:', 'http:'] : ['https:']
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:', ...pictures],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
  })
}

function failure(
  c: ConsoleContext,
  status: 403 | 404 | 409 | 413 | 500 | 503,
  title: string,
  words: string,
) {
  return guestPage(
    c,
    { title, status },
    <article>
      <h1>{title}</h1>
      <p>{words}</p>
      <a href="/console">To the console</a>
    </article>,
  )
}

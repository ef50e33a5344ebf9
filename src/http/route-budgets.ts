// The budget of each route of the Worker, in the order in which the patterns are compared. A test compares
// the table with the routes of the app.
import { TrieRouter } from 'hono/router/trie-router'
import type { RouteBudget } from '../domain/budgets.ts'

const ORGANISATION = '/console/:organisationId{org_[0-9a-z]+}'

/** Reduce a risk, so they are never refused because of requests of others. */
const PROTECTIONS = [
  'POST /console/sign-out',
  'POST /console/account/sign-out-everywhere',
  'POST /console/account/sessions/*',
  'POST /console/account/password',
  'POST /console/account/delete',
  'POST /console/account/passkeys/:passkeyId/remove',
  `POST ${ORGANISATION}/settings/api-keys/:keyId/revoke`,
  `POST ${ORGANISATION}/settings/api-keys/:keyId/roll`,
  `POST ${ORGANISATION}/settings/webhooks/rotate`,
  `POST ${ORGANISATION}/settings/webhooks/endpoints/:id/delete`,
  `POST ${ORGANISATION}/settings/webhooks/endpoints/:id/rotate`,
  `POST ${ORGANISATION}/settings/team/members/:userId/*`,
  `POST ${ORGANISATION}/settings/team/invitations/:invitationId/withdraw`,
  `POST ${ORGANISATION}/settings/workspaces/:workspaceId/status`,
  `POST ${ORGANISATION}/settings/organisation/delete`,
  `POST ${ORGANISATION}/billing/auto-reload`,
  `POST ${ORGANISATION}/jobs/:jobId/cancel`,
  `POST ${ORGANISATION}/jobs/:jobId/delete-pictures`,
]

/** Budget → its routes, `METHOD pattern`. The first pattern that matches a request is its budget. */
export const BUDGET_OF_ROUTES: readonly [RouteBudget, readonly string[]][] = [
  [
    'webhookChange',
    [
      'POST /v1/webhook-endpoints',
      'PATCH /v1/webhook-endpoints/:endpointId',
      'POST /v1/webhook-endpoints/:endpointId/rotate-secret',
      'POST /v1/webhook-endpoints/:endpointId/test',
      'POST /v1/webhook-deliveries/:eventId/resend',
    ],
  ],
  ['api', ['ALL /v1/*']],
  ['operator', ['ALL /operator/*']],
  ['payments', ['POST /payments/stripe/events']],
  ['picture', ['GET /outputs/:file', 'GET /inputs/:job/:file', 'GET /uploads/:upload/:file']],
  [
    'document',
    [
      'GET /',
      'GET /health',
      'GET /openapi.json',
      'GET /openapi.yaml',
      'GET /docs/*',
      'GET /llms.txt',
      'GET /llms-full.txt',
      'GET /robots.txt',
      'GET /sitemap.xml',
      'GET /.well-known/security.txt',
      'GET /pricing',
    ],
  ],
  ['protection', PROTECTIONS],
  [
    'export',
    [
      'POST /console/account/export',
      `POST ${ORGANISATION}/settings/organisation/export`,
      `POST ${ORGANISATION}/jobs/export`,
      `GET ${ORGANISATION}/credits/ledger.csv`,
      `GET ${ORGANISATION}/requests/export.csv`,
      `GET ${ORGANISATION}/settings/audit-log/export.csv`,
      `GET ${ORGANISATION}/settings/webhooks/deliveries/export.csv`,
    ],
  ],
  ['consoleUpload', [`POST ${ORGANISATION}/playground/uploads`]],
  [
    'thumbnail',
    [`GET ${ORGANISATION}/jobs/:jobId/thumbnail`, `GET ${ORGANISATION}/jobs/:jobId/download`],
  ],
  ['page', [`GET ${ORGANISATION}/*`, 'GET /console/account/*']],
  [
    'change',
    [
      `POST ${ORGANISATION}/*`,
      'POST /console/account/*',
      'POST /console/mode',
      'POST /console/theme',
      'POST /console/onboarding/*',
    ],
  ],
  ['guest', ['GET /console/*', 'GET /sandbox/*']],
  ['guestForm', ['POST /console/*', 'POST /sandbox/*']],
]

const router = new TrieRouter<RouteBudget>()
for (const [budget, routes] of BUDGET_OF_ROUTES) {
  for (const route of routes) {
    const [method = '', pattern = ''] = route.split(' ')
    router.add(method, pattern, budget)
  }
}

/**
 * The budget of a request.
 * @param method HEAD has the budget of GET
 */
export function budgetOf(method: string, path: string): RouteBudget {
  const [matches] = router.match(method === 'HEAD' ? 'GET' : method, path)
  return matches[0]?.[0] ?? 'unknown'
}

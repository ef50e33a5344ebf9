// The routes of /v1 as the request log names them.

/** Method and pattern of each route. */
export const ROUTES = [
  'POST /v1/tryon',
  'GET /v1/jobs',
  'GET /v1/jobs/{jobId}',
  'DELETE /v1/jobs/{jobId}',
  'DELETE /v1/jobs/{jobId}/output',
  'POST /v1/uploads',
  'GET /v1/usage',
  'GET /v1/webhook-endpoints',
  'POST /v1/webhook-endpoints',
  'GET /v1/webhook-endpoints/{endpointId}',
  'PATCH /v1/webhook-endpoints/{endpointId}',
  'DELETE /v1/webhook-endpoints/{endpointId}',
  'POST /v1/webhook-endpoints/{endpointId}/rotate-secret',
  'POST /v1/webhook-endpoints/{endpointId}/test',
  'GET /v1/webhook-deliveries',
  'GET /v1/webhook-deliveries/{eventId}',
  'POST /v1/webhook-deliveries/{eventId}/resend',
  'GET /v1/workspaces',
  'GET /v1/account',
] as const

const PATTERNS = [...new Set(ROUTES.map((route) => route.slice(route.indexOf('/'))))].map(
  (pattern) => ({ pattern, path: new RegExp(`^${pattern.replace(/\{\w+\}/, '[^/]+')}$`) }),
)

/** The pattern of a path; empty for a path that no route has. Independent of the method. */
export const routeOf = (path: string): string =>
  PATTERNS.find((candidate) => candidate.path.test(path))?.pattern ?? ''

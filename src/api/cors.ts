// Cross-origin access to /v1 from browsers. Any origin is allowed: callers authenticate with an API key,
// and no cookie applies to /v1.
import type { MiddlewareHandler } from 'hono'

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, PATCH, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, Prefer',
  // One day. Browsers apply a lower limit of their own.
  'Access-Control-Max-Age': '86400',
}

const EXPOSED_HEADERS =
  'Idempotent-Replayed, Ignored-Fields, Link, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id'

/**
 * Responds to preflight requests, and lets scripts read the responses to cross-origin requests. Unlike
 * hono/cors, it leaves other OPTIONS requests to the 405, and requests without Origin as they are.
 */
export const cors: MiddlewareHandler = (c, next) => {
  // Other clients send no Origin. Setting a header takes time in every request.
  if (!c.req.header('Origin')) return next()
  if (c.req.method === 'OPTIONS' && c.req.header('Access-Control-Request-Method')) {
    return Promise.resolve(c.body(null, 204, PREFLIGHT_HEADERS))
  }
  c.header('Access-Control-Allow-Origin', '*')
  c.header('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  return next()
}

// Adds the requests of /v1 to the request log of the organisation that the API key names, and to the log
// line of the request what only the key says.
import type { MiddlewareHandler } from 'hono'
import { isTrustedKey } from '../http/auth-throttle.ts'
import { bearerToken } from '../http/bearer.ts'
import { codeOf, messageOf } from '../http/request-line.ts'
import { addLogFields } from '../platform/log.ts'
import { parseKey } from '../credits/api-key.ts'
import { collectRequest } from '../organisations/request-log/collect.ts'
import { routeOf } from '../organisations/request-log/logged-routes.ts'
import { loggedBody, loggedMessage } from '../organisations/request-log/redact-request.ts'
import type { ApiApp } from './api-context.ts'

/**
 * Logs each request once its response is ready, without I/O. Requests without a well-formed key are not
 * in the request log: they name no organisation.
 */
export const logRequest: MiddlewareHandler<ApiApp> = async (c, next) => {
  const startedAt = Date.now()
  await next()
  const { method, path } = c.req
  const { status } = c.res
  const route = routeOf(path)
  const code = codeOf(c.error, status)
  const jobId = c.get('jobId') ?? /^\/v1\/jobs\/(job_[0-9a-z]{26})(\/|$)/.exec(path)?.[1] ?? null
  const caller = c.get('caller') ?? parseKey(bearerToken(c.req.header('Authorization')) ?? '')
  addLogFields({ route, code, jobId: jobId ?? undefined })
  if (!caller) return
  const { organisationId, mode, keyHash } = caller
  addLogFields({ organisationId, mode })
  const submission: unknown = c.get('submission')
  collectRequest(
    c,
    { organisationId, isTrusted: isTrustedKey(keyHash) },
    {
      at: startedAt,
      mode,
      keyHash,
      method,
      route,
      status,
      code,
      ms: Date.now() - startedAt,
      requestId: c.get('requestId'),
      jobId,
      message: code && loggedMessage(messageOf(c.error, code)),
      body: code && submission !== undefined ? loggedBody(submission) : null,
    },
  )
}

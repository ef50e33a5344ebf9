// Adds the requests of /v1 to the request log of the organisation that the API key names.
import type { MiddlewareHandler } from 'hono'
import { AppError } from '../domain/errors.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { isTrustedKey } from '../http/auth-throttle.ts'
import { bearerToken } from '../http/bearer.ts'
import { parseKey } from '../organisation/api-key.ts'
import { collectRequest } from '../request-log/collect.ts'
import { routeOf } from '../request-log/routes.ts'
import type { ApiApp } from './context.ts'

/**
 * Logs each request once its response is ready, without I/O. Requests without a well-formed key are not
 * logged: they name no organisation.
 */
export const logRequest: MiddlewareHandler<ApiApp> = async (c, next) => {
  const startedAt = Date.now()
  await next()
  const { method, path } = c.req
  const caller = c.get('caller') ?? parseKey(bearerToken(c.req.header('Authorization')) ?? '')
  if (!caller) return
  const { organisationId, mode, keyHash } = caller
  const jobWrite = c.get('jobWrite')
  collectRequest(
    c,
    { organisationId, isTrusted: isTrustedKey(keyHash) },
    {
      at: startedAt,
      mode,
      keyHash,
      method,
      route: routeOf(path),
      status: c.res.status,
      code: errorCodeOf(c.error, c.res.status),
      ms: Date.now() - startedAt,
      requestId: c.get('requestId'),
      jobId: c.get('jobId') ?? /^\/v1\/jobs\/(job_[0-9a-z]{26})(\/|$)/.exec(path)?.[1] ?? null,
    },
    jobWrite && { kind: jobWrite, bookmark: c.get('bookmark') ?? null },
  )
}

function errorCodeOf(error: Error | undefined, status: number): ErrorCode | null {
  if (error) return error instanceof AppError ? error.code : 'internal_error'
  // These responses have no error: no route has thrown it.
  if (status === 404) return 'not_found'
  return status === 405 ? 'method_not_allowed' : null
}

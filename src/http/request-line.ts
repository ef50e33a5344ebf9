// The log line and the metric of each request: `request`, written once, when its response is ready.
import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'
import { AppError, type ErrorCode } from '../domain/errors.ts'
import { addLogFields, log, logFields, withLogFields } from '../platform/log.ts'
import { record } from '../platform/metrics.ts'
import type { App } from './request-context.ts'

/**
 * Handles a request with its id in every log line, then writes its own line. The code that handles the
 * request adds what it knows with `addLogFields`: organisationId, keyId, mode, jobId, route and code.
 */
export const withRequestLine = (c: Context<App>, handle: () => Promise<unknown>): Promise<void> =>
  withLogFields({ requestId: c.get('requestId') }, async () => {
    const startedAt = Date.now()
    await handle()
    writeLine(c, Date.now() - startedAt)
  })

function writeLine(c: Context<App>, ms: number): void {
  const { method, path } = c.req
  const { status } = c.res
  const known = logFields()
  const { route = routePattern(c), code = codeOf(c.error, status) } = known
  const { organisationId = idIn(path, 'org'), jobId = idIn(path, 'job') } = known
  log.info('request', { method, route, status, code, ms, organisationId, jobId })
  // Until its key is checked, a request of /v1 only claims its organisation.
  const isChecked = !path.startsWith('/v1/') || known['keyId']
  record(
    c.env,
    'request',
    {
      route: route ? `${method} ${route}` : 'none',
      statusClass: `${Math.floor(status / 100)}xx`,
      mode: textOf(known['mode']),
    },
    ms,
    isChecked ? textOf(known['organisationId']) : undefined,
  )
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

const IDS = { org: /\/(org_[0-9a-z]{26})(?=\/|$)/, job: /\/(job_[0-9a-z]{26})(?=\/|$)/ }
const idIn = (path: string, prefix: keyof typeof IDS) => IDS[prefix].exec(path)?.[1]

/**
 * The pattern of the route that handled the request, such as `/console/{organisationId}/jobs/{jobId}`;
 * empty if there is none. The path itself can contain a secret.
 */
export function routePattern(c: Context): string {
  const { routeIndex } = c.req
  // Middleware, which can respond itself, has a second parameter.
  const handled = matchedRoutes(c).find((one, at) => at >= routeIndex && one.handler.length < 2)
  // `:name` and `:name{expression}` become `{name}`.
  return handled?.path.replace(/:(\w+)(\{(?:[^{}]|\{[^{}]*\})*\})?/g, '{$1}') ?? ''
}

const CODES: Partial<Record<number, ErrorCode>> = {
  400: 'validation_error',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  422: 'validation_error',
  429: 'rate_limit_exceeded',
}

/** The error code of a response: that of the error, or one for its status; null for a success. */
export function codeOf(error: Error | undefined, status: number): ErrorCode | null {
  if (error instanceof AppError) return error.code
  return status >= 500 ? 'internal_error' : (CODES[status] ?? null)
}

/** The message of a response with this code. */
export const messageOf = (error: Error | undefined, code: ErrorCode): string =>
  error instanceof AppError ? error.message : new AppError(code).message

/** Adds the route and the code of an app that is not mounted, but called by a handler of another. */
export const addResponseFields = (c: Context): void =>
  addLogFields({ route: routePattern(c), code: codeOf(c.error, c.res.status) })

// Describes routes for the OpenAPI document. `describeRoute` is passed to a route before its handler;
// `describedPaths` collects the operations of an app. The other functions build responses.
import type { Hono, MiddlewareHandler } from 'hono'
import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import type { ErrorCode } from '../domain/errors.ts'
import { statusOf } from './errors.ts'

const operations = new WeakMap<object, ZodOpenApiOperationObject>()

/**
 * Attaches an operation to a route. It is a no-op middleware instead of a wrapper of the handler, since
 * Hono infers the types of a handler only from the arguments of `get`, `post`, ….
 */
export function describeRoute(operation: ZodOpenApiOperationObject): MiddlewareHandler {
  const middleware: MiddlewareHandler = (_, next) => next()
  operations.set(middleware, operation)
  return middleware
}

/** The operations of an app that is mounted at `basePath`, by path and method. */
export function describedPaths(app: Pick<Hono, 'routes'>, basePath: string) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const { path, method, handler } of app.routes) {
    const operation = operations.get(handler)
    if (!operation) continue
    const template = `${basePath}${path}`.replace(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation }
  }
  return paths
}

const RequestIdHeader = z
  .string()
  .meta({ description: 'The id of this request. Include it when you contact support.' })

const RateLimitPolicy = z.string().meta({
  description: 'The rate limit: q requests in any w seconds.',
  example: '"default";q=60;w=60',
})

const RateLimit = z.string().meta({
  description: 'r requests remain; the next one is available in t seconds (0 while r is above 0).',
  example: '"default";r=59;t=0',
})

const RetryAfter = z.int().min(1).meta({ description: 'Seconds to wait.' })

const headersOfSuccess = {
  'X-Request-Id': RequestIdHeader,
  'RateLimit-Policy': RateLimitPolicy,
  RateLimit,
}

/** A successful response with a JSON body. */
export const ok = (
  description: string,
  schema: z.ZodType,
  headers: Record<string, z.ZodType> = {},
) => ({
  description,
  headers: z.object({ ...headersOfSuccess, ...headers }),
  content: { 'application/json': { schema } },
})

/** A successful response without a body. */
export const noContent = (description: string) => ({
  description,
  headers: z.object(headersOfSuccess),
})

/** Errors that every operation can return. */
const COMMON: ErrorCode[] = [
  'invalid_api_key',
  'api_key_revoked',
  'rate_limit_exceeded',
  'internal_error',
]

/** The error responses of an operation, by status, in addition to the common ones. */
export function errors(...codes: ErrorCode[]): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy([...COMMON, ...codes], statusOf)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.join(', '),
        headers: z.object({
          'X-Request-Id': RequestIdHeader,
          // Absent if the key is unknown, or if the error occurs before the key is checked.
          ...(status !== 401 && {
            'RateLimit-Policy': RateLimitPolicy.optional(),
            RateLimit: RateLimit.optional(),
          }),
          ...(status === 429 && { 'Retry-After': RetryAfter }),
        }),
        content: {
          'application/json': {
            schema: z.object({
              error: z.object({ code: z.enum(group), message: z.string() }),
            }),
          },
        },
      },
    ]),
  )
}

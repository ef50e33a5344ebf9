// Describes routes for the OpenAPI document. `describeRoute` is passed to a route before its handler;
// `describedPaths` collects the operations of an app. The other functions build responses.
import type { Hono, MiddlewareHandler } from 'hono'
import type { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi'

const operations = new WeakMap<object, ZodOpenApiOperationObject>()

/** The groups of operations, which the document describes. */
export type Tag = 'Jobs' | 'Uploads' | 'Account' | 'Webhooks'

/**
 * Attaches an operation to a route. It is a no-op middleware instead of a wrapper of the handler, since
 * Hono infers the types of a handler only from the arguments of `get`, `post`, ….
 */
export function describeRoute(tag: Tag, operation: ZodOpenApiOperationObject): MiddlewareHandler {
  const middleware: MiddlewareHandler = (_, next) => next()
  operations.set(middleware, { ...operation, tags: [tag] })
  return middleware
}

/** The operations of an app that is mounted at `basePath`, by path and method. */
export function describedPaths(app: Pick<Hono, 'routes'>, basePath: string) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const { path, method, handler } of app.routes) {
    const operation = operations.get(handler)
    if (!operation) continue
    const template = `${basePath}${path}`.replace(/\/$/, '').replace(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation }
  }
  return paths
}

/** The headers of responses. Responses refer to them by name. */
export const responseHeaders = {
  'X-Request-Id': {
    description: 'The id of this request. Include it when you contact support.',
    required: true,
    schema: { type: 'string' },
    example: '62dd1b5e-fbf4-4d1c-9f51-5fcebd696dfd',
  },
  'RateLimit-Policy': {
    description:
      'The rate limit: `q` requests in any `w` seconds. Present whenever the API key was checked.',
    schema: { type: 'string' },
    example: '"default";q=60;w=60',
  },
  RateLimit: {
    description:
      'The state of the rate limit: `r` requests remain, and the next one is available in `t` seconds (0 while `r` is above 0). Present whenever the API key was checked.',
    schema: { type: 'string' },
    example: '"default";r=59;t=0',
  },
  'Retry-After': {
    description: 'The number of seconds to wait before the next request.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  'WWW-Authenticate': {
    description: 'The authentication scheme (RFC 6750).',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer realm="try-on"',
  },
  Link: {
    description: 'The description of the error, with `rel="help"` (RFC 8288).',
    required: true,
    schema: { type: 'string' },
    example: '</docs/errors#job_not_found>; rel="help"',
  },
  'Idempotent-Replayed': {
    description:
      'Present when an earlier request with this Idempotency-Key was accepted. The response describes the job of that request.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'Preference-Applied': {
    description: 'Present when the request had `Prefer: wait`. The wait that was applied.',
    schema: { type: 'string' },
    example: 'wait=10',
  },
  'Ignored-Fields': {
    description:
      'The names in the request that the service does not know and has ignored, separated by commas, at most 10. Check their spelling.',
    schema: { type: 'string' },
    example: 'webook_url',
  },
} as const

export type ResponseHeader = keyof typeof responseHeaders

const HEADERS_OF_SUCCESS = ['X-Request-Id', 'RateLimit-Policy', 'RateLimit'] as const

/** References to headers, for the `headers` of a response. */
export const headerRefs = (names: readonly ResponseHeader[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** A follow-up request that a response allows: OpenAPI's Link Object. */
interface Link {
  operationId: string
  parameters: Record<string, string>
  description: string
}

type Examples = Record<string, { summary: string; value: unknown }>

/** The JSON body of a request. */
export const jsonBody = (description: string, schema: z.ZodType, examples: Examples) => ({
  description,
  required: true,
  content: { 'application/json': { schema, examples } },
})

/** A successful response with a JSON body. */
export const ok = (
  description: string,
  schema: z.ZodType,
  {
    examples,
    headers = [],
    links,
  }: {
    examples: Examples
    /** The headers in addition to those of every success. */
    headers?: ResponseHeader[]
    links?: Record<string, Link>
  },
): ZodOpenApiResponseObject => ({
  description,
  headers: headerRefs([...HEADERS_OF_SUCCESS, ...headers]),
  content: { 'application/json': { schema, examples } },
  ...(links && { links }),
})

/** A successful response without a body. */
export const noContent = (description: string): ZodOpenApiResponseObject => ({
  description,
  headers: headerRefs(HEADERS_OF_SUCCESS),
})

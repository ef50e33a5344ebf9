// Validation of requests with zod: bodies, query strings and headers.
import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { AppError, invalid } from '../domain/errors.ts'
import { MAX_BODY_BYTES } from '../domain/limits.ts'
import { readRequestBody } from '../platform/net/read-limited.ts'
import type { App, RequestContext } from './request-context.ts'

/** One of these texts. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`)

/** A text of 1 to `max` characters, without the spaces around it. @param expected its type, for the message */
export const shortText = (max: number, expected = 'a string') =>
  z
    .string(`must be ${expected}`)
    .trim()
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`)

/** Parses a value. @throws AppError that names each wrong field and the value that it expects */
export function parse<T>(schema: z.ZodType<T>, value: unknown, field?: string): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw validationError(result.error.issues, field)
}

/** Validates the query string. A repeated parameter is parsed as an array, which no schema accepts. */
export const validQuery = <Schema extends z.ZodObject>(schema: Schema) =>
  zValidator('query', schema, (result) => {
    if (!result.success) throw validationError(result.error.issues)
  })

/** Removes the undefined fields of a change: those that the request does not contain. */
export const definedOnly = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

type JsonInput<T> = { in: { json: T }; out: { json: T } }

/**
 * Validates the JSON body. zod-validator is not used here: it skips a body whose Content-Type is not
 * JSON, and has neither the size limit nor strict UTF-8.
 * @param schema or a function that selects it for the request
 */
export const validBody =
  <T>(
    schema: z.ZodType<T> | ((c: RequestContext) => z.ZodType<T>),
  ): MiddlewareHandler<App, string, JsonInput<T>> =>
  async (c, next) => {
    const selected = typeof schema === 'function' ? schema(c) : schema
    // The types of Hono allow objects only.
    c.req.addValidatedData('json', parse(selected, await readJson(c.req.raw)) as object)
    await next()
  }

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/**
 * Reads a JSON body of at most 64 KiB, of any Content-Type, for `parse`.
 * @throws AppError payload_too_large or validation_error
 */
export async function readJson(request: Request): Promise<unknown> {
  const bytes = await readRequestBody(request, MAX_BODY_BYTES)
  if (!bytes) throw new AppError('payload_too_large')
  try {
    return JSON.parse(strictUtf8.decode(bytes))
  } catch {
    throw invalid('The body is not valid JSON in UTF-8.')
  }
}

function validationError(
  issues: readonly { path: readonly PropertyKey[]; message: string }[],
  field?: string,
): AppError {
  const problems = issues.map(({ path, message }) => {
    const name = [...(field ? [field] : []), ...path].join('.')
    return name ? `${name} ${message}` : message
  })
  return invalid(`${problems.join('; ')}.`)
}

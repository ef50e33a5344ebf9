// What the routes of webhooks share: their budget and their bodies.
import type { z } from 'zod'
import { limitRoute } from '../http/take-budget.ts'
import { parse, readJson } from '../http/validation.ts'
import type { Admitted } from './authenticate-key.ts'
import type { ApiApp, ApiContext } from './api-context.ts'
import { ignoredFields } from './ignored-fields.ts'

/** Limits the changes of the organisation. Follows `admitted`. */
export const limitChanges = limitRoute<ApiApp & Admitted>(
  (c) => ({ organisation: c.get('scope').organisationId }),
  () =>
    'Too many changes of webhooks in this hour. Wait for the number of seconds in the Retry-After header.',
)

/**
 * Parses the JSON body, and names unknown fields in the Ignored-Fields header.
 * @throws AppError payload_too_large or validation_error
 */
export async function readFields<T>(c: ApiContext, schema: z.ZodType<T> & { shape: object }) {
  const value = await readJson(c.req.raw)
  const body = parse(schema, value)
  c.header('Ignored-Fields', ignoredFields(Object(value), schema.shape))
  return body
}

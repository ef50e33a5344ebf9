// The error responses of /v1 in the OpenAPI document: the schema, and one component per set of codes.
import { z } from 'zod'
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { BILLING_PATH } from '../domain/billing.ts'
import { errorDocsPath, EXAMPLE_ORIGIN } from '../domain/docs.ts'
import { AppError, type ErrorCode as AnyErrorCode } from '../domain/errors.ts'
import { statusOf } from '../http/on-error.ts'
import { headerRefs, type ResponseHeader } from '../http/describe-route.ts'

/** Every code of /v1 and when it is returned. */
const WHEN = {
  invalid_api_key: 'The API key is missing, malformed or unknown.',
  api_key_revoked: 'The API key has been revoked.',
  insufficient_credits:
    'The organisation has no credits left, or the API key or the workspace has reached its monthly limit. Live mode only.',
  account_suspended: 'The organisation is suspended or scheduled for deletion.',
  forbidden: 'The job belongs to a different organisation, or the API key is too limited.',
  not_found: 'There is no such path, webhook endpoint or delivery.',
  workspace_not_found: 'The organisation has no active workspace with this `workspace_id`.',
  job_not_found: 'There is no job with this id.',
  method_not_allowed:
    'The path does not support this method. The `Allow` header lists those it does.',
  job_not_cancellable: 'The job is no longer pending.',
  job_not_finished: 'The job is still pending or processing.',
  delivery_in_progress: 'An attempt at the delivery is in progress or about to start.',
  payload_too_large: 'The request body is too large.',
  validation_error:
    'The request is not valid. The message names each wrong field and what it expects.',
  idempotency_key_reused: 'The Idempotency-Key was used with a different request body.',
  rate_limit_exceeded:
    'Too many requests, or the daily storage allowance is used up. The `Retry-After` header says how long to wait.',
  internal_error: 'Something went wrong on our side. The request can be repeated.',
} as const satisfies Partial<Record<AnyErrorCode, string>>

type Code = keyof typeof WHEN
const CODES = Object.keys(WHEN) as [Code, ...Code[]]

const ErrorCode = z.enum(CODES).meta({
  id: 'ErrorCode',
  description: `The reason of an error, stable and meant for programs. New codes may be added: handle an unknown code by the HTTP status. See [Errors](${EXAMPLE_ORIGIN}/docs/errors).`,
})

const ErrorSchema = z
  .object({
    error: z
      .object({
        code: ErrorCode,
        message: z.string().meta({
          description: 'The reason in English, for developers. The text may change.',
          examples: ['There is no job with this id.'],
        }),
      })
      .meta({ id: 'ErrorDetails', description: 'What went wrong.' }),
  })
  .meta({ id: 'Error', description: 'The body of every response with an error status.' })

/** The messages that the service composes. Every other code has one fixed message. */
const COMPOSED: Partial<Record<Code, string>> = {
  insufficient_credits: `There are no credits left. Buy credits at ${EXAMPLE_ORIGIN}${BILLING_PATH} and submit the job again.`,
  job_not_cancellable: 'This job is completed; only a pending job can be cancelled.',
  validation_error: 'model_image_url is required: a string, the URL of an image.',
}

/** Errors that every operation can return. */
const COMMON = [
  'invalid_api_key',
  'api_key_revoked',
  'rate_limit_exceeded',
  'internal_error',
] as const satisfies Code[]

const shared = new Map<string, ZodOpenApiResponseObject>()

/**
 * The error responses of an operation, by status, in addition to the common ones.
 * @param errors codes, or a code with the message that this operation returns
 */
export function errors(...errors: (Code | { code: Code; message: string })[]) {
  const listed = [...COMMON, ...errors].map((error) =>
    typeof error === 'string' ? { code: error } : error,
  )
  const byStatus = Map.groupBy(listed, ({ code }) => statusOf(code))
  const responses: ZodOpenApiResponsesObject = {}
  for (const [status, group] of byStatus) {
    responses[`${status}`] = group.some((error) => 'message' in error)
      ? responseOf(group)
      : sharedResponse(group.map(({ code }) => code))
  }
  return responses
}

/** The component for a set of codes, such as `JobNotFound`. */
function sharedResponse(codes: Code[]): ZodOpenApiResponseObject {
  const id = codes.map(pascalCase).join('Or')
  let response = shared.get(id)
  if (!response) shared.set(id, (response = { id, ...responseOf(codes.map((code) => ({ code }))) }))
  return response
}

function responseOf(group: { code: Code; message?: string }[]): ZodOpenApiResponseObject {
  const codes = group.map(({ code }) => code)
  const status = statusOf(codes[0] ?? 'internal_error')
  const headers: ResponseHeader[] =
    status === 401 ? ['WWW-Authenticate'] : ['RateLimit-Policy', 'RateLimit']
  if (status === 429) headers.push('Retry-After')
  return {
    description: codes.map(describe).join('\n\n'),
    headers: headerRefs(['X-Request-Id', 'Link', ...headers]),
    content: {
      'application/json': {
        schema: ErrorSchema,
        examples: Object.fromEntries(
          group.map(({ code, message = COMPOSED[code] ?? new AppError(code).message }) => [
            code,
            { summary: WHEN[code], value: { error: { code, message } } },
          ]),
        ),
      },
    },
  }
}

const describe = (code: Code) =>
  `[\`${code}\`](${EXAMPLE_ORIGIN}${errorDocsPath(code)}): ${WHEN[code]}`

const pascalCase = (code: Code) =>
  code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

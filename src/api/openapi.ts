// The OpenAPI 3.1 document, made from the schemas that check requests and shape answers. What is
// written by hand here is prose and which error goes with which route; test/api/openapi.test.ts
// holds real answers against it.
import { z } from 'zod'
import { createDocument } from 'zod-openapi'
import type { ZodOpenApiOperationObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { statusOf } from '../http/errors.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { Job } from '../jobs/present.ts'
import { MAX_WAIT_SECONDS } from '../domain/limits.ts'
import { WebhookBody } from '../webhooks/event.ts'
import { Account, Cancelled, JobList, Submitted, WorkspaceList } from './responses.ts'
import { IdempotencyKey, JobsQuery, tryOnBody } from './requests.ts'

const RequestIdHeader = z
  .string()
  .meta({ description: 'Names this request in our logs; quote it when asking for help.' })

const RateLimitHeaders = {
  'RateLimit-Policy': z.string().meta({
    description: 'The limit: q requests in any w seconds.',
    example: '"default";q=60;w=60',
  }),
  RateLimit: z.string().meta({
    description: 'r requests are left; one more is free in t seconds (0 while some are left).',
    example: '"default";r=59;t=0',
  }),
}

/** Not given where no key was recognised, or before one was looked at. */
const RATE_LIMIT_IF_KNOWN = {
  'RateLimit-Policy': RateLimitHeaders['RateLimit-Policy'].optional(),
  RateLimit: RateLimitHeaders.RateLimit.optional(),
}

const RetryAfterHeader = z.int().min(1).meta({ description: 'Seconds to wait.' })

const PreferHeader = z
  .string()
  .optional()
  .meta({
    description: `\`wait=N\` holds the answer until the job is over, at most N (up to ${MAX_WAIT_SECONDS}) seconds.`,
    example: 'wait=10',
  })

const PreferenceApplied = z
  .string()
  .optional()
  .meta({ description: 'Given when a wait was asked for.' })

const JobIdPath = z.object({ jobId: z.string().meta({ description: 'The job’s id.' }) })

/** Errors that any endpoint can answer with. */
const COMMON: ErrorCode[] = [
  'invalid_api_key',
  'api_key_revoked',
  'rate_limit_exceeded',
  'internal_error',
]

function errors(...codes: ErrorCode[]): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy([...COMMON, ...codes], statusOf)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.join(', '),
        headers: z.object({
          'X-Request-Id': RequestIdHeader,
          ...(status !== 401 && RATE_LIMIT_IF_KNOWN),
          ...(status === 429 && { 'Retry-After': RetryAfterHeader }),
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

const noContent = (description: string) => ({
  description,
  headers: z.object({ 'X-Request-Id': RequestIdHeader, ...RateLimitHeaders }),
})

const ok = (description: string, schema: z.ZodType, headers: Record<string, z.ZodType> = {}) => ({
  description,
  headers: z.object({ 'X-Request-Id': RequestIdHeader, ...RateLimitHeaders, ...headers }),
  content: { 'application/json': { schema } },
})

const submit: ZodOpenApiOperationObject = {
  operationId: 'submitTryOn',
  summary: 'Submit a try-on job',
  description:
    'Accepts the job and returns at once. In live mode one credit is reserved; it is consumed when the job completes and given back when it does not.\n\n' +
    'In test mode nothing is fetched or generated, and an image URL on the host `test.invalid` steers the job: `https://test.invalid/fail/{error_code}` fails it, `https://test.invalid/delay/{seconds}` (0 to 60) holds it in processing.',
  tags: ['Jobs'],
  requestParams: {
    header: z.object({
      'Idempotency-Key': IdempotencyKey.optional().meta({
        description:
          'Makes a repeated submission safe for 24 hours: the same key and body give the same job and cost nothing. 1 to 255 visible ASCII characters.',
      }),
      Prefer: PreferHeader,
    }),
  },
  requestBody: {
    required: true,
    content: {
      'application/json': { schema: tryOnBody({ allowPrivate: false, ownHosts: [] }, 'test') },
    },
  },
  responses: {
    '200': ok('The job is over within the time that `Prefer: wait` gave', Job, {
      'Idempotent-Replayed': z.string().optional(),
      'Preference-Applied': PreferenceApplied,
    }),
    '202': ok('The job was accepted', Submitted, {
      'Idempotent-Replayed': z
        .string()
        .optional()
        .meta({ description: '`true` when this Idempotency-Key had been accepted before.' }),
      'Preference-Applied': PreferenceApplied,
    }),
    ...errors(
      'insufficient_credits',
      'account_suspended',
      'workspace_not_found',
      'payload_too_large',
      'validation_error',
      'idempotency_key_reused',
    ),
  },
}

const document = createDocument({
  openapi: '3.1.1',
  info: {
    title: 'Virtual Try-On API',
    version: '1.0.0',
    description:
      'Shows a shopper in a garment: two image URLs in, one picture out, one credit per success. Jobs run asynchronously; poll them, wait with `Prefer: wait=N`, or receive a webhook.',
  },
  security: [{ apiKey: [] }],
  tags: [{ name: 'Jobs' }, { name: 'Account' }],
  paths: {
    '/v1/tryon': { post: submit },
    '/v1/jobs': {
      get: {
        operationId: 'listJobs',
        summary: 'List jobs, newest first',
        tags: ['Jobs'],
        requestParams: { query: JobsQuery },
        responses: { '200': ok('A page of jobs', JobList), ...errors('validation_error') },
      },
    },
    '/v1/jobs/{jobId}': {
      get: {
        operationId: 'getJob',
        summary: 'Get a job',
        tags: ['Jobs'],
        requestParams: { path: JobIdPath, header: z.object({ Prefer: PreferHeader }) },
        responses: {
          '200': ok('The job', Job, { 'Preference-Applied': PreferenceApplied }),
          ...errors('account_suspended', 'forbidden', 'job_not_found'),
        },
      },
      delete: {
        operationId: 'cancelJob',
        summary: 'Cancel a pending job and refund its credit',
        tags: ['Jobs'],
        requestParams: { path: JobIdPath },
        responses: {
          '200': ok('The job was cancelled', Cancelled),
          ...errors('forbidden', 'job_not_found', 'job_not_cancellable'),
        },
      },
    },
    '/v1/jobs/{jobId}/output': {
      delete: {
        operationId: 'deleteJobOutput',
        summary: 'Delete the pictures of a finished job',
        description:
          'Deletes the result and every stored copy of the inputs, and clears the job’s image and webhook URLs. The job itself stays, with `output_url` null. Deleting twice succeeds.',
        tags: ['Jobs'],
        requestParams: { path: JobIdPath },
        responses: {
          '204': noContent('The pictures are deleted'),
          ...errors('forbidden', 'job_not_found', 'job_not_finished'),
        },
      },
    },
    '/v1/workspaces': {
      get: {
        operationId: 'listWorkspaces',
        summary: 'List active workspaces',
        tags: ['Account'],
        responses: { '200': ok('The active workspaces', WorkspaceList), ...errors() },
      },
    },
    '/v1/account': {
      get: {
        operationId: 'getAccount',
        summary: 'Get the account',
        tags: ['Account'],
        responses: { '200': ok('The account', Account), ...errors() },
      },
    },
  },
  webhooks: {
    jobEnded: {
      post: {
        operationId: 'jobEnded',
        summary: 'A job is over',
        description:
          'Sent to the job’s webhook URL, signed after Standard Webhooks 1.0 (https://www.standardwebhooks.com). Delivered at least once: tell repeats by `webhook-id`. Answer with 2xx within 15 seconds; 410 stops further attempts.',
        tags: ['Jobs'],
        security: [],
        requestParams: {
          header: z.object({
            'webhook-id': z
              .string()
              .meta({ description: 'The event’s id, the same at every attempt.' }),
            'webhook-timestamp': z
              .string()
              .meta({ description: 'When this attempt was made, seconds since 1970.' }),
            'webhook-signature': z.string().meta({
              description:
                '`v1,` and the signature; several, separated by spaces, during a rotation.',
            }),
          }),
        },
        requestBody: {
          required: true,
          content: { 'application/json': { schema: WebhookBody } },
        },
        responses: { '2XX': { description: 'Received' } },
      },
    },
  },
  components: {
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'svc_live_sk_… or svc_test_sk_…',
        description: 'An API key; its kind selects live or test mode.',
      },
    },
  },
})

/** The document for a service that is reached at `baseUrl`. */
export const openApiDocument = (baseUrl: string) => ({ ...document, servers: [{ url: baseUrl }] })

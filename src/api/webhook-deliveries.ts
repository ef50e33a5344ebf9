// /v1/webhook-deliveries: lists, reads and resends deliveries. A delivery is an event for one receiver.
import { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import { MAX_PAGE_SIZE } from '../domain/limits.ts'
import { DEFAULT_ENDPOINT, EVENT_STATUSES, isDeliveryFinal } from '../domain/webhook.ts'
import { describeRoute, ok } from '../http/describe-route.ts'
import { oneOf, validQuery } from '../http/validation.ts'
import { JobId, WebhookStatus } from '../jobs/present-job.ts'
import type { WebhookAttemptRow } from '../platform/db/webhook-schema.ts'
import { isEventId, isId } from '../platform/ids.ts'
import {
  type Delivery as DeliveryRow,
  listDeliveries,
} from '../webhooks/delivery/read-deliveries.ts'
import { listAttempts, readEvent } from '../webhooks/event-reads.ts'
import { resendEvent } from '../webhooks/delivery/resend.ts'
import { WebhookEventType } from '../webhooks/event.ts'
import {
  admittedToChange,
  admittedToRead,
  scopeOf,
  type AdmittedContext,
} from './authenticate-key.ts'
import type { ApiApp } from './api-context.ts'
import { createCursor, nextPageFields, pageParameters, startOf } from './cursor.ts'
import { errors } from './error-responses.ts'
import { deliveries as examples, WEBHOOK_ID } from './examples.ts'
import { ignoredFields } from './ignored-fields.ts'
import { limitChanges } from './webhook-request.ts'

const DeliveriesQuery = z.object({
  job_id: z
    .string('must not be repeated')
    .refine((text) => isId('job', text), 'must be the id of a job')
    .optional()
    .meta({ description: 'Only deliveries of the events of this job.' }),
  endpoint_id: z
    .string('must not be repeated')
    .refine(
      (text) => text === DEFAULT_ENDPOINT || isId('we', text),
      'must be the id of a webhook endpoint, or default',
    )
    .optional()
    .meta({
      description:
        'Only deliveries to this webhook endpoint. `default`: to the default URL and the URLs of jobs.',
    }),
  status: oneOf(EVENT_STATUSES)
    .optional()
    .meta({ description: 'Only deliveries with this status.' }),
  ...pageParameters,
})

const responseStatus = z.int().nullable().meta({
  description: 'The HTTP status of the response. Null if there was none.',
})
const error = z
  .string()
  .nullable()
  .meta({ description: 'Why there was no response. Null if there was one.' })

const WebhookDelivery = z
  .object({
    event_id: z.string().meta({
      description: 'The id of the event, which each attempt sends as `webhook-id`.',
      examples: [WEBHOOK_ID],
    }),
    type: WebhookEventType,
    status: WebhookStatus,
    job_id: JobId,
    endpoint_id: z.string().nullable().meta({
      description:
        'The webhook endpoint that receives it. Null for the default URL and the URL of a job.',
    }),
    url: z.string().meta({ description: 'The URL that receives it.' }),
    attempt_count: z.int().min(0).meta({ description: 'The number of attempts so far.' }),
    response_status: responseStatus.meta({
      description: 'The HTTP status of the latest attempt. Null if there was no response.',
    }),
    error: error.meta({
      description: 'Why the latest attempt had no response. Null if it had one.',
    }),
    next_attempt_at: z.iso.datetime().nullable().meta({
      description:
        'When the next attempt is due (ISO 8601, UTC). Null once it is delivered or has failed.',
    }),
    created_at: z.iso.datetime().meta({ description: 'When the job ended (ISO 8601, UTC).' }),
  })
  .meta({ id: 'WebhookDelivery', description: 'The delivery of an event to one receiver.' })

const WebhookAttempt = z
  .object({
    number: z.int().min(1).meta({ description: 'The number of the attempt, from 1.' }),
    attempted_at: z.iso.datetime().meta({ description: 'When it started (ISO 8601, UTC).' }),
    duration_ms: z.int().min(0).meta({ description: 'How long it took, in milliseconds.' }),
    response_status: responseStatus,
    response_body: z.string().nullable().meta({
      description:
        'The first 1,024 bytes of the response, of earlier attempts the first 128. Null if there was none.',
    }),
    error,
  })
  .meta({ id: 'WebhookAttempt', description: 'An attempt at a delivery.' })

const DeliveryWithAttempts = WebhookDelivery.extend({
  attempts: z
    .array(WebhookAttempt)
    .meta({ description: 'The latest attempts, at most 10, the latest first.' }),
}).meta({ id: 'WebhookDeliveryWithAttempts', description: 'A delivery with its attempts.' })

const DeliveryList = z
  .object({
    webhook_deliveries: z
      .array(WebhookDelivery)
      .max(MAX_PAGE_SIZE)
      .meta({ description: 'The deliveries, newest first.' }),
    ...nextPageFields,
  })
  .meta({ id: 'WebhookDeliveryList', description: 'A page of deliveries.' })

const DeliveryPath = z.object({
  eventId: z.string().meta({
    description: 'The `event_id` of the delivery.',
    examples: [WEBHOOK_ID],
  }),
})

/** @throws AppError not_found for a malformed id, without a lookup */
function requestOf(c: AdmittedContext & { req: { param(name: string): string | undefined } }) {
  const eventId = c.req.param('eventId') ?? ''
  if (!isEventId(eventId)) throw new AppError('not_found')
  return { ...scopeOf(c), eventId }
}

/** @throws AppError not_found */
async function readDelivery(request: ReturnType<typeof requestOf>) {
  const [event, attempts] = await Promise.all([readEvent(request), listAttempts(request)])
  const latest = attempts.at(-1)
  return {
    ...presentDelivery({
      ...event,
      responseStatus: latest?.responseStatus ?? null,
      error: latest?.error ?? null,
    }),
    attempts: attempts.toReversed().map(presentAttempt),
  }
}

export const webhookDeliveries = new Hono<ApiApp>()
  .get(
    '/',
    describeRoute('Webhooks', {
      operationId: 'listWebhookDeliveries',
      summary: 'List webhook deliveries',
      description:
        'Returns the deliveries of the last 30 days, newest first. With a test key, only those of test jobs. A page searches at most 5,000 events, so with filters it can have fewer items than `limit`, or none, although `has_more` is true.',
      requestParams: { query: DeliveriesQuery },
      responses: {
        '200': ok('A page of deliveries.', DeliveryList, {
          examples: examples.lists,
          headers: ['Ignored-Fields'],
        }),
        ...errors({
          code: 'validation_error',
          message: 'status must be one of pending, retrying, delivered, failed.',
        }),
      },
    }),
    admittedToRead,
    validQuery(DeliveriesQuery),
    async (c) => {
      const query = c.req.valid('query')
      c.header('Ignored-Fields', ignoredFields(c.req.query(), DeliveriesQuery.shape))
      const { job_id: jobId, endpoint_id: endpoint, status, limit, cursor } = query
      const scope = scopeOf(c)
      const filters = [c.get('caller').mode, jobId ?? null, endpoint ?? null, status ?? null]
      const list = ['deliveries', scope.organisationId, ...filters]
      const page = await listDeliveries({
        ...scope,
        filter: { jobId, endpoint, status },
        start: { before: startOf(c.env, list, cursor) },
        limit,
      })
      return c.json({
        webhook_deliveries: page.deliveries.map(presentDelivery),
        next_cursor: page.older && createCursor(c.env, list, page.older),
        has_more: page.older !== null,
      })
    },
  )
  .get(
    '/:eventId',
    describeRoute('Webhooks', {
      operationId: 'getWebhookDelivery',
      summary: 'Get a webhook delivery',
      description: 'Returns a delivery with its attempts.',
      requestParams: { path: DeliveryPath },
      responses: {
        '200': ok('The delivery and its attempts.', DeliveryWithAttempts, {
          examples: examples.withAttempts,
        }),
        ...errors('not_found'),
      },
    }),
    admittedToRead,
    async (c) => c.json(await readDelivery(requestOf(c))),
  )
  .post(
    '/:eventId/resend',
    describeRoute('Webhooks', {
      operationId: 'resendWebhookDelivery',
      summary: 'Resend a webhook delivery',
      description:
        'Delivers an event again now, also after it was delivered. It has the same `webhook-id` and the URL at its creation. A delivery to a deleted endpoint cannot be resent.',
      requestParams: { path: DeliveryPath },
      responses: {
        '202': ok('The delivery is attempted again.', DeliveryWithAttempts, {
          examples: examples.resent,
        }),
        ...errors('forbidden', 'not_found', 'delivery_in_progress'),
      },
    }),
    admittedToChange,
    limitChanges,
    async (c) => {
      const request = requestOf(c)
      if (!(await resendEvent(request))) {
        // Throws not_found if there is no such event.
        await readEvent(request)
        throw new AppError('delivery_in_progress')
      }
      return c.json(await readDelivery(request), 202)
    },
  )

const presentDelivery = (row: DeliveryRow): z.infer<typeof WebhookDelivery> => ({
  event_id: row.id,
  type: row.type,
  status: row.status,
  job_id: row.jobId,
  endpoint_id: row.endpointId,
  url: row.url,
  attempt_count: row.attempts,
  response_status: row.responseStatus,
  error: row.error,
  next_attempt_at: isDeliveryFinal(row.status) ? null : row.dueAt.toISOString(),
  created_at: row.createdAt.toISOString(),
})

const presentAttempt = (attempt: WebhookAttemptRow): z.infer<typeof WebhookAttempt> => ({
  number: attempt.number,
  attempted_at: attempt.at.toISOString(),
  duration_ms: attempt.durationMs,
  response_status: attempt.responseStatus,
  response_body: attempt.responseBody,
  error: attempt.error,
})

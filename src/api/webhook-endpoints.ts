// /v1/webhook-endpoints: the added endpoints of the organisation, their secrets and test events. The use cases are
// those of the console.
import { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import { EVENT_TYPES, MAX_ADDED_ENDPOINTS } from '../domain/webhook.ts'
import { baseUrlOf, urlPolicyOf } from '../http/base-url.ts'
import { describeRoute, jsonBody, noContent, ok } from '../http/describe-route.ts'
import { definedOnly } from '../http/validation.ts'
import { isId, newId } from '../platform/ids.ts'
import {
  addEndpoint,
  deleteEndpoint,
  listAddedEndpoints,
  listFailures,
  readEndpoint,
  rotateSecret,
  updateEndpoint,
} from '../webhooks/endpoints/endpoints.ts'
import { sendTestEvent } from '../webhooks/test-event.ts'
import {
  admitted,
  admittedToChange,
  admittedToRead,
  requireAdmitted,
  scopeOf,
  type AdmittedContext,
} from './authenticate-key.ts'
import type { ApiApp } from './api-context.ts'
import { errors } from './error-responses.ts'
import { endpoints as examples } from './examples.ts'
import {
  ChangeRequest,
  changeSchema,
  CreatedEndpoint,
  CreateRequest,
  MAX_NAME_LENGTH,
  newEndpointSchema,
  presentEndpoint,
  TestEvent,
  TestEventRequest,
  WebhookEndpoint,
  WebhookEndpointList,
  WebhookSecret,
} from './present-endpoint.ts'
import { limitChanges, readFields } from './webhook-request.ts'

const ONE_WORKSPACE =
  'This API key is limited to a workspace, and webhook endpoints concern all. Use a key that reaches all workspaces.'

const EndpointPath = z.object({
  endpointId: z.string().meta({
    description: 'The `id` of the endpoint.',
    examples: [examples.id],
  }),
})
const requestParams = { path: EndpointPath }

/** @throws AppError forbidden for a key that is limited to a workspace */
function unlimitedScope(c: AdmittedContext) {
  if (c.get('scope').workspaceId !== undefined) throw new AppError('forbidden', ONE_WORKSPACE)
  return scopeOf(c)
}

/** @throws AppError as `unlimitedScope`, and not_found for a malformed id, without a lookup */
function requestOf(c: AdmittedContext & { req: { param(name: string): string | undefined } }) {
  const endpointId = c.req.param('endpointId') ?? ''
  if (!isId('we', endpointId)) throw new AppError('not_found')
  return { ...unlimitedScope(c), endpointId }
}

export const webhookEndpoints = new Hono<ApiApp>()
  .get(
    '/',
    describeRoute('Webhooks', {
      operationId: 'listWebhookEndpoints',
      summary: 'List webhook endpoints',
      description:
        'Returns the endpoints that receive events in addition to the default URL and the URLs of jobs, oldest first. With a test key, only those of test mode.',
      responses: {
        '200': ok('The webhook endpoints.', WebhookEndpointList, { examples: examples.lists }),
        ...errors('forbidden'),
      },
    }),
    admittedToRead,
    async (c) => {
      const scope = unlimitedScope(c)
      const [rows, failing] = await Promise.all([listAddedEndpoints(scope), listFailures(scope)])
      return c.json({ webhook_endpoints: rows.map((row) => presentEndpoint(row, failing)) })
    },
  )
  .post(
    '/',
    describeRoute('Webhooks', {
      operationId: 'createWebhookEndpoint',
      summary: 'Create a webhook endpoint',
      description: `Adds an endpoint with a signing secret of its own. It receives the events of jobs that end from now on. An organisation has at most ${MAX_ADDED_ENDPOINTS}.`,
      requestBody: jsonBody('The endpoint.', CreateRequest, examples.creations),
      responses: {
        '201': ok('The endpoint and its secret.', CreatedEndpoint, {
          examples: examples.created,
          headers: ['Ignored-Fields'],
        }),
        ...errors('forbidden', 'payload_too_large', {
          code: 'validation_error',
          message: 'url is required: a string, an http or https URL.',
        }),
      },
    }),
    admittedToChange,
    limitChanges,
    async (c) => {
      const { url, events, mode, name } = await readFields(c, newEndpointSchema(urlPolicyOf(c)))
      const { endpoint, secret } = await addEndpoint({
        ...unlimitedScope(c),
        endpointId: newId('we'),
        settings: {
          url,
          name: name ?? new URL(url).host.slice(0, MAX_NAME_LENGTH),
          types: events ?? [...EVENT_TYPES],
          mode: mode === undefined ? c.get('caller').mode : mode,
        },
      })
      return c.json({ ...presentEndpoint(endpoint, []), secret }, 201)
    },
  )
  .get(
    '/:endpointId',
    describeRoute('Webhooks', {
      operationId: 'getWebhookEndpoint',
      summary: 'Get a webhook endpoint',
      description: 'Returns an endpoint without its secret.',
      requestParams,
      responses: {
        '200': ok('The webhook endpoint.', WebhookEndpoint, { examples: examples.endpoints }),
        ...errors('forbidden', 'not_found'),
      },
    }),
    admittedToRead,
    async (c) => {
      const request = requestOf(c)
      const [row, failing] = await Promise.all([readEndpoint(request), listFailures(request)])
      return c.json(presentEndpoint(row, failing))
    },
  )
  .patch(
    '/:endpointId',
    describeRoute('Webhooks', {
      operationId: 'updateWebhookEndpoint',
      summary: 'Change a webhook endpoint',
      description:
        'Changes the given fields. Events that wait for a retry are sent to the URL at their creation. A change also enables an endpoint that the service had disabled, unless `status` is `disabled`.',
      requestParams,
      requestBody: jsonBody('The change.', ChangeRequest, examples.changes),
      responses: {
        '200': ok('The endpoint after the change.', WebhookEndpoint, {
          examples: examples.endpoints,
          headers: ['Ignored-Fields'],
        }),
        ...errors('forbidden', 'not_found', 'payload_too_large', {
          code: 'validation_error',
          message: 'status must be one of enabled, disabled.',
        }),
      },
    }),
    admittedToChange,
    limitChanges,
    async (c) => {
      const request = requestOf(c)
      const { events, status, url, name, mode } = await readFields(c, changeSchema(urlPolicyOf(c)))
      const endpoint = await updateEndpoint({
        ...request,
        change: definedOnly({
          url,
          name,
          mode,
          types: events,
          enabled: status && status === 'enabled',
        }),
      })
      return c.json(presentEndpoint(endpoint, []))
    },
  )
  .delete(
    '/:endpointId',
    describeRoute('Webhooks', {
      operationId: 'deleteWebhookEndpoint',
      summary: 'Delete a webhook endpoint',
      description:
        'Deletes an endpoint. Its events that wait for delivery fail without an attempt.',
      requestParams,
      responses: {
        '204': noContent('The endpoint is deleted.'),
        ...errors('forbidden', 'not_found'),
      },
    }),
    admittedToChange,
    async (c) => {
      await deleteEndpoint(requestOf(c))
      return c.body(null, 204)
    },
  )
  .post(
    '/:endpointId/rotate-secret',
    describeRoute('Webhooks', {
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook endpoint',
      description:
        'Creates a new secret. For 24 hours, deliveries are signed with the previous one as well.',
      requestParams,
      responses: {
        '200': ok('The new secret.', WebhookSecret, { examples: examples.secrets }),
        ...errors('forbidden', 'not_found'),
      },
    }),
    admittedToChange,
    limitChanges,
    async (c) => c.json({ secret: await rotateSecret(requestOf(c)) }),
  )
  .post(
    '/:endpointId/test',
    describeRoute('Webhooks', {
      operationId: 'sendTestEvent',
      summary: 'Send a test event',
      description:
        'Submits a free test job, whose event goes to this endpoint only, even if it does not receive this type or test mode. The request counts twice against the rate limit, because its job counts too. Find the delivery by the id of the job.',
      requestParams,
      requestBody: jsonBody('The type of the event.', TestEventRequest, examples.tests),
      responses: {
        '202': ok('The test job was accepted.', TestEvent, {
          examples: examples.testEvents,
          headers: ['Ignored-Fields'],
        }),
        ...errors('account_suspended', 'forbidden', 'not_found', 'payload_too_large', {
          code: 'validation_error',
          message: 'The endpoint is disabled. Enable it first.',
        }),
      },
    }),
    admitted({ rejectSuspended: true, isRead: false }),
    limitChanges,
    async (c) => {
      const request = requestOf(c)
      const { type } = await readFields(c, TestEventRequest)
      const result = await sendTestEvent({
        ...request,
        type,
        keyId: c.get('keyId'),
        baseUrl: baseUrlOf(c),
        requestId: c.get('requestId'),
      })
      const { jobId } = requireAdmitted(c, { ...result, keyId: c.get('keyId') })
      c.set('jobId', jobId)
      return c.json({ job_id: jobId, type }, 202)
    },
  )

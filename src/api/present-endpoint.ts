// The public form of webhook endpoints, and the bodies of their requests.
import { z } from 'zod'
import { MODES } from '../domain/job.ts'
import { EVENT_TYPES, MAX_ADDED_ENDPOINTS } from '../domain/webhook.ts'
import { webhookUrl } from '../http/try-on-body.ts'
import { oneOf, shortText } from '../http/validation.ts'
import { JobId } from '../jobs/present-job.ts'
import type { EndpointRow, FailingReceiverRow } from '../platform/db/webhook-schema.ts'
import type { UrlPolicy } from '../platform/net/public-url.ts'
import { WebhookEventType } from '../webhooks/event.ts'
import { endpoints as examples } from './examples.ts'

export const MAX_NAME_LENGTH = 100
const STATUSES = ['enabled', 'disabled'] as const

const EndpointMode = z.enum(MODES, 'must be live, test or null').nullable().meta({
  description: 'The mode of the jobs whose events it receives. Null for both.',
})

const Events = z
  .array(oneOf(EVENT_TYPES), 'must be a list of event types')
  .min(1, 'must have at least one event type')
  .transform((types) => EVENT_TYPES.filter((type) => types.includes(type)))

export const WebhookEndpoint = z
  .object({
    id: z.string().meta({ description: 'The id of the endpoint.', examples: [examples.id] }),
    name: z.string().meta({ description: 'The name that the console shows.' }),
    url: z.string().meta({ description: 'The URL that receives the events.' }),
    events: z
      .array(WebhookEventType)
      .meta({ description: 'The types of events that it receives.' }),
    mode: EndpointMode,
    status: z.enum(STATUSES).meta({
      description:
        'Whether it receives events. The service disables an endpoint whose deliveries have failed for 5 days.',
    }),
    failing_since: z.iso.datetime().nullable().meta({
      description:
        'When deliveries began to fail (ISO 8601, UTC). Null if the latest delivery succeeded.',
    }),
    created_at: z.iso
      .datetime()
      .meta({ description: 'When the endpoint was created (ISO 8601, UTC).' }),
  })
  .meta({ id: 'WebhookEndpoint', description: 'An endpoint that receives events.' })

const SECRET = {
  description:
    'The secret that signs deliveries to this endpoint. Store it: no other response contains it.',
  examples: [examples.secret],
}

export const CreatedEndpoint = WebhookEndpoint.extend({ secret: z.string().meta(SECRET) }).meta({
  id: 'CreatedWebhookEndpoint',
  description: 'A new endpoint with its signing secret.',
})

export const WebhookEndpointList = z
  .object({
    webhook_endpoints: z
      .array(WebhookEndpoint)
      .max(MAX_ADDED_ENDPOINTS)
      .meta({ description: 'The endpoints, oldest first.' }),
  })
  .meta({ id: 'WebhookEndpointList', description: 'The webhook endpoints.' })

export const WebhookSecret = z
  .object({ secret: z.string().meta(SECRET) })
  .meta({ id: 'WebhookSecret', description: 'A new signing secret.' })

export const TestEventRequest = z
  .object({
    type: oneOf(EVENT_TYPES)
      .default('job.completed')
      .meta({ description: 'The type of the event.' }),
  })
  .meta({ id: 'TestEventRequest', description: 'Which event to send.' })

export const TestEvent = z
  .object({
    job_id: JobId,
    type: WebhookEventType,
  })
  .meta({ id: 'TestEvent', description: 'The test job whose event is sent.' })

/** The fields that clients set. */
const fieldsOf = (policy: UrlPolicy) => ({
  url: webhookUrl(policy).meta({
    description: 'The public http or https URL that receives the events.',
  }),
  name: shortText(MAX_NAME_LENGTH).meta({
    description: 'A name for the console.',
    examples: ['Order system'],
  }),
  events: Events.meta({
    description: 'The types of events that it receives.',
    override: {
      type: 'array',
      items: { $ref: '#/components/schemas/WebhookEventType' },
      minItems: 1,
    },
  }),
  mode: EndpointMode,
})

export const newEndpointSchema = (policy: UrlPolicy) => {
  const { url, name, events, mode } = fieldsOf(policy)
  return z.object(
    {
      url,
      events: events
        .optional()
        .meta({ description: 'The types of events that it receives. By default all of them.' }),
      mode: mode.optional().meta({
        description:
          'The mode of the jobs whose events it receives. Null for both. By default the mode of the API key, which is the only choice for a test key.',
      }),
      name: name
        .optional()
        .meta({ description: 'A name for the console. By default the host of the URL.' }),
    },
    'The body must be a JSON object',
  )
}

export const changeSchema = (policy: UrlPolicy) =>
  z
    .object(
      {
        ...fieldsOf(policy),
        status: oneOf(STATUSES).meta({ description: 'Whether it receives events.' }),
      },
      'The body must be a JSON object',
    )
    .partial()

const DOCUMENTED: UrlPolicy = { allowPrivate: false, ownHosts: [] }
export const CreateRequest = newEndpointSchema(DOCUMENTED).meta({
  id: 'CreateWebhookEndpointRequest',
  description: 'A new endpoint. Unknown fields are ignored.',
})
export const ChangeRequest = changeSchema(DOCUMENTED).meta({
  id: 'ChangeWebhookEndpointRequest',
  description: 'The fields to change. Unknown fields are ignored.',
})

/** @param failing the failing receivers of the organisation */
export function presentEndpoint(
  row: EndpointRow,
  failing: Pick<FailingReceiverRow, 'receiver' | 'failingSince' | 'disabledAt'>[],
): z.infer<typeof WebhookEndpoint> {
  const failure = failing.find(({ receiver }) => receiver === row.id)
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    events: row.types,
    mode: row.mode,
    status: row.enabled && !failure?.disabledAt ? 'enabled' : 'disabled',
    failing_since: failure?.failingSince.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  }
}

// The OpenAPI 3.1 document. Each route file describes its operations next to the handlers; the tests
// check every response of /v1 against the document.
import { z } from 'zod'
import { createDocument } from 'zod-openapi'
import { describedPaths } from '../http/openapi.ts'
import { WebhookBody } from '../webhooks/event.ts'
import { v1 } from './routes.ts'

const document = createDocument({
  openapi: '3.1.1',
  info: {
    title: 'Virtual Try-On API',
    version: '1.0.0',
    description:
      'Shows a shopper in a garment: two image URLs in, one picture out, one credit per success. Jobs run asynchronously; poll them, wait with `Prefer: wait=N`, or receive a webhook.',
  },
  security: [{ apiKey: [] }],
  tags: [{ name: 'Jobs' }, { name: 'Uploads' }, { name: 'Account' }],
  paths: describedPaths(v1, '/v1'),
  webhooks: {
    jobEnded: {
      post: {
        operationId: 'jobEnded',
        summary: 'A job has ended',
        description:
          'Sent to the job’s webhook URL, signed as Standard Webhooks 1.0 (https://www.standardwebhooks.com) specifies. Delivered at least once: detect repeats by `webhook-id`. Respond with 2xx within 15 seconds; 410 stops further attempts.',
        tags: ['Jobs'],
        security: [],
        requestParams: {
          header: z.object({
            'webhook-id': z
              .string()
              .meta({ description: 'The event’s id, the same in every attempt.' }),
            'webhook-timestamp': z
              .string()
              .meta({ description: 'The time of this attempt, seconds since 1970.' }),
            'webhook-signature': z.string().meta({
              description:
                '`v1,` and the signature. During a rotation of the secret, two of them, separated by a space.',
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
        description: 'An API key. Its prefix selects live or test mode.',
      },
    },
  },
})

/** The document of a service at `baseUrl`. */
export const openApiDocument = (baseUrl: string) => ({ ...document, servers: [{ url: baseUrl }] })

// The OpenAPI 3.1 document. Each route file describes its operations next to the handlers; the tests
// check every response of /v1 against the document. app.ts imports this file on the first request for
// the document.
import { z } from 'zod'
import { createDocument, type CreateDocumentOptions } from 'zod-openapi'
import { EXAMPLE_ORIGIN } from '../domain/docs.ts'
import { describedPaths, jsonBody, responseHeaders } from '../http/describe-route.ts'
import { WebhookBody } from '../webhooks/event.ts'
import { WEBHOOK_ID, webhookBodies } from './examples.ts'
import { v1 } from './v1.ts'

const DOCS = `${EXAMPLE_ORIGIN}/docs`

const DESCRIPTION = `Shows a shopper in a garment: two image URLs in, one picture out, one credit per success. Jobs run asynchronously. Poll them, wait with \`Prefer: wait=N\`, or receive a [webhook](${DOCS}/webhooks).

## Authentication

Send an API key in each request: \`Authorization: Bearer <API key>\`. Create keys in the [console](${EXAMPLE_ORIGIN}/console). The prefix of a key selects the mode. A key that starts with \`svc_live_sk_\` generates images and consumes credits. A key that starts with \`svc_test_sk_\` returns a placeholder, costs nothing, and runs [scenarios](${DOCS}/test-mode). See [Authentication](${DOCS}/authentication).

## Errors

Every error has the same body, with a stable \`code\` for programs and a \`message\` for developers. See [Errors](${DOCS}/errors), [Idempotency](${DOCS}/idempotency) and [Rate limits](${DOCS}/rate-limits).

## Versions

The path carries the version. Within \`/v1\`, nothing is removed, renamed or changed in meaning. These additions can be made at any time, so clients must tolerate them:

- new endpoints, optional request fields, parameters and headers
- new fields in responses and webhooks
- new response headers
- new values of enumerations, such as error codes and webhook event types

Unknown fields of a request are ignored; the response header \`Ignored-Fields\` names them. See [Versioning](${DOCS}/versioning) for deprecations and the [Changelog](${DOCS}/changelog).`

const WebhookHeaders = z.object({
  'webhook-id': z.string().meta({
    description: 'The id of the event, the same in every attempt.',
    examples: [WEBHOOK_ID],
  }),
  'webhook-timestamp': z.string().meta({
    description: 'The time of this attempt, in seconds since 1970.',
    examples: ['1795167009'],
  }),
  'webhook-signature': z.string().meta({
    description:
      'The signature: `v1,` and an HMAC-SHA-256 in base64. During a rotation of the secret there are two, separated by a space.',
    examples: ['v1,hE7MCBZOLqsnY0qa3uGvplmeWJVw5xl4TggM50f8DkU='],
  }),
})

/** Removes what describes the validator and not the API, and leaves objects open for new fields. */
const publish: CreateDocumentOptions['override'] = ({ jsonSchema }) => {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (jsonSchema.type !== 'string' || jsonSchema.format?.startsWith('date'))
    delete jsonSchema.pattern
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

const createOpenApi = () =>
  createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Virtual Try-On API',
        version: '1.1.0',
        summary: 'Two image URLs in, one picture out, billed per success.',
        description: DESCRIPTION,
        contact: { name: 'Documentation and support', url: DOCS },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      externalDocs: { description: 'Guides and reference', url: DOCS },
      security: [{ apiKey: [] }],
      tags: [
        {
          name: 'Jobs',
          description:
            'A job makes one picture from the image of a model and the image of a garment.',
          externalDocs: { description: 'Jobs and their states', url: `${DOCS}/jobs` },
        },
        {
          name: 'Uploads',
          description: 'Images that jobs can use without a public URL.',
          externalDocs: { description: 'Images', url: `${DOCS}/images` },
        },
        {
          name: 'Account',
          description: 'The organisation that the API key belongs to, and its workspaces.',
          externalDocs: { description: 'Credits and billing', url: `${DOCS}/billing` },
        },
        {
          name: 'Webhooks',
          description: 'The requests that the service sends when a job has ended.',
          externalDocs: { description: 'Receive and verify webhooks', url: `${DOCS}/webhooks` },
        },
      ],
      paths: describedPaths(v1, '/v1'),
      webhooks: {
        jobEnded: {
          post: {
            operationId: 'jobEnded',
            summary: 'A job has ended',
            description:
              'Sent to the webhook URL of the job, signed as [Standard Webhooks 1.0](https://www.standardwebhooks.com) specifies. Delivered at least once: detect repeats by `webhook-id`. Respond with 2xx within 15 seconds. 410 stops further attempts.',
            tags: ['Webhooks'],
            security: [],
            requestParams: { header: WebhookHeaders },
            requestBody: jsonBody('The event and its job.', WebhookBody, webhookBodies),
            responses: { '2XX': { description: 'The event was received.' } },
          },
        },
      },
      components: {
        headers: responseHeaders,
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'svc_live_sk_… or svc_test_sk_…',
            description: 'An API key. Its prefix selects live or test mode.',
          },
        },
      },
    },
    { override: publish },
  )

let json: string | undefined
let yaml: string | undefined

const templateJson = () =>
  (json ??= JSON.stringify({ ...createOpenApi(), servers: [{ url: EXAMPLE_ORIGIN }] }))

/** The document of a service at `baseUrl`, an origin. */
export const openApiDocument = (baseUrl: string): ReturnType<typeof createOpenApi> =>
  JSON.parse(templateJson().replaceAll(EXAMPLE_ORIGIN, baseUrl))

/** The same document as YAML. The serialiser is loaded on the first call. */
export async function openApiYaml(baseUrl: string): Promise<string> {
  if (yaml === undefined) {
    const { stringify } = await import('yaml')
    yaml = stringify(JSON.parse(templateJson()))
  }
  return yaml.replaceAll(EXAMPLE_ORIGIN, baseUrl)
}

// Writes docs/postman.json, a Postman collection (2.1) of the OpenAPI document: a request for each example of an
// operation. Run it with `npm run postman` after each change of the document.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { EXAMPLE_ORIGIN } from '../src/domain/docs.ts'
import { openApiDocument } from '../src/api/openapi-document.ts'
import { ROOT } from './wrangler.ts'

export const COLLECTION_FILE = join(ROOT, 'docs', 'postman.json')

interface Operation {
  summary: string
  description: string
  tags: [string]
  parameters?: { name: string; in: string; description: string; schema: { examples?: unknown[] } }[]
  requestBody?: { content: Record<string, { examples?: Record<string, Example> }> }
  responses: Record<string, unknown>
}
type Example = { summary: string; value?: unknown }

/** Runs after each response: checks its status and remembers the ids that other requests need. */
const REMEMBER_IDS = `
const isJson = (pm.response.headers.get('Content-Type') || '').includes('json')
const body = isJson ? pm.response.json() : {}
const [delivery] = body.webhook_deliveries || []
if (body.job_id) pm.collectionVariables.set('jobId', body.job_id)
if (/^we_/.test(body.id)) pm.collectionVariables.set('endpointId', body.id)
if (delivery) pm.collectionVariables.set('eventId', delivery.event_id)`

const script = (listen: string, text: string) => ({
  listen,
  script: { type: 'text/javascript', exec: text.trim().split('\n') },
})

/** The text of docs/postman.json for the document of this repository. */
export async function createCollection(): Promise<string> {
  const { info, tags = [], paths = {} } = openApiDocument(EXAMPLE_ORIGIN)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods ?? {}).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as unknown as Operation,
    })),
  )
  const collection = {
    info: {
      name: info.title,
      description: `${info.summary} Set the variables base_url and api_key. With a test key, the requests of each folder run in order.`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
    variable: [
      { key: 'base_url', value: EXAMPLE_ORIGIN },
      { key: 'api_key', value: '' },
      ...['jobId', 'endpointId', 'eventId'].map((key) => ({ key, value: '' })),
    ],
    event: [script('test', REMEMBER_IDS)],
    item: tags.map(({ name, description }) => ({
      name,
      description,
      item: operations
        .filter(({ operation }) => operation.tags[0] === name)
        // The others need what these delete.
        .toSorted((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'))
        .flatMap(itemsOf),
    })),
  }
  const text = JSON.stringify(collection).replaceAll(
    `"${EXAMPLE_ORIGIN}/static`,
    '"{{base_url}}/static',
  )
  const bodies = text.replaceAll(`\\"${EXAMPLE_ORIGIN}/static`, '\\"{{base_url}}/static')
  return format(bodies, { ...(await resolveConfig(COLLECTION_FILE)), parser: 'json' })
}

/** A request for each example of the JSON body, or one without. */
function itemsOf({
  method,
  path,
  operation,
}: {
  method: string
  path: string
  operation: Operation
}) {
  const { summary, description, parameters = [], requestBody, responses } = operation
  const segments = path.replaceAll(/\{(\w+)\}/g, '{{$1}}').slice(1)
  // Optional, so that they are not sent until they are filled in.
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, description: text, schema }) => ({
      key: name,
      value: String(schema.examples?.[0] ?? ''),
      description: text,
      disabled: true,
    }))
  const statuses = Object.keys(responses).map(Number)
  const item = (name: string, header: object[], body?: object) => ({
    name,
    event: [
      script(
        'test',
        `pm.test('has a documented status', () => pm.expect(${JSON.stringify(statuses)}).to.include(pm.response.code))`,
      ),
    ],
    request: {
      method,
      description,
      header,
      ...(body && { body }),
      url: {
        raw: `{{base_url}}/${segments}`,
        host: ['{{base_url}}'],
        path: segments.split('/'),
        ...(query.length > 0 && { query }),
      },
    },
  })
  if (!requestBody) return [item(summary, [])]
  const contentType = (value: string) => [{ key: 'Content-Type', value }]
  const json = requestBody.content['application/json']
  if (!json) {
    const file = { mode: 'file', file: { src: 'model.jpg' } }
    return [item(summary, contentType('application/octet-stream'), file)]
  }
  return Object.values(json.examples ?? {}).map((example) =>
    item(`${summary}: ${example.summary}`, contentType('application/json'), {
      mode: 'raw',
      raw: JSON.stringify(example.value, null, 2),
      options: { raw: { language: 'json' } },
    }),
  )
}

if (import.meta.main) writeFileSync(COLLECTION_FILE, await createCollection())

// The OpenAPI document itself. support/client checks every response of every test against it.
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { app } from '../../src/app.ts'
import { request } from '../support/client.ts'
import { IMAGES, newOrganisation } from '../support/world.ts'

interface Operation {
  responses: Record<string, object>
  parameters?: { name: string; in: string }[]
}

interface OpenApi {
  openapi: string
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, unknown>
  components: {
    schemas: Record<string, { properties: Record<string, object> }>
    responses: Record<string, object>
  }
}

const read = async () => (await request('/openapi.json')).json<OpenApi>()

describe('/openapi.json', () => {
  it('describes each route of /v1 and no other', async () => {
    const document = await read()
    expect(document.openapi).toMatch(/^3\.1\./)
    expect(document.servers).toEqual([{ url: 'https://try-on.test' }])
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const routed = app.routes
      .filter(({ method, path }) => path.startsWith('/v1/') && method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    expect(new Set(described)).toEqual(new Set(routed))
  })

  it('describes the webhook and every field of a job once', async () => {
    const { webhooks, components } = await read()
    expect(Object.keys(webhooks)).toEqual(['jobEnded'])
    expect(Object.keys(components.schemas).toSorted()).toEqual([
      'Account',
      'Cancelled',
      'ChangeWebhookEndpointRequest',
      'CreateWebhookEndpointRequest',
      'CreatedWebhookEndpoint',
      'Currency',
      'Error',
      'ErrorCode',
      'ErrorDetails',
      'Job',
      'JobErrorCode',
      'JobList',
      'JobStatus',
      'ListedJob',
      'Mode',
      'Plan',
      'Region',
      'Submitted',
      'TestEvent',
      'TestEventRequest',
      'TryOnRequest',
      'Upload',
      'Usage',
      'UsageByKey',
      'UsageDay',
      'UsageTotal',
      'WebhookAttempt',
      'WebhookBody',
      'WebhookDelivery',
      'WebhookDeliveryList',
      'WebhookDeliveryWithAttempts',
      'WebhookEndpoint',
      'WebhookEndpointList',
      'WebhookEventType',
      'WebhookSecret',
      'WebhookStatus',
      'Workspace',
      'WorkspaceList',
      'WorkspaceStatus',
    ])
    expect(Object.keys(components.schemas['Job']!.properties)).toEqual([
      'job_id',
      'status',
      'workspace_id',
      'mode',
      'output_url',
      'credits_consumed',
      'error_code',
      'created_at',
      'completed_at',
      'duration_ms',
      'webhook_url',
      'webhook_status',
    ])
  })

  it('describes the parameters of requests', async () => {
    const { paths } = await read()
    const names = (operation: Operation | undefined) =>
      operation?.parameters?.map((parameter) => `${parameter.in} ${parameter.name}`)
    expect(names(paths['/v1/jobs']?.['get'])).toEqual([
      'query workspace_id',
      'query status',
      'query created_after',
      'query created_before',
      'query limit',
      'query cursor',
    ])
    expect(names(paths['/v1/tryon']?.['post'])).toEqual(['header Idempotency-Key', 'header Prefer'])
  })

  it('has a different example for each image', async () => {
    const { properties } = (await read()).components.schemas['TryOnRequest']!
    expect(properties['model_image_url']).toMatchObject({
      examples: ['https://shop.example/model.jpg'],
    })
    expect(properties['garment_image_url']).toMatchObject({
      examples: ['https://shop.example/shirt.png'],
    })
  })

  it('leaves objects open and has no ranges and patterns of the validator', async () => {
    const schemas: Record<string, unknown>[] = []
    const collect = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return
      schemas.push({ ...value })
      for (const child of Object.values(value)) collect(child)
    }
    collect(await read())
    const patterns = schemas.filter(({ pattern }) => pattern !== undefined)
    expect(patterns.map(({ type, pattern }) => [type, pattern])).toEqual([
      ['string', '^[\\x21-\\x7e]{1,255}$'],
    ])
    for (const schema of schemas) {
      expect(schema).not.toHaveProperty('additionalProperties')
      expect(schema['minimum'] ?? 0).toBeGreaterThanOrEqual(0)
      expect(schema['maximum'] ?? 0).toBeLessThan(Number.MAX_SAFE_INTEGER)
    }
  })

  it('refers to one schema for all errors', async () => {
    const { components, paths } = await read()
    const responses = [...Object.values(paths).flatMap(Object.values<Operation>), components]
      .flatMap((owner) => Object.entries(owner.responses))
      .filter(([name]) => !name.startsWith('2'))
    expect(responses.length).toBeGreaterThan(40)
    for (const [, response] of responses) {
      if ('$ref' in response) expect(response.$ref).toMatch(/^#\/components\/responses\//)
      else {
        expect(response).toMatchObject({
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        })
      }
    }
  })

  it('links to the documentation of the same service', async () => {
    const response = await request('/openapi.json')
    const text = await response.text()
    expect(text).toContain('https://try-on.test/docs/errors')
    expect(text).not.toContain('try-on.example')
  })

  it('is the same document as /openapi.yaml', async () => {
    const response = await request('/openapi.yaml')
    expect(response.headers.get('Content-Type')).toBe('application/yaml')
    expect(parse(new TextDecoder().decode(await response.bytes()))).toEqual(await read())
  })

  it('does not match a response that differs from it', async () => {
    const { expectDocumented } = await import('../support/documented.ts')
    const shop = await newOrganisation()
    const response = await shop.test.post('/v1/tryon', IMAGES)
    const body = await response.json<object>()
    const headers = new Headers(response.headers)
    headers.set('Link', '</docs/errors>; rel="help"')
    const drifted = (status: number, changed: object) =>
      expectDocumented('POST', '/v1/tryon', Response.json(changed, { status, headers }))
    await expect(drifted(202, body)).resolves.toBeUndefined()
    await expect(drifted(202, { ...body, extra: 1 })).rejects.toThrow()
    await expect(drifted(202, { ...body, mode: 'other' })).rejects.toThrow()
    const error = (code: string) => ({ error: { code, message: 'Not found.' } })
    await expect(drifted(404, error('workspace_not_found'))).resolves.toBeUndefined()
    await expect(drifted(404, error('job_not_found'))).rejects.toThrow('workspace_not_found')
    await expect(drifted(201, body)).rejects.toThrow()
    await expect(
      expectDocumented('POST', '/v1/tryon', Response.json(body, { status: 202 })),
    ).rejects.toThrow('X-Request-Id')
  })
})

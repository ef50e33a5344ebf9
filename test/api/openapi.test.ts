// The OpenAPI document itself. support/client checks every response of every test against it.
import { describe, expect, it } from 'vitest'
import { app } from '../../src/app.ts'
import { request } from '../support/client.ts'
import { IMAGES, newOrganisation } from '../support/world.ts'

interface Operation {
  parameters?: { name: string; in: string }[]
  requestBody?: {
    content: { 'application/json': { schema: { properties: Record<string, object> } } }
  }
}

interface OpenApi {
  openapi: string
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, unknown>
  components: { schemas: Record<string, { properties: Record<string, object> }> }
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
      'Job',
      'JobList',
      'ListedJob',
      'Submitted',
      'Upload',
      'WebhookBody',
      'Workspace',
      'WorkspaceList',
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
    const { paths } = await read()
    const { properties } =
      paths['/v1/tryon']!['post']!.requestBody!.content['application/json'].schema
    expect(properties['model_image_url']).toMatchObject({
      example: 'https://shop.example/model.jpg',
    })
    expect(properties['garment_image_url']).toMatchObject({
      example: 'https://shop.example/shirt.png',
    })
  })

  it('does not match a response that differs from it', async () => {
    const { expectDocumented } = await import('../support/documented.ts')
    const shop = await newOrganisation()
    const response = await shop.test.post('/v1/tryon', IMAGES)
    const body = await response.json<object>()
    const { headers } = response
    const drifted = (status: number, changed: object) =>
      expectDocumented('POST', '/v1/tryon', Response.json(changed, { status, headers }))
    await expect(drifted(202, body)).resolves.toBeUndefined()
    await expect(drifted(202, { ...body, extra: 1 })).rejects.toThrow()
    await expect(drifted(202, { ...body, mode: 'other' })).rejects.toThrow()
    await expect(drifted(201, body)).rejects.toThrow()
    await expect(
      expectDocumented('POST', '/v1/tryon', Response.json(body, { status: 202 })),
    ).rejects.toThrow('X-Request-Id')
  })
})

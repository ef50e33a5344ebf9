// Webhook endpoints, deliveries and usage, with a fake `fetch`.
import { ApiError, ConnectionError } from '../src/index.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { errorResponse, fakeService, networkError, rateLimited, settle } from './fake-service.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const sent = (requests: { method: string; path: string; body: unknown }[]) =>
  requests.map(({ method, path, body }) => [method, path, body])
const created = () => Response.json({ id: 'we_1', secret: 'whsec_1' }, { status: 201 })

describe('webhookEndpoints', () => {
  it('sends each change to the path of the endpoint', async () => {
    const { client, requests } = fakeService([
      Response.json({ webhook_endpoints: [{ id: 'we_1' }] }),
      created(),
      Response.json({ id: 'we_1' }),
      Response.json({ id: 'we_1' }),
      Response.json({ secret: 'whsec_2' }),
      Response.json({ job_id: 'job_1', type: 'job.failed' }, { status: 202 }),
      new Response(null, { status: 204 }),
    ])
    const endpoints = client.webhookEndpoints
    expect(await endpoints.list()).toEqual([{ id: 'we_1' }])
    expect(await endpoints.create({ url: 'https://shop.example/' })).toMatchObject({
      secret: 'whsec_1',
    })
    await endpoints.get('we_1')
    await endpoints.update('we_1', { mode: null })
    expect(await endpoints.rotateSecret('we_1')).toBe('whsec_2')
    await endpoints.sendTestEvent('we_1', 'job.failed')
    await endpoints.delete('a/b')
    expect(() => endpoints.get('..')).toThrow(TypeError)
    const path = '/v1/webhook-endpoints'
    expect(sent(requests)).toEqual([
      ['GET', path, undefined],
      ['POST', path, '{"url":"https://shop.example/"}'],
      ['GET', `${path}/we_1`, undefined],
      ['PATCH', `${path}/we_1`, '{"mode":null}'],
      ['POST', `${path}/we_1/rotate-secret`, undefined],
      ['POST', `${path}/we_1/test`, '{"type":"job.failed"}'],
      ['DELETE', `${path}/a%2Fb`, undefined],
    ])
    expect(requests[1]?.headers.get('Content-Type')).toBe('application/json')
  })

  it('creates at most one endpoint when a response is lost', async () => {
    for (const [step, type] of [
      [networkError(), ConnectionError],
      [errorResponse(500, 'internal_error'), ApiError],
    ] as const) {
      const { client, requests } = fakeService([step, created()])
      const creation = client.webhookEndpoints.create({ url: 'https://shop.example/' })
      expect(await settle(creation)).toBeInstanceOf(type)
      expect(requests).toHaveLength(1)
    }
  })

  it('repeats a creation that the rate limit rejected', async () => {
    const { client, requests } = fakeService([rateLimited('1'), created()])
    const creation = client.webhookEndpoints.create({ url: 'https://shop.example/' })
    expect(await settle(creation)).toMatchObject({ id: 'we_1' })
    expect(requests).toHaveLength(2)
  })
})

describe('webhookDeliveries', () => {
  it('iterates over pages, also empty ones, and resends once', async () => {
    const page = (ids: string[], next_cursor: string | null) =>
      Response.json({
        webhook_deliveries: ids.map((event_id) => ({ event_id })),
        next_cursor,
        has_more: next_cursor !== null,
      })
    const { client, requests } = fakeService([
      page(['evt_3'], 'a'),
      page([], 'b'),
      page(['evt_1'], null),
      Response.json({ event_id: 'evt_1' }),
      networkError(),
    ])
    const found = await Array.fromAsync(client.webhookDeliveries.list({ status: 'failed' }))
    expect(found).toEqual([{ event_id: 'evt_3' }, { event_id: 'evt_1' }])
    await client.webhookDeliveries.get('evt_1')
    expect(await settle(client.webhookDeliveries.resend('evt_1'))).toBeInstanceOf(ConnectionError)
    expect(sent(requests).map(([, path]) => path)).toEqual([
      '/v1/webhook-deliveries?status=failed',
      '/v1/webhook-deliveries?status=failed&cursor=a',
      '/v1/webhook-deliveries?status=failed&cursor=b',
      '/v1/webhook-deliveries/evt_1',
      '/v1/webhook-deliveries/evt_1/resend',
    ])
  })
})

it('usage sends the range and the groups', async () => {
  const { client, requests } = fakeService([1, 2, 3].map(() => Response.json({})))
  await client.usage.get()
  await client.usage.get({ from: '2026-11-01', to: '2026-11-20' })
  await client.usage.get({ groupBy: 'api_key' })
  expect(requests.map(({ path }) => path)).toEqual([
    '/v1/usage',
    '/v1/usage?from=2026-11-01&to=2026-11-20',
    '/v1/usage?group_by=api_key',
  ])
})

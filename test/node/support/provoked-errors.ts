// Sends requests that cause the errors of /v1.
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Service } from './service.ts'

interface Provoked {
  status: number
  body: unknown
}

const IMAGES = {
  model_image_url: 'https://shop.example/model.jpg',
  garment_image_url: 'https://shop.example/shirt.png',
}
const UNKNOWN_JOB = 'job_01m7w4n5twfh782ygbjfb2yp7a'

/** The responses by code, or by operation and code where operations have different messages. */
export async function provokeErrors(service: Service): Promise<Record<string, Provoked>> {
  const send = async (key: string, method: string, path: string, init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${key}`, ...init.headers }
    const response = await fetch(`${service.url}/v1${path}`, { ...init, method, headers })
    return { status: response.status, body: (await response.json()) as { job_id?: string } }
  }
  const submit = (key: string, body: object = IMAGES, headers: Record<string, string> = {}) =>
    send(key, 'POST', '/tryon', { body: JSON.stringify(body), headers })

  const shop = await service.newOrganisation()
  const key = shop.api_keys.test
  const upload = (body: string) => send(key, 'POST', '/uploads', { body })
  // The service responds to the announced size. Were the body on its way, writing it could fail before that is read.
  const announce = async (path: string, bytes: number): Promise<Provoked> => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Length': bytes }
    const announced = request(`${service.url}/v1${path}`, { method: 'POST', headers })
    announced.flushHeaders()
    const [response] = (await once(announced, 'response')) as [IncomingMessage]
    const body = await json(response)
    announced.destroy()
    return { status: response.statusCode ?? 0, body }
  }
  const [other, broke, suspended, limited] = await Promise.all([
    service.newOrganisation(),
    service.newOrganisation({ credits: 0 }),
    service.newOrganisation(),
    service.newOrganisation({ rate_limit_per_minute: 1 }),
  ])
  await service.operator('PATCH', `/organisations/${suspended.org_id}`, { status: 'suspended' })
  const { id, key: revoked } = await service.operator<{ id: string; key: string }>(
    'POST',
    `/organisations/${shop.org_id}/api-keys`,
    { mode: 'test' },
  )
  await service.operator('DELETE', `/organisations/${shop.org_id}/api-keys/${id}`)

  const { job_id: completed } = (await submit(key, IMAGES, { Prefer: 'wait=20' })).body
  const slow = { ...IMAGES, model_image_url: 'https://test.invalid/delay/60' }
  const { job_id: unfinished } = (await submit(key, slow)).body
  await submit(key, IMAGES, { 'Idempotency-Key': 'one' })
  await submit(limited.api_keys.test)

  const endpoints = '/webhook-endpoints'
  const change = (method: string, path: string, body: object) =>
    send(key, method, path, { body: JSON.stringify(body) })
  const created = await change('POST', endpoints, { url: 'https://shop.example/hook' })
  const endpoint = `${endpoints}/${(created.body as { id?: string }).id}`
  await change('PATCH', endpoint, { status: 'disabled' })
  // Its first retry is due in seconds.
  const hook = { ...IMAGES, webhook_url: `${service.url}/nowhere` }
  const { job_id: delivering = '' } = (await submit(key, hook, { Prefer: 'wait=20' })).body
  const delivery = `/webhook-deliveries/${delivering.replace('job', 'evt')}`

  return {
    not_found: await send(key, 'GET', delivery.replace('evt', 'job')),
    delivery_in_progress: await send(key, 'POST', `${delivery}/resend`),
    payload_too_large: await announce('/tryon', 70_000),
    'createWebhookEndpoint validation_error': await change('POST', endpoints, {}),
    'updateWebhookEndpoint validation_error': await change('PATCH', endpoint, { status: '' }),
    'sendTestEvent validation_error': await change('POST', `${endpoint}/test`, {}),
    'listWebhookDeliveries validation_error': await send(key, 'GET', '/webhook-deliveries?status='),
    invalid_api_key: await submit(key.replace(/.$/, '!')),
    api_key_revoked: await submit(revoked),
    insufficient_credits: await submit(broke.api_keys.live),
    account_suspended: await submit(suspended.api_keys.test),
    forbidden: await send(other.api_keys.test, 'GET', `/jobs/${completed}`),
    workspace_not_found: await submit(key, { ...IMAGES, workspace_id: 'ws_unknown' }),
    job_not_found: await send(key, 'GET', `/jobs/${UNKNOWN_JOB}`),
    job_not_cancellable: await send(key, 'DELETE', `/jobs/${completed}`),
    job_not_finished: await send(key, 'DELETE', `/jobs/${unfinished}/output`),
    'submitTryOn validation_error': await submit(key, {
      garment_image_url: IMAGES.garment_image_url,
    }),
    'uploadImage payload_too_large': await announce('/uploads', 10 * 1024 * 1024 + 1),
    'uploadImage validation_error': await upload('GIF89a'),
    'getUsage validation_error': await send(key, 'GET', '/usage?from=2020-01-01'),
    'listJobs validation_error': await send(key, 'GET', '/jobs?limit=101'),
    idempotency_key_reused: await submit(key, slow, { 'Idempotency-Key': 'one' }),
    internal_error: await submit(key, {
      ...IMAGES,
      model_image_url: 'https://test.invalid/refuse/internal_error',
    }),
    rate_limit_exceeded: await submit(limited.api_keys.test),
  }
}

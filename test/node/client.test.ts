// The client package in Node, against the service.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import {
  ApiError,
  ConnectionError,
  JobError,
  TryOnClient,
  TryOnError,
  webhooks,
  WebhookVerificationError,
  type ClientOptions,
  type Fetch,
} from '../../packages/client/src/index.ts'
import { ROOT } from '../../scripts/wrangler.ts'
import { sharedService, type NewOrganisation } from './support/service.ts'

const IMAGES = {
  model_image_url: 'https://shop.example/model.jpg',
  garment_image_url: 'https://shop.example/shirt.png',
}
const scenario = (path: string) => ({
  ...IMAGES,
  model_image_url: `https://test.invalid/${path}`,
})

const service = sharedService()
let shop: NewOrganisation
let client: TryOnClient

const newShop = (settings: object = {}) =>
  service.newOrganisation({ rate_limit_per_minute: 10_000, ...settings })

const clientOf = (organisation: NewOrganisation, options: ClientOptions = {}) =>
  new TryOnClient({ apiKey: organisation.api_keys.test, baseUrl: service.url, ...options })

before(async () => {
  shop = await newShop()
  client = clientOf(shop)
})

/** A `fetch` that loses the response to its first request, after the service has handled it. */
function losingFirstResponse(): Fetch {
  let lost = false
  return async (url, init) => {
    const response = await fetch(url, init)
    if (lost) return response
    lost = true
    throw new TypeError('fetch failed')
  }
}

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('jobs', () => {
  it('are submitted, read and awaited', async () => {
    const submitted = await client.tryOn.submit(scenario('delay/1'))
    assert.equal(submitted.status, 'pending')
    const early = await client.jobs.get(submitted.job_id)
    assert.equal(early.output_url, null)
    const statuses: string[] = []
    const job = await client.jobs.wait(submitted.job_id, {
      onUpdate: ({ status }) => void statuses.push(status),
    })
    assert.equal(job.status, 'completed')
    assert.equal(statuses.at(-1), 'completed')
    assert.ok(statuses.length > 1, statuses.join())
  })

  it('run to a picture that can be downloaded', async () => {
    const job = await client.tryOn.run(IMAGES)
    const picture = await fetch(job.output_url ?? '')
    assert.equal(picture.status, 200)
    assert.match(picture.headers.get('Content-Type') ?? '', /^image\//)
    await client.jobs.deleteOutput(job.job_id)
    assert.equal((await client.jobs.get(job.job_id)).output_url, null)
  })

  it('that fail become a JobError', async () => {
    const failure = await client.tryOn.run(scenario('fail/person_not_found')).catch((e) => e)
    assert.ok(failure instanceof JobError && failure instanceof TryOnError)
    assert.equal(failure.code, 'person_not_found')
    assert.equal(failure.job.status, 'failed')
  })

  it('are created once when the response to the submission is lost', async () => {
    const shop = await newShop()
    const unlucky = clientOf(shop, { fetch: losingFirstResponse() })
    const job = await unlucky.tryOn.run(IMAGES)
    const jobs = await all(unlucky.jobs.list())
    assert.deepEqual(
      jobs.map(({ job_id: id }) => id),
      [job.job_id],
    )
  })

  it('are cancelled while they are pending', async () => {
    const { job_id: id } = await client.tryOn.submit(scenario('pending/60'))
    const expected = { job_id: id, status: 'refunded', refunded_credits: 0 }
    assert.deepEqual(await client.jobs.cancel(id), expected)
    await assert.rejects(client.jobs.cancel(id), { name: 'ApiError', code: 'job_not_cancellable' })
  })

  it('are cancelled when the response to the cancellation is lost', async () => {
    const { job_id: id } = await client.tryOn.submit(scenario('pending/60'))
    const cancelled = await clientOf(shop, { fetch: losingFirstResponse() }).jobs.cancel(id)
    assert.deepEqual(cancelled, { job_id: id, status: 'refunded', refunded_credits: 0 })
  })

  it('are listed over several pages, with filters', async () => {
    const client = clientOf(await newShop())
    const ids: string[] = []
    for (let index = 0; index < 5; index++) {
      ids.unshift((await client.tryOn.run(IMAGES)).job_id)
    }
    await client.tryOn.run(scenario('fail/generation_failed')).catch(() => {})
    const listed = await all(client.jobs.list({ status: 'completed', limit: 2 }))
    assert.deepEqual(
      listed.map(({ job_id: id }) => id),
      ids,
    )
    const first = await client.jobs.list({ limit: 4 }).page()
    assert.equal(first.has_more, true)
    const second = await client.jobs.list({ limit: 4, cursor: first.next_cursor ?? '' }).page()
    assert.deepEqual([first.jobs.length, second.jobs.length, second.has_more], [4, 2, false])
    const since = new Date(listed[1]!.created_at)
    const recent = await all(client.jobs.list({ status: 'completed', created_after: since }))
    assert.deepEqual(
      recent.map(({ job_id: id }) => id),
      ids.slice(0, 2),
    )
    const future = new Date(Date.now() + 60_000)
    assert.deepEqual(await all(client.jobs.list({ created_after: future })), [])
  })
})

describe('uploads', () => {
  it('can be used in jobs', async () => {
    const photo = await readFile(join(ROOT, 'samples', 'model.jpg'))
    const upload = await client.uploads.create(photo)
    assert.ok(Date.parse(upload.expires_at) > Date.now())
    const job = await client.tryOn.run({ ...IMAGES, model_image_url: upload.url })
    assert.equal(job.status, 'completed')
    const text = new TextEncoder().encode('not a picture')
    await assert.rejects(client.uploads.create(text), { status: 422, code: 'validation_error' })
  })
})

describe('the account', () => {
  it('is read with its workspaces', async () => {
    const account = await client.account.get()
    assert.deepEqual([account.org_id, account.credits], [shop.org_id, 100])
    const [workspace] = await client.workspaces.list()
    assert.deepEqual([workspace?.id, workspace?.status], [shop.workspaces[0]?.id, 'active'])
  })
})

describe('errors', () => {
  it('have the code, the request id and a page of the documentation', async () => {
    const apiKey = shop.api_keys.test.replace(/.{8}$/, '00000000')
    const error = await new TryOnClient({ apiKey, baseUrl: service.url }).account
      .get()
      .catch((e) => e)
    assert.ok(error instanceof ApiError)
    assert.deepEqual([error.status, error.code], [401, 'invalid_api_key'])
    assert.match(error.requestId ?? '', /./)
    assert.equal(error.docsUrl, `${service.url}/docs/errors#invalid_api_key`)
  })

  it('are distinguished by their code', async () => {
    const poor = await newShop({ credits: 0 })
    const live = clientOf(poor, { apiKey: poor.api_keys.live })
    await assert.rejects(live.tryOn.submit(IMAGES), { status: 402, code: 'insufficient_credits' })
    await assert.rejects(client.tryOn.submit({ ...IMAGES, model_image_url: 'x' }), {
      status: 422,
      code: 'validation_error',
    })
    await assert.rejects(client.jobs.get('job_1'), { status: 404, code: 'job_not_found' })
  })

  it('have the seconds to wait after too many requests', async () => {
    const limited = clientOf(await newShop({ rate_limit_per_minute: 1 }), { maxRetries: 0 })
    await limited.account.get()
    const error = await limited.account.get().catch((e) => e)
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'rate_limit_exceeded')
    assert.ok((error.retryAfterSeconds ?? 0) > 0)
  })

  it('have the cause of a failed connection', async () => {
    const baseUrl = 'http://127.0.0.1:1'
    const unreachable = new TryOnClient({ apiKey: 'svc_test_sk_1', baseUrl, maxRetries: 0 })
    const error = await unreachable.account.get().catch((e) => e)
    assert.ok(error instanceof ConnectionError)
    assert.ok(error.cause instanceof TypeError)
    assert.match(error.message, /127\.0\.0\.1:1/)
  })
})

describe('webhooks', () => {
  it('of the service are verified, and tampered ones are rejected', async () => {
    const receiver = await receiveOne()
    await client.tryOn
      .run({ ...scenario('fail/person_not_found'), webhook_url: receiver.url })
      .catch(() => {})
    const { body, headers } = await receiver.delivery
    const webhook = { body, headers, secret: shop.webhook_secret }
    const event = await webhooks.verify(webhook)
    assert.equal(event.type, 'job.failed')
    assert.equal(event.data.error_code, 'person_not_found')
    const tampered = body.toString().replace('person_not_found', 'internal_error')
    await assert.rejects(webhooks.verify({ ...webhook, body: tampered }), WebhookVerificationError)
  })
})

/** Receives one webhook. */
async function receiveOne() {
  const { promise, resolve } = Promise.withResolvers<{
    body: Buffer
    headers: IncomingHttpHeaders
  }>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    response.end()
    server.close()
    resolve({ body: Buffer.concat(chunks), headers: request.headers })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, delivery: promise }
}

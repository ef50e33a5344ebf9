// Delivery of webhooks, with the retry delays of vitest.config: 1, 1 and 2 seconds.
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { eventIdOf } from '../../src/platform/ids.ts'
import { deliverEvent, nextDelaySeconds } from '../../src/webhooks/delivery/deliver.ts'
import { expectComponent } from '../support/documented.ts'
import { fakeUpstream } from '../support/upstream.ts'
import {
  finished,
  newOrganisation,
  readJob,
  submit,
  type TestOrganisation,
} from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

const upstream = fakeUpstream()

const HOOK = 'https://hooks.test/try-on'

/** Waits until a job's webhook has this status. */
const waitForStatus = (shop: TestOrganisation, jobId: string, status: string) =>
  vi.waitUntil(async () => (await readJob(shop.test, jobId))['webhook_status'] === status, {
    interval: 50,
  })

async function storedAttempts(jobId: string) {
  const { results } = await jobsDb(eventIdOf(jobId))
    .prepare(
      'select number, response_status as status, response_body as body, error from webhook_attempts where event_id = ? order by number',
    )
    .bind(eventIdOf(jobId))
    .all<{ number: number; status: number | null; body: string | null; error: string | null }>()
  return results
}

describe('deliverEvent', () => {
  it('sends the job as it is in lists, with a Standard Webhooks signature', async () => {
    const shop = await newOrganisation()
    upstream.on(HOOK, () => new Response('thanks'))
    const { job_id } = await submit(shop.test, { webhook_url: HOOK })
    await waitForStatus(shop, job_id, 'delivered')

    const [delivery] = upstream.seen(HOOK)
    expect(delivery).toMatchObject({ method: 'POST' })
    expect(delivery!.headers.get('content-type')).toBe('application/json')
    expect(delivery!.headers.get('webhook-id')).toBe(eventIdOf(job_id))
    const body = new Webhook(shop.webhookSecret).verify(
      delivery!.body,
      Object.fromEntries(delivery!.headers),
    )
    expectComponent('WebhookBody', body)
    const { webhook_url, webhook_status, output_url, ...listed } = await readJob(shop.test, job_id)
    expect(body).toEqual({
      type: 'job.completed',
      timestamp: expect.stringMatching(/Z$/),
      data: { ...listed, output_url: expect.stringContaining(`/outputs/${job_id}.png?`) },
    })
    expect([webhook_url, webhook_status, typeof output_url]).toEqual([HOOK, 'delivered', 'string'])
    expect(await storedAttempts(job_id)).toEqual([
      { number: 1, status: 200, body: 'thanks', error: null },
    ])
  })

  it('reports a refund', async () => {
    const shop = await newOrganisation()
    vi.spyOn(env.JOBS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
    upstream.on(HOOK, () => new Response())
    const { job_id } = await submit(shop.live, { webhook_url: HOOK })
    await shop.live.delete(`/v1/jobs/${job_id}`)
    await waitForStatus(shop, job_id, 'delivered')
    expect(JSON.parse(upstream.seen(HOOK)[0]!.body)).toMatchObject({
      type: 'job.refunded',
      data: { job_id, status: 'refunded', output_url: null },
    })
  })

  it('signs with both secrets during a rotation', async () => {
    const shop = await newOrganisation()
    const previous = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    await jobsDb(shop.orgId)
      .prepare(
        'UPDATE added_webhook_endpoints SET secret_previous = ?, secret_previous_until = ? WHERE organisation_id = ?',
      )
      .bind(previous, Date.now() + 60_000, shop.orgId)
      .run()
    upstream.on(HOOK, () => new Response())
    const { job_id } = await submit(shop.test, { webhook_url: HOOK })
    await waitForStatus(shop, job_id, 'delivered')
    const { headers, body } = upstream.seen(HOOK)[0]!
    expect(headers.get('webhook-signature')?.split(' ')).toHaveLength(2)
    for (const secret of [shop.webhookSecret, previous]) {
      expect(() => new Webhook(secret).verify(body, Object.fromEntries(headers))).not.toThrow()
    }
  })
})

describe('a failed attempt', () => {
  it('is retried with the same id until it succeeds', async () => {
    const shop = await newOrganisation()
    let calls = 0
    upstream.on(HOOK, () => new Response(`call ${++calls}`, { status: calls < 3 ? 503 : 200 }))
    const { job_id } = await submit(shop.test, { webhook_url: HOOK })
    await waitForStatus(shop, job_id, 'retrying')
    await waitForStatus(shop, job_id, 'delivered')
    const ids = upstream.seen(HOOK).map(({ headers }) => headers.get('webhook-id'))
    expect(ids).toEqual(Array.from({ length: 3 }, () => eventIdOf(job_id)))
    expect((await storedAttempts(job_id)).map(({ status }) => status)).toEqual([503, 503, 200])
  })

  it('is not retried when no retries are left', async () => {
    const shop = await newOrganisation()
    upstream.on(HOOK, () => new Response('x'.repeat(5_000), { status: 500 }))
    const { job_id } = await submit(shop.test, { webhook_url: HOOK })
    await waitForStatus(shop, job_id, 'failed')
    const attempts = await storedAttempts(job_id)
    expect(attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 500],
      [2, 500],
      [3, 500],
      [4, 500],
    ])
    expect(attempts.map(({ body }) => body?.length)).toEqual([128, 128, 128, 1_024])
  }, 15_000)

  it('is not retried when the receiver responds with 410', async () => {
    const shop = await newOrganisation()
    upstream.on(HOOK, () => new Response('gone', { status: 410 }))
    const { job_id } = await submit(shop.test, { webhook_url: HOOK })
    await waitForStatus(shop, job_id, 'failed')
    expect(await storedAttempts(job_id)).toMatchObject([{ status: 410 }])
  })

  it.each<[string, () => Response, object]>([
    [
      'a redirect without following it',
      () => new Response(null, { status: 307, headers: { Location: 'https://other.test/' } }),
      { status: 307, error: null },
    ],
    [
      'a timeout',
      () => {
        throw new DOMException('The operation was aborted due to timeout', 'TimeoutError')
      },
      { status: null, error: expect.stringContaining('TimeoutError') },
    ],
  ])('is recorded: %s', async (_, reply, attempt) => {
    const shop = await newOrganisation()
    upstream.on(HOOK, reply)
    const { job_id } = await submit(shop.test, { webhook_url: HOOK })
    await waitForStatus(shop, job_id, 'retrying')
    expect((await storedAttempts(job_id))[0]).toMatchObject(attempt)
    upstream.on(HOOK, () => new Response())
    await waitForStatus(shop, job_id, 'delivered')
  })

  it.each([
    ['private', 'http://10.0.0.1/'],
    ['this service itself', 'https://try-on.test.:8443/v1/tryon'],
    ['this service itself', 'https://api.shop.example./v1/tryon'],
  ])('is recorded without a request for a URL that is %s: %s', async (problem, url) => {
    const shop = await newOrganisation()
    vi.spyOn(env.WEBHOOKS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
    const { job_id } = await submit(shop.test, { webhook_url: HOOK })
    await finished(shop.test, job_id)
    // Earlier settings may have allowed such a URL.
    await jobsDb(eventIdOf(job_id))
      .prepare('update webhook_events set url = ? where id = ?')
      .bind(url, eventIdOf(job_id))
      .run()
    const withBaseUrl = Object.assign(
      { ...env },
      { BASE_URL: 'https://api.shop.example', DEV_MAILBOX: 'false' },
    )
    await deliverEvent({ env: withBaseUrl, eventId: eventIdOf(job_id) })
    expect(await storedAttempts(job_id)).toMatchObject([
      { status: null, error: expect.stringContaining(problem) },
    ])
  })
})

describe('repeated messages', () => {
  it('do not send an event again after it was delivered', async () => {
    const shop = await newOrganisation()
    upstream.on(HOOK, () => new Response())
    const { job_id } = await submit(shop.test, { webhook_url: HOOK })
    await waitForStatus(shop, job_id, 'delivered')
    await Promise.all([1, 2, 3].map(() => deliverEvent({ env, eventId: eventIdOf(job_id) })))
    await deliverEvent({ env, eventId: 'evt_unknown' })
    expect(upstream.seen(HOOK)).toHaveLength(1)
  })

  it('cause one attempt when they are concurrent', async () => {
    const shop = await newOrganisation()
    const send = vi
      .spyOn(env.WEBHOOKS, 'send')
      .mockRejectedValue(new Error('the queue is unavailable'))
    upstream.on(HOOK, () => new Response())
    const { job_id } = await submit(shop.test, { webhook_url: HOOK })
    await finished(shop.test, job_id)
    await vi.waitUntil(() => send.mock.calls.length > 0)
    expect(await readJob(shop.test, job_id)).toMatchObject({ webhook_status: 'pending' })
    await Promise.all([1, 2, 3].map(() => deliverEvent({ env, eventId: eventIdOf(job_id) })))
    expect(upstream.seen(HOOK)).toHaveLength(1)
    expect(await readJob(shop.test, job_id)).toMatchObject({ webhook_status: 'delivered' })
  })
})

describe('nextDelaySeconds', () => {
  const DELAYS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]

  it('varies each delay by up to 20 percent', () => {
    for (const [index, delay] of DELAYS.entries()) {
      expect(nextDelaySeconds(DELAYS, index + 1, 0)).toBe(Math.round(delay * 0.8))
      expect(nextDelaySeconds(DELAYS, index + 1, 0.5)).toBe(delay)
      expect(nextDelaySeconds(DELAYS, index + 1, 0.999_999)).toBe(Math.round(delay * 1.2))
    }
    expect(nextDelaySeconds(DELAYS, DELAYS.length + 1, 0.5)).toBeNull()
  })

  it('applies Retry-After up to twice the delay', () => {
    expect(nextDelaySeconds(DELAYS, 2, 0.5, 100)).toBe(300)
    expect(nextDelaySeconds(DELAYS, 2, 0.5, 450)).toBe(450)
    expect(nextDelaySeconds(DELAYS, 2, 0.5, 6_000)).toBe(600)
  })
})

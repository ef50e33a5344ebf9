// The scenarios of test mode that hold or withdraw a job, and which URLs are scenarios.
// test/jobs/process covers fail and delay, test/api/scenario-rejections covers refuse.
import { createMessageBatch, getQueueResult, createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import worker from '../../src/index.ts'
import { giveUpJob, processJob } from '../../src/jobs/processing/process.ts'
import { errorOf } from '../support/client.ts'
import { dropMessages } from '../support/live-job.ts'
import { count, pass } from '../support/retention.ts'
import { fakeUpstream } from '../support/upstream.ts'
import {
  finished,
  IMAGES,
  newOrganisation,
  operator,
  readJob,
  submit,
  type TestOrganisation,
} from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'
import { sweep } from '../support/sweep.ts'

const upstream = fakeUpstream()
afterEach(() => void vi.useRealTimers())

const HOOK = 'https://hooks.test/scenario'
const scenario = (path: string) => `https://test.invalid/${path}`
const accepted = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } }

/** Submits a test job with a scenario in one URL or both, and drops its message. */
async function held(model: string, garment = 'shirt.jpg') {
  vi.useFakeTimers({ toFake: ['Date'] })
  dropMessages()
  vi.spyOn(env.WEBHOOKS, 'send').mockResolvedValue(accepted)
  const send = vi.mocked(env.TEST_JOBS.send)
  const shop = await newOrganisation()
  const { job_id: jobId } = await submit(shop.test, {
    model_image_url: scenario(model),
    garment_image_url: scenario(garment),
    webhook_url: HOOK,
  })
  const delays = send.mock.calls.map(([, options]) => options?.delaySeconds)
  return { shop, jobId, delays, run: () => processJob({ env, jobId, mode: 'test' }) }
}

const statusOf = async ({ test }: TestOrganisation, jobId: string) =>
  (await readJob(test, jobId)).status

const attemptsOf = (jobId: string) =>
  jobsDb(jobId).prepare('SELECT attempts FROM jobs WHERE id = ?').bind(jobId).first('attempts')

const eventsOf = async ({ orgId }: TestOrganisation) => {
  const { results } = await jobsDb(orgId)
    .prepare('SELECT type FROM webhook_events WHERE organisation_id = ?')
    .bind(orgId)
    .all()
  return results.map(({ type }) => type)
}

describe('/pending/{seconds}', () => {
  it('delays the message and holds the job pending until then, without an attempt', async () => {
    const { shop, jobId, delays, run } = await held('pending/30')
    expect(delays).toEqual([30])
    expect(await run()).toBe(30)
    pass(29_500)
    expect(await run()).toBe(1)
    expect(await statusOf(shop, jobId)).toBe('pending')
    expect(await attemptsOf(jobId)).toBe(0)
    pass(500)
    expect(await run()).toBeUndefined()
    expect(await readJob(shop.test, jobId)).toMatchObject({ status: 'completed', duration_ms: 0 })
    expect(await attemptsOf(jobId)).toBe(1)
  })

  it('retries an early message through the queue', async () => {
    const { jobId } = await held('pending/5')
    const body = { jobId, mode: 'test' }
    const message = { id: 'm', timestamp: new Date(), attempts: 1, body }
    const batch = createMessageBatch('tryon-test-jobs', [message])
    const context = createExecutionContext()
    await worker.queue(batch, env, context)
    const { retryMessages, explicitAcks } = await getQueueResult(batch, context)
    expect([retryMessages.map(({ msgId }) => msgId), explicitAcks]).toEqual([['m'], []])
  })

  it('can be cancelled while it is held, with the event job.refunded', async () => {
    const { shop, jobId, run } = await held('pending/60')
    const response = await shop.test.delete(`/v1/jobs/${jobId}`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      job_id: jobId,
      status: 'refunded',
      refunded_credits: 0,
    })
    expect(await eventsOf(shop)).toEqual(['job.refunded'])
    pass(61_000)
    expect(await run()).toBeUndefined()
    expect(await statusOf(shop, jobId)).toBe('refunded')
  })

  it('precedes the delay and the failure of the other URL', async () => {
    const { shop, jobId, run } = await held('pending/10', 'delay/20')
    pass(10_000)
    await run()
    expect(await statusOf(shop, jobId)).toBe('processing')
    expect((await shop.test.delete(`/v1/jobs/${jobId}`)).status).toBe(409)
    pass(20_000)
    await run()
    expect(await statusOf(shop, jobId)).toBe('completed')

    const failing = await held('fail/garment_not_found', 'pending/10')
    pass(10_000)
    await failing.run()
    expect(await readJob(failing.shop.test, failing.jobId)).toMatchObject({
      status: 'failed',
      error_code: 'garment_not_found',
    })
  })

  it('uses the longer time of two', async () => {
    expect((await held('pending/3', 'pending/7')).delays).toEqual([7])
  })

  it.each(['pending/0', 'delay/0', 'model.jpg'])('does not hold a job with /%s', async (path) => {
    const { shop, jobId, delays, run } = await held(path)
    expect(delays).toEqual([undefined])
    expect(await run()).toBeUndefined()
    expect(await statusOf(shop, jobId)).toBe('completed')
  })

  it('is requeued by the sweep a minute after the hold, if its message is lost', async () => {
    const { jobId } = await held('pending/60')
    vi.spyOn(env.WEBHOOKS, 'sendBatch').mockResolvedValue(accepted)
    const sendBatch = vi.spyOn(env.TEST_JOBS, 'sendBatch').mockResolvedValue(accepted)
    const swept = () =>
      sendBatch.mock.calls.flatMap(([messages]) =>
        [...messages].filter(({ body }) => JSON.stringify(body).includes(jobId)),
      )
    pass(119_000)
    await sweep(env)
    expect(swept()).toEqual([])
    pass(2_000)
    await sweep(env)
    expect(swept()).toHaveLength(1)
  })

  it('stays pending when its message is dead-lettered', async () => {
    const { shop, jobId } = await held('pending/60')
    await giveUpJob({ env, jobId, mode: 'test' })
    expect(await statusOf(shop, jobId)).toBe('pending')
  })

  it('is withdrawn when the organisation is suspended', async () => {
    const { shop, jobId } = await held('pending/60')
    await operator.patch(`/operator/organisations/${shop.orgId}`, { status: 'suspended' })
    expect(await count('jobs', "id = ? AND status = 'cancelled'", jobId)).toBe(1)
  })

  it('runs after the hold with the real queue', async () => {
    upstream.on(HOOK, () => new Response('thanks'))
    const shop = await newOrganisation()
    const body = { model_image_url: scenario('pending/1'), webhook_url: HOOK }
    const { job_id: jobId } = await submit(shop.test, body)
    expect(await statusOf(shop, jobId)).toBe('pending')
    expect(await finished(shop.test, jobId)).toMatchObject({ status: 'completed' })
    await vi.waitUntil(
      async () => (await readJob(shop.test, jobId))['webhook_status'] === 'delivered',
    )
  })
})

describe('/withdraw', () => {
  it('ends the job as cancelled, with the event job.cancelled', async () => {
    upstream.on(HOOK, () => new Response('thanks'))
    const shop = await newOrganisation()
    const { job_id: jobId } = await submit(shop.test, {
      garment_image_url: scenario('withdraw'),
      webhook_url: HOOK,
    })
    expect(await finished(shop.test, jobId)).toMatchObject({
      status: 'cancelled',
      credits_consumed: null,
      error_code: null,
    })
    await vi.waitUntil(
      async () => (await readJob(shop.test, jobId))['webhook_status'] === 'delivered',
    )
    const { type, data } = JSON.parse(upstream.seen(HOOK)[0]!.body)
    expect([type, data.job_id, data.status]).toEqual(['job.cancelled', jobId, 'cancelled'])
  })

  it('waits for the hold of the other URL, and takes precedence over its failure', async () => {
    const { shop, jobId, delays, run } = await held('withdraw', 'pending/20')
    expect(delays).toEqual([20])
    expect(await run()).toBe(20)
    pass(20_000)
    await run()
    expect(await statusOf(shop, jobId)).toBe('cancelled')
    expect(await attemptsOf(jobId)).toBe(0)

    const failing = await held('fail/generation_failed', 'withdraw')
    await failing.run()
    expect(await statusOf(failing.shop, failing.jobId)).toBe('cancelled')
  })

  it('ends the job when only the sweep finds it', async () => {
    const { shop, jobId } = await held('withdraw')
    await processJob({ env, jobId, mode: 'test', swept: true })
    expect(await statusOf(shop, jobId)).toBe('cancelled')
  })
})

describe('a URL on test.invalid', () => {
  it.each([
    ['pending/61', /^model_image_url must end in 0 to 60 whole seconds after \/pending\/\.$/],
    ['pending/', /after \/pending\//],
    ['pending/1.5', /after \/pending\//],
    ['refuse/validation_error', /must end in one of insufficient_credits, account_suspended, rate/],
    ['refuse', /after \/refuse\//],
  ])('is rejected with the possible values: /%s', async (path, message) => {
    const shop = await newOrganisation()
    const response = await shop.test.post('/v1/tryon', {
      ...IMAGES,
      model_image_url: scenario(path),
    })
    expect(response.status).toBe(422)
    expect((await errorOf(response)).message).toMatch(message)
  })

  it.each(['', 'model.jpg', 'images/model.png', 'other/1', 'toString/1'])(
    'is an image: /%s',
    async (path) => {
      const shop = await newOrganisation()
      const { job_id } = await submit(shop.test, { model_image_url: scenario(path) })
      expect(await finished(shop.test, job_id)).toMatchObject({ status: 'completed' })
    },
  )

  it.each(['pending/1', 'refuse/internal_error', 'withdraw'])(
    'is rejected in live mode: /%s',
    async (path) => {
      const shop = await newOrganisation()
      const body = { ...IMAGES, model_image_url: scenario(path) }
      const response = await shop.live.post('/v1/tryon', body)
      expect(response.status).toBe(422)
      expect((await errorOf(response)).message).toContain('which is for test mode only')
    },
  )
})

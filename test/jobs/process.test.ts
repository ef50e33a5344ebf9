// Processing of jobs from submission to end, through the real queues.
import { env } from 'cloudflare:workers'
import {
  createExecutionContext,
  createMessageBatch,
  createScheduledController,
} from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import worker from '../../src/index.ts'
import { newId } from '../../src/platform/ids.ts'
import { giveUpJob, processJob } from '../../src/jobs/processing/process.ts'
import { sweepJobs } from '../../src/jobs/sweep.ts'
import { JOB_ERROR_CODES } from '../../src/domain/job.ts'
import { picture as generated, scripted, useEngines } from '../support/fake-engines.ts'
import { fakeUpstream } from '../support/upstream.ts'
import {
  finished,
  ledgerOf,
  newOrganisation,
  operator,
  readJob,
  submit,
  failJobQueues,
} from '../support/world.ts'
import garment from '../../samples/garment.png'
import model from '../../samples/model.jpg'
import { jobsDb } from '../support/jobs-database.ts'
import { loadCompositor } from '../support/compositor.ts'

await loadCompositor()

const upstream = fakeUpstream()

const MODEL = 'https://cdn.test/model'
const GARMENT = 'https://cdn.test/garment'
const LOOP = 'https://cdn.test/loop'
const URLS = { model_image_url: MODEL, garment_image_url: GARMENT }

const picture = (bytes: ArrayBuffer) => () => new Response(bytes)
const redirect = (to: string) => () =>
  new Response(null, { status: 302, headers: { Location: to } })
const bytes = (...parts: (number | string)[]) =>
  Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === 'number' ? [part] : Array.from(part, (char) => char.charCodeAt(0)),
    ),
  )
const MB = 1024 * 1024

describe('processJob: a live job', () => {
  it('follows three redirects and accepts an image of exactly 10 MB', async () => {
    useEngines(scripted('engine', { start: [generated], paid: false }))
    const shop = await newOrganisation()
    const padded = new Uint8Array(10 * MB)
    padded.set(new Uint8Array(garment)) // bytes after the end of a PNG are ignored
    upstream
      .on(MODEL, redirect('/model/1'))
      .on('https://cdn.test/model/1', redirect('//cdn.test/model/2'))
      .on('https://cdn.test/model/2', redirect('https://cdn.test/model/3'))
      .on('https://cdn.test/model/3', picture(model))
      .on(GARMENT, () => new Response(padded, { headers: { 'Content-Type': 'text/html' } }))
    const { job_id } = await submit(shop.live, URLS)
    expect(await finished(shop.live, job_id)).toMatchObject({ status: 'completed' })
  })

  it.each<[string, string, () => Response]>([
    ['status 404', 'unreachable', () => new Response('no', { status: 404 })],
    ['status 500', 'unreachable', () => new Response('no', { status: 500 })],
    [
      'a refused connection',
      'unreachable',
      () => {
        throw new TypeError('connection refused')
      },
    ],
    ['an endless redirect', 'unreachable', redirect(LOOP)],
    ['a redirect into a private network', 'unreachable', redirect('http://10.0.0.7/a.png')],
    ['a redirect to an invalid URL', 'unreachable', redirect('http://[')],
    ['more than 10 MB', 'too_large', () => new Response(new Uint8Array(10 * MB + 1))],
    ['an empty body', 'unsupported_format', () => new Response('')],
    [
      'an HTML page',
      'unsupported_format',
      () => new Response('<html>', { headers: { 'Content-Type': 'image/png' } }),
    ],
    ['a GIF', 'unsupported_format', () => new Response('GIF89a')],
    ['a PNG without a header', 'corrupt', () => new Response(bytes(0x89, 'PNG\r\n', 0x1a, '\n'))],
    ['a JPEG without image data', 'corrupt', () => new Response(bytes(0xff, 0xd8, 0xff, 0xd9))],
    ['a truncated JPEG', 'corrupt', () => new Response(model.slice(0, model.byteLength / 2))],
  ])('fails without a charge for %s', async (_, problem, reply) => {
    const shop = await newOrganisation({ default_webhook_url: 'https://hooks.test/failed' })
    upstream.on('https://hooks.test/failed', () => new Response())
    for (const [role, bad, good, goodBytes] of [
      ['model', MODEL, GARMENT, garment],
      ['garment', GARMENT, MODEL, model],
    ] as const) {
      upstream.on(bad, reply).on(good, picture(goodBytes)).on(LOOP, redirect(LOOP))
      const { job_id } = await submit(shop.live, URLS)
      expect(await finished(shop.live, job_id)).toMatchObject({
        status: 'failed',
        error_code: `${role}_image_${problem}`,
        credits_consumed: null,
      })
    }
    expect(await ledgerOf(shop)).toEqual({ granted: 100, balance: 100, reserved: 0, consumed: 0 })
    await vi.waitUntil(() => upstream.seen('https://hooks.test/failed').length === 2)
    const { type } = JSON.parse(upstream.seen('https://hooks.test/failed')[0]!.body)
    expect(type).toBe('job.failed')
  })

  it('reports the model image when both images are invalid', async () => {
    const shop = await newOrganisation()
    upstream
      .on(MODEL, () => new Response('no', { status: 404 }))
      .on(GARMENT, () => new Response('no', { status: 404 }))
    const { job_id } = await submit(shop.live, URLS)
    expect(await finished(shop.live, job_id)).toMatchObject({
      error_code: 'model_image_unreachable',
    })
  })

  it('is charged once when its message arrives several times', async () => {
    useEngines(scripted('engine', { start: [generated], paid: false }))
    const shop = await newOrganisation({ credits: 5 })
    upstream.on(MODEL, picture(model)).on(GARMENT, picture(garment))
    failJobQueues()
    const { job_id } = await submit(shop.live, URLS)
    await Promise.all([1, 2, 3].map(() => processJob({ env, jobId: job_id })))
    await processJob({ env, jobId: job_id })
    expect(await readJob(shop.live, job_id)).toMatchObject({ status: 'completed' })
    expect(upstream.seen(MODEL)).toHaveLength(1)
    expect(await ledgerOf(shop)).toEqual({ granted: 5, balance: 4, reserved: 0, consumed: 1 })
  })

  it('completes with the picture that an earlier attempt stored', async () => {
    // Without a composition: a slow attempt would acknowledge its message.
    useEngines(scripted('engine', { start: [generated], paid: false }))
    const shop = await newOrganisation({ credits: 1 })
    failJobQueues()
    const { job_id } = await submit(shop.live, URLS)
    upstream.on(MODEL, picture(model)).on(GARMENT, picture(garment))
    // The first attempt fails between storing the picture and ending the job.
    const db = jobsDb(job_id)
    const real = db.batch.bind(db)
    const batch = vi
      .spyOn(db, 'batch')
      .mockImplementationOnce((statements) => real(statements))
      .mockRejectedValueOnce(new Error('D1 is unavailable'))
    expect(await processJob({ env, jobId: job_id })).toBeGreaterThan(0)
    batch.mockRestore()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
    await processJob({ env, jobId: job_id })
    vi.useRealTimers()
    expect(await readJob(shop.live, job_id)).toMatchObject({ status: 'completed' })
    expect(upstream.seen(MODEL)).toHaveLength(1)
  })
})

describe('processJob: a stored job whose submission failed', () => {
  it('fails when the sweep finds it, because its credit was released', async () => {
    const shop = await newOrganisation({ credits: 1 })
    failJobQueues()
    const { job_id } = await submit(shop.live, URLS)
    await env.ORGANISATION.getByName(shop.orgId).release([job_id])
    await processJob({ env, jobId: job_id, swept: true })
    expect(await readJob(shop.live, job_id)).toMatchObject({
      status: 'failed',
      error_code: 'internal_error',
    })
    expect(await ledgerOf(shop)).toEqual({ granted: 1, balance: 1, reserved: 0, consumed: 0 })
  })
})

describe('processJob: test mode', () => {
  it.each(JOB_ERROR_CODES)('fails with %s for its scenario', async (code) => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test, {
      garment_image_url: `https://test.invalid/fail/${code}`,
    })
    expect(await finished(shop.test, job_id)).toMatchObject({ status: 'failed', error_code: code })
  })

  it('combines a delay and a failure', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test, {
      model_image_url: 'https://test.invalid/delay/1',
      garment_image_url: 'https://test.invalid/fail/generation_rejected',
    })
    await vi.waitUntil(async () => (await readJob(shop.test, job_id)).status === 'processing')
    expect(await finished(shop.test, job_id)).toMatchObject({ error_code: 'generation_rejected' })
  })

  it('sends no request', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test, URLS)
    expect(await finished(shop.test, job_id)).toMatchObject({ status: 'completed' })
    expect(upstream.seen()).toEqual([])
  })
})

describe('processJob: a pending job of a suspended organisation', () => {
  it('is withdrawn', async () => {
    const shop = await newOrganisation({ credits: 1 })
    failJobQueues()
    const { job_id } = await submit(shop.live, URLS)
    // A suspension between admission and insert does not withdraw the job.
    await env.DB.prepare("update organisations set status = 'suspended' where id = ?")
      .bind(shop.orgId)
      .run()
    await processJob({ env, jobId: job_id })
    const list = await (await shop.test.get('/v1/jobs')).json<{ jobs: { status: string }[] }>()
    expect(list.jobs[0]?.status).toBe('cancelled')
    expect(await ledgerOf(shop)).toEqual({ granted: 1, balance: 1, reserved: 0, consumed: 0 })
  })
})

describe('giveUpJob', () => {
  it('fails a job that was started and releases its credit', async () => {
    const shop = await newOrganisation({ credits: 1 })
    failJobQueues()
    const { job_id } = await submit(shop.live, URLS)
    const abandoned =
      "update jobs set status = 'processing', started_at = ?, due_at = 0 where id = ?"
    await jobsDb(job_id).prepare(abandoned).bind(Date.now(), job_id).run()
    await giveUpJob({ env, jobId: job_id })
    expect(await readJob(shop.live, job_id)).toMatchObject({
      status: 'failed',
      error_code: 'internal_error',
    })
    expect(await ledgerOf(shop)).toMatchObject({ balance: 1, reserved: 0 })
  })

  it('leaves a job that was not started to the sweep', async () => {
    const shop = await newOrganisation({ credits: 1 })
    failJobQueues()
    const { job_id } = await submit(shop.live, URLS)
    await giveUpJob({ env, jobId: job_id })
    expect(await readJob(shop.live, job_id)).toMatchObject({ status: 'pending' })
    await shop.live.delete(`/v1/jobs/${job_id}`)
  })

  it('does not change a completed job', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test)
    await finished(shop.test, job_id)
    await giveUpJob({ env, jobId: job_id })
    expect(await readJob(shop.test, job_id)).toMatchObject({ status: 'completed' })
  })
})

describe('the sweep', () => {
  const cron = () => worker.scheduled(createScheduledController(), env)
  const sweepAt = async (now: number, sweep = () => sweepJobs(env)) => {
    vi.useFakeTimers({ toFake: ['Date'], now })
    await sweep()
    vi.useRealTimers()
  }

  it('requeues a job without a message, once per interval', async () => {
    const shop = await newOrganisation()
    const send = failJobQueues()
    const { job_id } = await submit(shop.test)
    send.mockRestore()
    const sendBatch = vi.spyOn(env.TEST_JOBS, 'sendBatch')
    const queued = () =>
      sendBatch.mock.calls.flatMap(([messages]) =>
        Array.from(messages, ({ body }) => (body as { jobId: string }).jobId),
      )
    await sweepAt(Date.now() + 10_000)
    expect(queued()).not.toContain(job_id)
    sendBatch.mockResolvedValueOnce({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } })
    await sweepAt(Date.now() + 61_000)
    expect(queued().filter((id) => id === job_id)).toHaveLength(1)
    await sweepAt(Date.now() + 121_000)
    expect(queued().filter((id) => id === job_id)).toHaveLength(1)
    await sweepAt(Date.now() + 61_000 + 14 * 60_000)
    expect(queued().filter((id) => id === job_id)).toHaveLength(1)
    await sweepAt(Date.now() + 61_000 + 16 * 60_000)
    expect(queued().filter((id) => id === job_id)).toHaveLength(2)
    expect(await finished(shop.test, job_id)).toMatchObject({ status: 'completed' })
  })

  it('requeues a job whose consumer crashed, which fails after the deadline', async () => {
    const shop = await newOrganisation({ credits: 1 })
    failJobQueues()
    const { job_id } = await submit(shop.live, URLS)
    // A consumer that claims the job and crashes.
    const claim = "update jobs set status = 'processing', started_at = ?, due_at = ? where id = ?"
    await jobsDb(job_id)
      .prepare(claim)
      .bind(Date.now(), Date.now() + 120_000, job_id)
      .run()
    await processJob({ env, jobId: job_id })
    expect(await readJob(shop.live, job_id)).toMatchObject({ status: 'processing' })
    vi.restoreAllMocks()
    await sweepAt(Date.now() + 6 * 60_000, cron)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * 60_000 })
    await processJob({ env, jobId: job_id })
    vi.useRealTimers()
    expect(await readJob(shop.live, job_id)).toMatchObject({
      status: 'failed',
      error_code: 'generation_timeout',
    })
    expect(await ledgerOf(shop)).toMatchObject({ balance: 1, reserved: 0 })
  })

  it('acknowledges unknown jobs and retries malformed messages', async () => {
    const batch = createMessageBatch<unknown>('tryon-jobs', [
      { id: '1', timestamp: new Date(), attempts: 1, body: { jobId: newId('job') } },
      { id: '2', timestamp: new Date(), attempts: 1, body: 'nonsense' },
    ])
    const retry = vi.spyOn(batch.messages[1]!, 'retry')
    await worker.queue(batch, env, createExecutionContext())
    expect(retry).toHaveBeenCalledOnce()
  })
})

describe('withdrawJob', () => {
  it('sends the webhook event', async () => {
    const shop = await newOrganisation({ default_webhook_url: 'https://hooks.test/withdrawn' })
    upstream.on('https://hooks.test/withdrawn', () => new Response())
    failJobQueues()
    const { job_id } = await submit(shop.live, URLS)
    await operator.post(`/operator/jobs/${job_id}/withdraw`)
    await vi.waitUntil(() => upstream.seen('https://hooks.test/withdrawn').length === 1)
    expect(JSON.parse(upstream.seen()[0]!.body)).toMatchObject({
      type: 'job.cancelled',
      data: { job_id, status: 'cancelled' },
    })
  })
})

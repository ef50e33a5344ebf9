// The reason of a failure: what is stored of it, and that clients of /v1 do not see it.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { JobFailure } from '../../src/domain/failure.ts'
import { eventIdOf } from '../../src/platform/ids.ts'
import { recordOf } from '../../src/jobs/processing/failure-record.ts'
import { giveUpJob, processJob } from '../../src/jobs/processing/process.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { ambiguous, over, picture, running, scripted, useEngines } from '../support/fake-engines.ts'
import { dropMessages, fakePictures, MODEL, newJob, PICTURES } from '../support/live-job.ts'
import { newOrganisation, readJob, submit } from '../support/world.ts'
import { jobsDb, spyBatch } from '../support/jobs-database.ts'

const upstream = fakePictures()

const REASON = '12 % of the old top stays visible.'
const problem = new JobFailure('generation_failed', REASON, { audience: 'members' })

const reasonOf = (message: string) =>
  recordOf(new JobFailure('generation_failed', message)).failureReason
const bytesOf = (text: string | null) => new TextEncoder().encode(text ?? '').length

describe('a stored reason', () => {
  it('has no URLs and no secrets', () => {
    expect(reasonOf('GET https://cdn.test/a.jpg?signature=abc failed')).toBe('GET [url] failed')
    expect(reasonOf('bad data:image/png;base64,AAAA')).toBe('bad [url]')
    expect(reasonOf('s3://bucket/key and (HTTP://A.TEST)')).toBe('[url] and ([url]')
    const secrets = 'Bearer abc.def svc_live_sk_0123456789 whsec_c2VjcmV0 eyJhbGci.eyJzdWIi.c2ln'
    expect(reasonOf(secrets)).not.toMatch(/abc|0123|c2V|c2ln/)
  })

  it('is one line without invisible characters', () => {
    expect(reasonOf(' The person\r\n\t is\u202e cut\u0000off.\u200b')).toBe(
      'The person is cut off.',
    )
  })

  it.each(['x', 'é', '€', '😀', 'a😀'])('has at most 300 bytes of whole characters: %s', (text) => {
    const reason = reasonOf(text.repeat(1_000)) ?? ''
    expect(bytesOf(reason)).toBeLessThanOrEqual(300)
    expect(bytesOf(reason)).toBeGreaterThan(290)
    expect(reason.isWellFormed()).toBe(true)
    expect(reason).toMatch(/…$/)
  })

  it('is complete up to 300 bytes', () => {
    expect(reasonOf('€'.repeat(100))).toBe('€'.repeat(100))
    expect(bytesOf(reasonOf('€'.repeat(101)))).toBe(300)
  })

  it.each(['', ' \n', '\u200b'])('is null without text: %j', (message) => {
    expect(reasonOf(message)).toBeNull()
  })

  it('is for staff unless the failure says otherwise', () => {
    expect(recordOf(new JobFailure('generation_failed', REASON)).failureAudience).toBe('staff')
    expect(recordOf(problem)).toEqual({
      errorCode: 'generation_failed',
      failureReason: REASON,
      failureAudience: 'members',
    })
  })

  it('of an unexpected exception contains its name and not its message', () => {
    const expected = { errorCode: 'internal_error', failureAudience: 'staff' }
    expect(recordOf(new TypeError('password=hunter2'))).toEqual({
      ...expected,
      failureReason: 'unexpected TypeError: see the log',
    })
    expect(recordOf('hunter2').failureReason).toBe('unexpected exception: see the log')
  })
})

describe('a job that fails', () => {
  it('stores the reason in the write that ends it', async () => {
    useEngines(scripted('embedded', { start: [problem], paid: false }))
    const { job, row } = await newJob()
    const batch = spyBatch()
    await job.run()
    expect(await row()).toMatchObject({ failureReason: REASON, failureAudience: 'members' })
    // The claim and the end.
    expect(batch).toHaveBeenCalledTimes(2)
  })

  it('stores a reason for staff when a hosted engine fails', async () => {
    const message = 'fashn job: ContentModerationError: nudity'
    const rejected = new JobFailure('generation_rejected', message)
    useEngines(scripted('fashn', { start: [rejected] }))
    const { job, row } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ failureReason: message, failureAudience: 'staff' })
  })

  it('stores a reason for staff when an engine crashes', async () => {
    useEngines(scripted('broken', { start: [new TypeError('secret')], paid: false }))
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { job, row } = await newJob()
    for (let at = 0; at < 6; at++) await job.run(at * 70_000)
    expect(await row()).toMatchObject({
      status: 'failed',
      failureReason: 'unexpected TypeError: see the log',
      failureAudience: 'staff',
    })
  })

  it('stores the failures of all engines', async () => {
    useEngines(
      scripted('one', { start: [over()] }),
      scripted('two', { start: [ambiguous()] }),
      scripted('three', { start: [ambiguous()] }),
    )
    const { job, row } = await newJob()
    await job.run()
    await job.run(10_000)
    expect(await row()).toMatchObject({
      status: 'failed',
      failureReason: expect.stringMatching(/over, scripted.*ambiguous, scripted/),
      failureAudience: 'staff',
    })
  })

  it('keeps the earlier failure when no start is left', async () => {
    const engine = scripted('hosted', { start: [ambiguous()] })
    useEngines(engine)
    const { job, row } = await newJob()
    await job.run()
    // As after a crash during the second start.
    await jobsDb(job.id)
      .prepare('UPDATE jobs SET ambiguous_starts = 2 WHERE id = ?')
      .bind(job.id)
      .run()
    await job.run(60_000)
    expect(engine.start).toHaveBeenCalledTimes(1)
    expect((await row()).failureReason).toMatch(/^no paid start is left; .*ambiguous, scripted/)
  })

  it('stores the latest failure while it waits, and keeps it when its retries are spent', async () => {
    const { job, row, shop } = await newJob()
    useEngines(scripted('slow', { start: [running('h')], poll: [over()] }))
    await job.run()
    await job.run(10_000)
    const waiting = await row()
    expect(waiting).toMatchObject({ status: 'processing', failureReason: over().message })
    expect(await readJob(shop.live, job.id)).toMatchObject({ error_code: null })
    vi.setSystemTime(waiting.dueAt.getTime() + 1)
    await giveUpJob({ env, jobId: job.id })
    expect(await row()).toMatchObject({ status: 'failed', failureReason: over().message })
  })

  it('says so when it fails without an attempt that ended', async () => {
    const { job, row } = await newJob()
    useEngines(scripted('slow', { start: [running('h')] }))
    await job.run()
    vi.setSystemTime((await row()).dueAt.getTime() + 1)
    await giveUpJob({ env, jobId: job.id })
    expect((await row()).failureReason).toBe('no attempt ended, and no retry is left')
  })

  it('names the deadline', async () => {
    const { job, row } = await newJob({ JOB_DEADLINE_SECONDS: '60' })
    useEngines(scripted('slow', { start: [running('h')], poll: [running('h')] }))
    await job.run()
    await job.run(400_000)
    expect(await row()).toMatchObject({
      errorCode: 'generation_timeout',
      failureReason: 'no picture was ready before the deadline',
      failureAudience: 'members',
    })
  })

  it.each([
    ['a status', () => new Response('', { status: 404 }), 'the server responded with 404'],
    ['a format', () => new Response('GIF89a'), 'the file is not a JPEG, PNG or WebP'],
    [
      'a redirect',
      () => new Response(null, { status: 302, headers: { Location: 'http://10.0.0.7/?key=1' } }),
      'the URL must not point to a private, loopback or link-local host',
    ],
  ])('tells members about an image: %s', async (_, reply, failureReason) => {
    useEngines(scripted('unused', { start: [picture] }))
    const { job, row } = await newJob()
    upstream.on(MODEL, reply)
    await job.run()
    expect(await row()).toMatchObject({ failureReason, failureAudience: 'members' })
  })

  it('tells only staff what the runtime says about an image', async () => {
    useEngines(scripted('unused', { start: [picture] }))
    const { job, row } = await newJob()
    upstream.on(MODEL, () => {
      throw new TypeError('cannot load https://cdn.test/model?signature=abc')
    })
    await job.run()
    expect(await row()).toMatchObject({
      errorCode: 'model_image_unreachable',
      failureReason: 'cannot load [url]',
      failureAudience: 'staff',
    })
  })
})

it('a job that completes after a failure has no reason', async () => {
  const { job, row } = await newJob()
  useEngines(scripted('flaky', { start: [over(), picture] }))
  await job.run()
  expect(await row()).toMatchObject({ failureReason: expect.any(String) })
  await job.run(60_000)
  expect(await row()).toMatchObject({
    status: 'completed',
    errorCode: null,
    failureReason: null,
    failureAudience: null,
  })
})

it('the reason is neither in /v1 nor in webhooks', async () => {
  const hook = 'https://hooks.test/failed'
  upstream.on(hook, () => new Response())
  vi.spyOn(env.WEBHOOKS, 'send').mockImplementation(async () => {
    return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } }
  })
  dropMessages()
  useEngines(scripted('embedded', { start: [problem], paid: false }))
  const shop = await newOrganisation()
  const pending = await submit(shop.live, { ...PICTURES, webhook_url: hook })
  const fields = Object.keys(await readJob(shop.live, pending.job_id))
  await processJob({ env, jobId: pending.job_id })
  await deliverEvent({ env, eventId: eventIdOf(pending.job_id) })

  const job = await readJob(shop.live, pending.job_id)
  expect(job).toMatchObject({ status: 'failed', error_code: 'generation_failed' })
  expect(Object.keys(job)).toEqual(fields)
  const list = await (await shop.live.get('/v1/jobs')).text()
  const [{ body } = { body: '' }] = upstream.seen(hook)
  expect(JSON.parse(body).type).toBe('job.failed')
  for (const text of [JSON.stringify(job), list, body]) {
    expect(text).not.toMatch(/old top|reason|audience/)
  }
})

// generate: the order of the engines, and the handling of running work.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { jobsDatabase } from '../../src/platform/db/database.ts'
import { jobs } from '../../src/platform/db/schema.ts'
import * as end from '../../src/jobs/processing/end.ts'
import * as claims from '../../src/jobs/processing/claims.ts'
import { JobFailure } from '../../src/domain/failure.ts'
import {
  alive,
  over,
  picture,
  refused,
  rejected,
  running,
  scripted,
  useEngines,
} from '../support/fake-engines.ts'
import { copies, fakePictures, MODEL, newJob } from '../support/live-job.ts'
import { jpeg } from '../support/picture.ts'
import { ledgerOf } from '../support/world.ts'

const upstream = fakePictures()

describe('generate: the order of engines', () => {
  it('records the engine without showing it to clients', async () => {
    const made = scripted('made', { start: [picture], paid: false })
    useEngines(made)
    const { job, row, read } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'made', ambiguousStarts: 0 })
    expect(JSON.stringify(await read())).not.toContain('made')
  })

  it('tries the next engine after a rejection, with one download and one credit', async () => {
    const full = scripted('full', { start: [refused(30)] })
    const next = scripted('next', { start: [picture] })
    useEngines(full, next)
    const { job, row, shop } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'next', attempts: 1 })
    expect(upstream.seen()).toHaveLength(2)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 99, reserved: 0, consumed: 1 })
  })

  it('does not try another engine for a rejected picture', async () => {
    const strict = scripted('strict', { start: [rejected] })
    const other = scripted('other', { start: [picture] })
    useEngines(strict, other)
    const { job, row } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_rejected' })
    expect(other.start).not.toHaveBeenCalled()
  })

  it('requeues for the first available engine and uses the stored copies', async () => {
    const slow = scripted('slow', { start: [refused(50), refused(50), refused(50)] })
    const soon = scripted('soon', { start: [refused(7), refused(7), picture] })
    useEngines(slow, soon)
    const { job, row, sent } = await newJob()
    await job.run()
    expect(sent()).toEqual([7])
    expect(await row()).toMatchObject({ status: 'processing', attempts: 0, ambiguousStarts: 0 })
    await job.run(8_000)
    await job.run(16_000)
    expect(await row()).toMatchObject({ status: 'completed', engine: 'soon' })
    expect(upstream.seen()).toHaveLength(2)
    expect(await copies(await row())).toEqual([])
  })

  it('fails with engine_unavailable when all engines reject until the deadline', async () => {
    const full = scripted('full', { start: [refused(600)] })
    useEngines(full)
    const { job, row, sent } = await newJob()
    await job.run()
    await job.run(70_000)
    await job.run(140_000)
    await job.run(210_000)
    expect(sent()).toEqual([60, 60, 60, 60])
    await job.run(280_000)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'engine_unavailable' })
  })

  it('limits retries when an engine rejects the job itself', async () => {
    const picky = scripted('picky', {
      start: [new JobFailure('generation_failed', 'no', { retriable: true, work: 'refused' })],
    })
    useEngines(picky)
    const { job, row } = await newJob()
    for (let at = 0; at < 14; at++) await job.run(at * 20_000)
    expect(picky.start).toHaveBeenCalledTimes(6)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_failed' })
  })
})

describe('generate: running work', () => {
  it('is polled by further messages with the latest handle', async () => {
    const engine = scripted('engine', {
      start: [running('a')],
      poll: [running('b'), picture],
    })
    useEngines(engine)
    const { job, row, sent } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({
      status: 'processing',
      engine: 'engine',
      engineHandle: 'a',
      ambiguousStarts: 0,
    })
    await job.run()
    await job.run()
    expect(engine.poll.mock.calls).toEqual([['a'], ['b']])
    expect(sent()).toEqual([0, 0])
    expect(await row()).toMatchObject({
      status: 'completed',
      engine: 'engine',
      engineHandle: null,
      attempts: 1,
    })
  })

  it('does not lose its handle when polls fail', async () => {
    const polls = [...Array.from({ length: 8 }, () => alive()), alive(40), new TypeError('bug')]
    const engine = scripted('engine', { start: [running('a')], poll: [...polls, picture] })
    const other = scripted('other', { start: [picture] })
    useEngines(engine, other)
    const { job, row, sent } = await newJob()
    await job.run()
    for (const seconds of [10, 20, 30, 40, 50, 65, 85, 105, 125, 170]) {
      await job.run(seconds * 1_000)
      expect(await row()).toMatchObject({ status: 'processing', engineHandle: 'a', attempts: 1 })
    }
    expect(sent()).toContain(40)
    await job.run(250_000)
    expect(await row()).toMatchObject({ status: 'completed', engine: 'engine' })
    expect(engine.start).toHaveBeenCalledTimes(1)
    expect(other.start).not.toHaveBeenCalled()
  })

  it('is started on the next engine when it ended without a picture', async () => {
    const engine = scripted('engine', { start: [running('a')], poll: [over()] })
    const next = scripted('next', { start: [running('n')], poll: [picture] })
    useEngines(engine, next)
    const { job, row } = await newJob()
    await job.run()
    await job.run()
    expect(await row()).toMatchObject({ engine: 'next', engineHandle: 'n', attempts: 2 })
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'next' })
  })

  it('is started at most six times', async () => {
    const engine = scripted('engine', { start: [running('a')], poll: [over()] })
    useEngines(engine)
    const { job, row } = await newJob()
    for (let at = 0; at < 14; at++) await job.run(at * 20_000)
    expect(engine.start).toHaveBeenCalledTimes(6)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'engine_unavailable' })
  })

  it('fails with the final error of the engine', async () => {
    const engine = scripted('engine', { start: [running('a')], poll: [rejected] })
    const next = scripted('next', { start: [picture] })
    useEngines(engine, next)
    const { job, row } = await newJob()
    await job.run()
    await job.run()
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_rejected' })
    expect(next.start).not.toHaveBeenCalled()
  })

  it('is started on another engine when its engine is no longer configured', async () => {
    const gone = scripted('gone', { start: [running('a')] })
    const next = scripted('next', { start: [picture] })
    useEngines(gone)
    const { job, row } = await newJob()
    await job.run()
    useEngines(next)
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'next' })
  })

  it('is not paid for again when its picture cannot be stored', async () => {
    const engine = scripted('engine', { start: [running('a')], poll: [picture] })
    useEngines(engine)
    const { job, row } = await newJob()
    await job.run()
    vi.spyOn(env.IMAGES, 'put')
      .mockRejectedValueOnce(new Error('R2'))
      .mockRejectedValueOnce(new Error('R2'))
    await job.run()
    expect(await row()).toMatchObject({ status: 'processing', engineHandle: 'a' })
    await job.run(5_000)
    expect(await row()).toMatchObject({ status: 'completed' })
    expect(engine.start).toHaveBeenCalledTimes(1)
  })
})

describe('a consumer', () => {
  it('does not start work when another consumer has claimed the job', async () => {
    const engine = scripted('engine', { start: [picture] })
    useEngines(engine)
    const { job, row } = await newJob()
    upstream.on(MODEL, async () => {
      await jobsDatabase(env, job.id)
        .update(jobs)
        .set({ dueAt: new Date(Date.now() + 60_000) })
      return new Response(jpeg())
    })
    expect(await job.run()).toBeUndefined()
    expect(engine.start).not.toHaveBeenCalled()
    expect(await row()).toMatchObject({ status: 'processing', engine: null, ambiguousStarts: 0 })
  })

  it('does not lose a handle when one write fails', async () => {
    const engine = scripted('engine', { start: [running('a')] })
    useEngines(engine)
    const { job, row } = await newJob()
    const { saveClaim } = claims
    vi.spyOn(claims, 'saveClaim')
      .mockImplementationOnce(saveClaim)
      .mockRejectedValueOnce(new Error('D1'))
    await job.run()
    expect(await row()).toMatchObject({ engine: 'engine', engineHandle: 'a', ambiguousStarts: 0 })
  })

  it('does not generate a second picture when settling fails', async () => {
    const engine = scripted('engine', { start: [picture] })
    useEngines(engine)
    const { job, row } = await newJob()
    vi.spyOn(end, 'endJob').mockRejectedValueOnce(new Error('D1'))
    expect(await job.run()).toBe(2)
    await job.run(3_000)
    expect(await row()).toMatchObject({ status: 'completed', engine: 'engine' })
    expect(engine.start).toHaveBeenCalledTimes(1)
  })
})

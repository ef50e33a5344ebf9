// Ambiguous starts: paid starts whose outcome is unknown, so that each may be charged.
import { describe, expect, it, vi } from 'vitest'
import type { JobRow } from '../../src/platform/db/schema.ts'
import {
  ambiguous,
  picture,
  refused,
  running,
  scripted,
  useEngines,
} from '../support/fake-engines.ts'
import { fakePictures, newJob } from '../support/live-job.ts'
import { ledgerOf } from '../support/world.ts'

fakePictures()

describe('an ambiguous start', () => {
  it('is written to D1 before it is made', async () => {
    const engine = scripted('engine', { start: [picture] })
    useEngines(engine)
    const { job, row } = await newJob()
    let before: JobRow | undefined
    engine.start.mockImplementation(async () => {
      before = await row()
      return picture
    })
    await job.run()
    expect(before).toMatchObject({ engine: 'engine', ambiguousStarts: 1, engineHandle: null })
  })

  it('is followed by one start on the next engine', async () => {
    const lost = scripted('lost', { start: [ambiguous()] })
    const next = scripted('next', { start: [picture] })
    useEngines(lost, next)
    const { job, row } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'next' })
  })

  it('is not followed by a third start', async () => {
    const lost = scripted('lost', { start: [ambiguous()] })
    const lostToo = scripted('lost too', { start: [ambiguous()] })
    const third = scripted('third', { start: [picture] })
    useEngines(lost, lostToo, third)
    const { job, row, shop } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'engine_unavailable' })
    expect(third.start).not.toHaveBeenCalled()
    expect(await ledgerOf(shop)).toMatchObject({ balance: 100, reserved: 0 })
  })

  it('is repeated once on the only engine, regardless of rejections in between', async () => {
    const only = scripted('only', { start: [ambiguous(), refused(1), refused(1), ambiguous()] })
    useEngines(only)
    const { job, row } = await newJob()
    for (const atMs of [0, 5_000, 10_000, 15_000, 20_000, 30_000]) await job.run(atMs)
    expect(only.start).toHaveBeenCalledTimes(4)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'engine_unavailable' })
  })

  it('does not prevent a start on a free engine', async () => {
    const lost = scripted('lost', { start: [ambiguous()] })
    const lostToo = scripted('lost too', { start: [ambiguous()] })
    const free = scripted('free', { start: [picture], paid: false })
    useEngines(lost, lostToo, free)
    const { job, row } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ status: 'completed', engine: 'free' })
  })

  it('is counted after a crash between the start and its handle', async () => {
    const engine = scripted('engine', { start: [running('a')] })
    useEngines(engine)
    const { job, row } = await newJob()
    const crash = () => {
      engine.start.mockImplementationOnce(() => new Promise(() => {}))
      void job.run()
    }
    crash()
    await vi.waitUntil(() => engine.start.mock.calls.length === 1)
    expect(await row()).toMatchObject({ ambiguousStarts: 1, engineHandle: null })
    // No other consumer can claim the job during the lease.
    await job.run(100_000)
    expect(engine.start).toHaveBeenCalledTimes(1)
    // The start after the lease counts as the repetition.
    await job.run(201_000)
    expect(await row()).toMatchObject({ ambiguousStarts: 2, engineHandle: 'a', attempts: 2 })
  })

  it('includes an engine that throws an unexpected error', async () => {
    const broken = scripted('broken', { start: [new TypeError('no such property')] })
    useEngines(broken)
    const { job, row } = await newJob()
    await job.run()
    expect(await row()).toMatchObject({ ambiguousStarts: 1, errorCode: 'internal_error' })
    await job.run(5_000)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'internal_error' })
    expect(broken.start).toHaveBeenCalledTimes(2)
  })
})

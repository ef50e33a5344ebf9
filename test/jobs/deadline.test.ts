// The deadline of a job, whatever its engine does.
import { describe, expect, it, vi } from 'vitest'
import { running, scripted, useEngines } from '../support/fake-engines.ts'
import { fakePictures, newJob } from '../support/live-job.ts'
import { ledgerOf } from '../support/world.ts'

fakePictures()

describe('the deadline', () => {
  it('cancels what runs, and fails the job with generation_timeout', async () => {
    const engine = scripted('engine', { start: [running('a')], poll: [running('a')] })
    useEngines(engine)
    const { job, row, shop } = await newJob()
    await job.run()
    await job.run(299_000)
    await job.run(300_000)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_timeout' })
    expect(engine.cancel).toHaveBeenCalledExactlyOnceWith('a')
    expect(engine.poll).toHaveBeenCalledTimes(1)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 100, reserved: 0 })
  })

  it('is never slept over', async () => {
    const engine = scripted('engine', {
      start: [{ done: false, handle: 'a', pollAfterSeconds: 3_600 }],
    })
    useEngines(engine)
    const { job, sent } = await newJob()
    await job.run()
    expect(sent()).toEqual([300])
  })

  it('does not wait for an engine that does not answer, and cancels what it begins too late', async () => {
    const engine = scripted('engine', { start: [] })
    let answer: (late: ReturnType<typeof running>) => void = () => {}
    engine.start.mockImplementation(() => new Promise((resolve) => (answer = resolve)))
    useEngines(engine)
    const { job, row } = await newJob({ JOB_DEADLINE_SECONDS: '1' })
    await job.run()
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_timeout' })
    answer(running('late'))
    await vi.waitUntil(() => engine.cancel.mock.calls.length === 1)
  })

  it('fails a cancelled job even if the provider refuses the cancellation', async () => {
    const engine = scripted('engine', { start: [running('a')] })
    engine.cancel.mockRejectedValue(new Error('409'))
    useEngines(engine)
    const { job, row } = await newJob()
    await job.run()
    await job.run(301_000)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_timeout' })
  })
})

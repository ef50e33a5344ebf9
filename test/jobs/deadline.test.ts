// Alone: it replaces timers, which messages of other files would set.
// The deadline of a job.
import { describe, expect, it, vi } from 'vitest'
import { running, scripted, useEngines } from '../support/fake-engines.ts'
import { fakePictures, newJob } from '../support/live-job.ts'
import { ledgerOf } from '../support/world.ts'

fakePictures()

describe('the deadline', () => {
  it('cancels the work and fails the job with generation_timeout', async () => {
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

  it('limits the delay of the next message', async () => {
    const engine = scripted('engine', {
      start: [{ done: false, handle: 'a', pollAfterSeconds: 3_600 }],
    })
    useEngines(engine)
    const { job, sent } = await newJob()
    await job.run()
    expect(sent()).toEqual([300])
  })

  it('ends the wait for an engine and cancels a late start', async () => {
    const engine = scripted('engine', { start: [] })
    let respond: (late: ReturnType<typeof running>) => void = () => {}
    engine.start.mockImplementation(() => new Promise((resolve) => (respond = resolve)))
    useEngines(engine)
    const { job, row } = await newJob()
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
    const ended = job.run()
    await vi.waitUntil(() => engine.start.mock.calls.length === 1)
    await vi.advanceTimersByTimeAsync(300_000)
    await ended
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_timeout' })
    respond(running('late'))
    await vi.waitUntil(() => engine.cancel.mock.calls.length === 1)
  })

  it('fails the job even if the provider rejects the cancellation', async () => {
    const engine = scripted('engine', { start: [running('a')] })
    engine.cancel.mockRejectedValue(new Error('409'))
    useEngines(engine)
    const { job, row } = await newJob()
    await job.run()
    await job.run(301_000)
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'generation_timeout' })
  })
})

// The effect of an engine's circuit breaker on jobs.
import { describe, expect, it } from 'vitest'
import { picture, refused, scripted, useEngines } from '../support/fake-engines.ts'
import { copies, fakePictures, newJob } from '../support/live-job.ts'

fakePictures()

describe('the circuit breaker', () => {
  it('pauses an engine for all jobs for the requested time', async () => {
    const busy = scripted('busy', { start: [refused(20), picture] })
    useEngines(busy)
    const first = await newJob()
    await first.job.run()
    expect(first.sent()).toEqual([20])
    const second = await newJob()
    await second.job.run(5_000)
    expect(second.sent()).toEqual([15])
    expect(busy.start).toHaveBeenCalledTimes(1)
    await second.job.run(20_000)
    expect(await second.row()).toMatchObject({ status: 'completed', attempts: 1 })
    expect(await copies(await second.row())).toEqual([])
  })

  it('skips an engine after repeated failures until the breaker half-opens', async () => {
    const failing = scripted('failing', { start: [refused()] })
    const healthy = scripted('healthy', { start: [picture] })
    useEngines(failing, healthy)
    const starts: number[] = []
    for (const laterMs of [0, 0, 0, 0, 0, 0, 0, 31_000, 0]) {
      const { job, row } = await newJob()
      await job.run(laterMs)
      expect(await row()).toMatchObject({ status: 'completed', engine: 'healthy' })
      starts.push(failing.start.mock.calls.length)
    }
    expect(starts).toEqual([1, 2, 3, 4, 5, 5, 5, 6, 6])
  })
})

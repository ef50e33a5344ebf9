// Copies of a job's inputs: stored when needed, deleted when the job ends.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { giveUpJob } from '../../src/jobs/processing/process.ts'
import { picture, refused, running, scripted, useEngines } from '../support/fake-engines.ts'
import { copies, fakePictures, newJob } from '../support/live-job.ts'

fakePictures()

describe('copies of inputs', () => {
  it('are stored for engines that need URLs, with a new URL per start, until the job ends', async () => {
    const urls: string[] = []
    const first = scripted('first', { start: [] })
    const second = scripted('second', { start: [] })
    first.start.mockImplementation(async ({ model }) => {
      urls.push(await model.url())
      throw refused()
    })
    second.start.mockImplementation(async ({ model, garment }) => {
      urls.push(await model.url(), await garment.url())
      return running('a')
    })
    second.poll.mockResolvedValue(picture)
    useEngines(first, second)
    const { job, row } = await newJob()
    await job.run()
    expect(urls).toHaveLength(3)
    const { id } = await row()
    expect(urls[0]).toMatch(`https://try-on.test/inputs/${id}/model.jpg?expires=`)
    expect(await copies(await row())).toEqual([
      `inputs/${id}/garment.png`,
      `inputs/${id}/model.jpg`,
    ])
    await job.run()
    expect(await copies(await row())).toEqual([])
  })

  it('are deleted when giveUpJob fails the job', async () => {
    const engine = scripted('engine', { start: [refused()] })
    useEngines(engine)
    const { job, row } = await newJob()
    await job.run()
    expect(await copies(await row())).toHaveLength(2)
    vi.setSystemTime(Date.now() + 10_000)
    await giveUpJob({ env, jobId: (await row()).id })
    expect(await row()).toMatchObject({ status: 'failed', errorCode: 'engine_unavailable' })
    expect(await copies(await row())).toEqual([])
  })
})

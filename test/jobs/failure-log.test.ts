// The log of failures: code and reason, and the cause of unexpected exceptions.
import { expect, it, vi } from 'vitest'
import { rejected, scripted, useEngines } from '../support/fake-engines.ts'
import { fakePictures, newJob } from '../support/live-job.ts'

fakePictures()

/** Runs one job on the engine. @returns the logged errors */
async function errorsOf(engine: ReturnType<typeof scripted>): Promise<string> {
  useEngines(engine)
  const { job } = await newJob()
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  await job.run()
  const lines = log.mock.calls.map(String).join()
  log.mockRestore()
  return lines
}

it('logs an unexpected exception of an engine with its stack', async () => {
  const broken = scripted('broken', { start: [new TypeError('no such property')] })
  expect(await errorsOf(broken)).toMatch(/engine failed.*TypeError: no such property.*stack/)
})

it('does not log a rejected picture as an error', async () => {
  expect(await errorsOf(scripted('strict', { start: [rejected] }))).toBe('')
})

it('logs the code and the reason of a failed job', async () => {
  useEngines(scripted('strict', { start: [rejected] }))
  const { job } = await newJob()
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await job.run()
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)) as object)
  log.mockRestore()
  expect(lines).toContainEqual(
    expect.objectContaining({
      event: 'job ended',
      jobId: job.id,
      status: 'failed',
      errorCode: 'generation_rejected',
      docsUrl: '/docs/errors#generation_rejected',
      reason: 'unsafe, scripted by the test',
    }),
  )
})

// The log of failures: unexpected exceptions are logged with their cause.
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

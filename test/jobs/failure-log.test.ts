// What the log says of failures: of our own faults the cause, so that they can be found.
import { expect, it, vi } from 'vitest'
import { rejected, scripted, useEngines } from '../support/fake-engines.ts'
import { fakePictures, newJob } from '../support/live-job.ts'

fakePictures()

/** Runs one job on the engine. @returns the lines of the log that are errors */
async function errorsOf(engine: ReturnType<typeof scripted>): Promise<string> {
  useEngines(engine)
  const { job } = await newJob()
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  await job.run()
  const lines = log.mock.calls.map(String).join()
  log.mockRestore()
  return lines
}

it('an engine that breaks down is logged with its exception and stack', async () => {
  const broken = scripted('broken', { start: [new TypeError('no such property')] })
  expect(await errorsOf(broken)).toMatch(/engine failed.*TypeError: no such property.*stack/)
})

it('a picture that an engine rejects is no error', async () => {
  expect(await errorsOf(scripted('strict', { start: [rejected] }))).toBe('')
})

// What the log says of failures: of our own faults the cause, so that they can be found.
import { expect, it, vi } from 'vitest'
import { processJob } from '../../src/jobs/process.ts'
import { env } from 'cloudflare:workers'
import { rejected, scripted, useEngines } from '../support/fake-engines.ts'
import { jpeg, png } from '../support/picture.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { newOrganisation, submit } from '../support/world.ts'

const upstream = fakeUpstream()
const IMAGES = {
  model_image_url: 'https://cdn.test/model',
  garment_image_url: 'https://cdn.test/garment',
}

/** Runs one job on the engine. @returns the lines of the log that are errors */
async function errorsOf(engine: ReturnType<typeof scripted>): Promise<string> {
  upstream
    .on(IMAGES.model_image_url, () => new Response(jpeg()))
    .on(IMAGES.garment_image_url, () => new Response(png()))
  useEngines(engine)
  const { live } = await newOrganisation()
  const { job_id: jobId } = await submit(live, IMAGES)
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  await processJob({ env, jobId })
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

// Lost claims: two consumers of the same job, and pictures that were stored before a crash.
import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import * as end from '../../src/jobs/processing/end.ts'
import { picture, running, scripted, useEngines } from '../support/fake-engines.ts'
import { fakePictures, MODEL, newJob, PICTURES } from '../support/live-job.ts'
import { jpeg, png } from '../support/picture.ts'
import { ledgerOf } from '../support/world.ts'

const upstream = fakePictures()

it('completes after the deadline with a picture that was stored before a crash', async () => {
  useEngines(scripted('engine', { start: [running('a')], poll: [running('a'), picture] }))
  const { shop, job, read } = await newJob()
  await job.run(0)
  await job.run(140_000, { swept: true })
  let release: (result: Awaited<ReturnType<typeof end.endJob>>) => void = () => {}
  const never = new Promise<Parameters<typeof release>[0]>((resolve) => (release = resolve))
  vi.spyOn(end, 'endJob').mockReturnValueOnce(never) // the crash
  const crashed = job.run(160_000, { swept: true })
  const stored = async () => (await env.IMAGES.list({ prefix: `outputs/${job.id}` })).objects.length
  await vi.waitUntil(async () => (await stored()) === 1)
  await vi.waitUntil(() => vi.mocked(end.endJob).mock.calls.length === 1)
  await job.run(311_000, { swept: true })
  expect(await read()).toMatchObject({ status: 'completed' })
  expect(await ledgerOf(shop)).toMatchObject({ consumed: 1, reserved: 0 })
  release({ ended: undefined, addedEventIds: [], found: undefined })
  await crashed
})

it('does not fail a job after its lease while another consumer works on it', async () => {
  const engine = scripted('engine', { start: [running('a')], poll: [picture] })
  useEngines(engine)
  const { shop, job, read } = await newJob()
  const { garment_image_url: garment } = PICTURES
  const busy = () => new Response('busy', { status: 503 })
  upstream.on(garment, busy).on(MODEL, async () => {
    await vi.waitUntil(() => upstream.seen(garment).length === 1)
    upstream.on(MODEL, () => new Response(jpeg())).on(garment, () => new Response(png()))
    await job.run(151_000, { swept: true }) // another consumer, after a sweep
    return busy()
  })
  await job.run(0)
  expect(await read()).toMatchObject({ status: 'processing' })
  await job.run(160_000, { swept: true })
  expect(await read()).toMatchObject({ status: 'completed' })
  expect(engine.cancel).not.toHaveBeenCalled()
  expect(await ledgerOf(shop)).toMatchObject({ consumed: 1, reserved: 0 })
})

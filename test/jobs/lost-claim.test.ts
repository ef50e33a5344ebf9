// Two consumers that each believe to have the job, and pictures that a crash left behind.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { processJob } from '../../src/jobs/process.ts'
import * as store from '../../src/jobs/store.ts'
import { picture, running, scripted, useEngines } from '../support/fake-engines.ts'
import { jpeg, png } from '../support/picture.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { ledgerOf, newOrganisation, readJob, submit } from '../support/world.ts'

const upstream = fakeUpstream()
const [MODEL, GARMENT] = ['https://cdn.test/model', 'https://cdn.test/garment']
const SENT = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } }

beforeEach(() => {
  upstream.on(MODEL, () => new Response(jpeg())).on(GARMENT, () => new Response(png()))
})
afterEach(() => void vi.useRealTimers())

/** A live job, and what runs a message for it so long (ms) after it was submitted. */
async function newJob() {
  vi.spyOn(env.JOBS, 'send').mockResolvedValue(SENT)
  const shop = await newOrganisation()
  const order = { model_image_url: MODEL, garment_image_url: GARMENT }
  const { job_id: jobId } = await submit(shop.live, order)
  vi.useFakeTimers({ toFake: ['Date'] })
  const begunAt = Date.now()
  const run = (afterMs: number) => {
    vi.setSystemTime(begunAt + afterMs)
    return processJob({ env, jobId, swept: afterMs > 0 })
  }
  return { shop, jobId, run }
}

it('completes with a picture that a crash left stored, though the deadline is past', async () => {
  useEngines(scripted('engine', { start: [running('a')], poll: [running('a'), picture] }))
  const { shop, jobId, run } = await newJob()
  await run(0)
  await run(140_000)
  let letGo: (nothing: Awaited<ReturnType<typeof store.endJob>>) => void = () => {}
  const dead = new Promise<Parameters<typeof letGo>[0]>((resolve) => (letGo = resolve))
  vi.spyOn(store, 'endJob').mockReturnValueOnce(dead) // it dies here
  const died = run(160_000)
  const stored = async () => (await env.IMAGES.list({ prefix: `outputs/${jobId}` })).objects.length
  await vi.waitUntil(async () => (await stored()) === 1)
  await vi.waitUntil(() => vi.mocked(store.endJob).mock.calls.length === 1)
  await run(311_000)
  expect(await readJob(shop.live, jobId)).toMatchObject({ status: 'completed' })
  expect(await ledgerOf(shop)).toMatchObject({ consumed: 1, reserved: 0 })
  letGo({ ended: undefined, found: undefined })
  await died
})

it('is not failed by a consumer whose lease is over, while another has work running', async () => {
  const engine = scripted('engine', { start: [running('a')], poll: [picture] })
  useEngines(engine)
  const { shop, jobId, run } = await newJob()
  upstream.on(MODEL, async () => {
    upstream.on(MODEL, () => new Response(jpeg()))
    await run(151_000) // another consumer, by the sweep
    return new Response('busy', { status: 503 })
  })
  await run(0)
  expect(await readJob(shop.live, jobId)).toMatchObject({ status: 'processing' })
  await run(160_000)
  expect(await readJob(shop.live, jobId)).toMatchObject({ status: 'completed' })
  expect(engine.cancel).not.toHaveBeenCalled()
  expect(await ledgerOf(shop)).toMatchObject({ consumed: 1, reserved: 0 })
})

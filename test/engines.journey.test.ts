// A live job with each engine that has a provider, from the request to the signed webhook. The
// provider's HTTP API is faked at the network.
import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { withMetadata } from '@try-on/image-files'
import type { Engine, EngineInput, Progress } from '../src/engines/engine.ts'
import * as handles from '../src/engines/engine.ts'
import { createVertex } from '../src/engines/vertex.ts'
import { createWorkersAi, WorkersAiSettings } from '../src/engines/workers-ai.ts'
import { BASE, request } from './support/client.ts'
import {
  fal,
  fashn,
  replicate,
  TOKEN_URL,
  tokenResponse,
  vertexSettings,
} from './support/engines.ts'
import { useEngines as replaceEngines } from './support/fake-engines.ts'
import { jpeg, png } from './support/picture.ts'
import { fakeUpstream } from './support/upstream.ts'
import { finished, ledgerOf, newOrganisation, readJob, submit } from './support/world.ts'

const upstream = fakeUpstream()
const HOOK = 'https://hooks.test/try-on'
const PICTURE = 'https://cdn.provider.test/picture'
const output = jpeg(864, 1296)

beforeEach(() => {
  upstream
    .on('https://cdn.test/model', () => new Response(jpeg()))
    .on('https://cdn.test/garment', () => new Response(png()))
    .on(PICTURE, () => new Response(output))
    .on(HOOK, () => new Response('thanks'))
  // Queue delays are real time in tests.
  vi.spyOn(handles, 'pollAfterSeconds').mockReturnValue(0)
})

const atOnce = (progress: Progress): Progress =>
  progress.done ? progress : { ...progress, pollAfterSeconds: 0 }

/** Replaces the engines by some that are polled without a delay. */
function useEngines(...engines: Engine[]): void {
  replaceEngines(
    ...engines.map((engine) => ({
      ...engine,
      start: async (input: EngineInput) => atOnce(await engine.start(input)),
      poll: async (handle: string) => atOnce(await engine.poll!(handle)),
    })),
  )
}

/** Returns the bodies one after another, and then repeats the last one. */
const inTurn = (...bodies: object[]) => {
  let at = 0
  return () => Response.json(bodies[Math.min(at++, bodies.length - 1)])
}

/** Status and type of the input images that the provider fetched. */
const fetchedInputs: string[] = []
async function fetchInputs(...urls: unknown[]) {
  for (const url of urls) {
    const response = await request(String(url).replace(BASE, ''))
    fetchedInputs.push(`${response.status} ${response.headers.get('Content-Type')}`)
  }
}

const FASHN = 'https://api.fashn.ai/v1'
const FAL = 'https://queue.fal.run/fal-ai/fashn'
const REPLICATE = 'https://api.replicate.com/v1/predictions'
const VERTEX =
  'https://europe-west4-aiplatform.googleapis.com/v1/projects/our-project/locations/europe-west4' +
  '/publishers/google/models/virtual-try-on-001:predict'

function fakeFashn(): Engine {
  upstream
    .on(`${FASHN}/run`, async ({ body }) => {
      const { inputs } = JSON.parse(body)
      await fetchInputs(inputs.model_image, inputs.garment_image)
      return Response.json({ id: 'p-1', error: null })
    })
    .on(
      `${FASHN}/status/p-1`,
      inTurn(
        { id: 'p-1', status: 'in_queue', output: null, error: null },
        { id: 'p-1', status: 'processing', output: null, error: null },
        { id: 'p-1', status: 'completed', output: [PICTURE], error: null },
      ),
    )
  return fashn()
}

function fakeFal(): Engine {
  const job = `${FAL}/requests/r-1`
  upstream
    .on(`${FAL}/tryon/v1.6`, async ({ body }) => {
      const { model_image, garment_image } = JSON.parse(body)
      await fetchInputs(model_image, garment_image)
      return Response.json({
        request_id: 'r-1',
        response_url: job,
        status_url: `${job}/status`,
        cancel_url: `${job}/cancel`,
        queue_position: 1,
      })
    })
    .on(
      `${job}/status`,
      inTurn(
        { status: 'IN_QUEUE', queue_position: 1 },
        { status: 'IN_PROGRESS' },
        { status: 'COMPLETED', metrics: { inference_time: 5 } },
      ),
    )
    .on(job, inTurn({ images: [{ url: PICTURE, content_type: 'image/jpeg' }] }))
  return fal()
}

function fakeReplicate(): Engine {
  upstream
    .on(REPLICATE, async ({ body }) => {
      const { input } = JSON.parse(body)
      await fetchInputs(input.person_image, input.garment_images[0])
      return Response.json({ id: 'p1', status: 'starting', output: null }, { status: 201 })
    })
    .on(
      `${REPLICATE}/p1`,
      inTurn(
        { id: 'p1', status: 'starting', output: null },
        { id: 'p1', status: 'processing', output: null },
        { id: 'p1', status: 'succeeded', output: PICTURE },
      ),
    )
  return replicate()
}

/** Returns immediately, but the first download of its picture fails. */
function fakeWorkersAi(): Engine {
  let downloads = 0
  upstream.on(PICTURE, () => {
    downloads++
    return downloads === 1 ? new Response('busy', { status: 503 }) : new Response(output)
  })
  return createWorkersAi(WorkersAiSettings.parse({}), {
    async run(_model, input) {
      const [garment] = input['garment_images'] as [string]
      await fetchInputs(input['person_image'], garment)
      return { state: 'Completed', result: { image: PICTURE } }
    },
  })
}

function fakeVertex(): Engine {
  upstream.on(TOKEN_URL, tokenResponse).on(VERTEX, ({ body }) => {
    const [instance] = JSON.parse(body).instances
    for (const { image } of [instance.personImage, ...instance.productImages]) {
      fetchedInputs.push(`200 ${image.mimeType}`)
    }
    const predictions = [{ mimeType: 'image/jpeg', bytesBase64Encoded: output.toBase64() }]
    return Response.json({ predictions })
  })
  return createVertex(vertexSettings())
}

describe('a live job', () => {
  it.each([
    ['fashn', fakeFashn],
    ['fal', fakeFal],
    ['replicate', fakeReplicate],
    ['workers-ai', fakeWorkersAi],
    ['vertex', fakeVertex],
  ])('is completed by %s, stored, delivered by webhook and charged once', async (_, engine) => {
    fetchedInputs.length = 0
    useEngines(engine())
    const { shop, job } = await liveJob()
    expect(job).toMatchObject({ status: 'completed', credits_consumed: 1, error_code: null })
    expect(fetchedInputs).toEqual(['200 image/jpeg', '200 image/png'])
    await expectPicture(job['output_url'])

    await vi.waitUntil(
      async () => (await readJob(shop.live, job.job_id))['webhook_status'] === 'delivered',
    )
    const delivery = upstream.seen(HOOK).at(-1)!
    const event = new Webhook(shop.webhookSecret).verify(
      delivery.body,
      Object.fromEntries(delivery.headers),
    )
    expect(event).toMatchObject({ type: 'job.completed', data: { job_id: job.job_id } })
    expect(await ledgerOf(shop)).toEqual({ granted: 100, balance: 99, reserved: 0, consumed: 1 })
    expect(upstream.seen('https://cdn.test/model')).toHaveLength(1)
  })

  it('uses the next engine when the first one is out of credits', async () => {
    const first = fakeFashn()
    upstream.on(`${FASHN}/run`, () =>
      Response.json({ error: 'OutOfCredits', message: 'Top up' }, { status: 429 }),
    )
    useEngines(first, fakeReplicate())
    const { shop, job } = await liveJob()
    expect(job).toMatchObject({ status: 'completed', credits_consumed: 1 })
    expect(upstream.seen(`${FASHN}/run`)).toHaveLength(1)
    expect(upstream.seen(REPLICATE)).toHaveLength(1)
    expect(await ledgerOf(shop)).toMatchObject({ balance: 99, consumed: 1 })
  })

  it('uses the next engine when the work at the first one fails', async () => {
    const first = fakeFashn()
    const error = { name: 'PipelineError', message: 'no idea' }
    upstream.on(`${FASHN}/status/p-1`, inTurn({ id: 'p-1', status: 'failed', output: null, error }))
    useEngines(first, fakeFal())
    const { job } = await liveJob()
    expect(job).toMatchObject({ status: 'completed', credits_consumed: 1 })
    expect(upstream.seen(`${FASHN}/run`)).toHaveLength(1)
  })

  it('fails without a charge when the engine rejects the image', async () => {
    const first = fakeFashn()
    const error = { name: 'PoseError', message: 'no person detected' }
    upstream.on(`${FASHN}/status/p-1`, inTurn({ id: 'p-1', status: 'failed', output: null, error }))
    useEngines(first, fakeFal())
    const { shop, job } = await liveJob()
    expect(job).toMatchObject({ status: 'failed', error_code: 'person_not_found' })
    expect(upstream.seen(`${FAL}/tryon/v1.6`)).toEqual([])
    expect(await ledgerOf(shop)).toMatchObject({ balance: 100, reserved: 0 })
  })
})

async function liveJob() {
  const shop = await newOrganisation({ default_webhook_url: HOOK })
  const { job_id } = await submit(shop.live, {
    model_image_url: 'https://cdn.test/model',
    garment_image_url: 'https://cdn.test/garment',
  })
  return { shop, job: await finished(shop.live, job_id) }
}

async function expectPicture(url: unknown) {
  const response = await request(String(url).replace(BASE, ''))
  expect(response.status).toBe(200)
  expect(response.headers.get('Content-Type')).toBe('image/jpeg')
  expect(withoutMetadata(await response.bytes())).toEqual(withoutMetadata(output))
}

const withoutMetadata = (file: Uint8Array) => withMetadata(file, 'jpeg', '')

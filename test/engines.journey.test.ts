// The whole story of a live job with each engine that has a provider: from the client's request to
// the signed webhook, with the provider's HTTP API faked at the network.
import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Engine } from '../src/engines/engine.ts'
import * as handles from '../src/engines/handle.ts'
import { createVertex } from '../src/engines/vertex.ts'
import { createWorkersAi, WorkersAiSettings } from '../src/engines/workers-ai.ts'
import { BASE, request } from './support/client.ts'
import { fal, fashn, replicate, TOKEN_URL, tokenAnswer, vertexSettings } from './support/engines.ts'
import { useEngines } from './support/fake-engines.ts'
import { jpeg, png } from './support/picture.ts'
import { fakeUpstream } from './support/upstream.ts'
import { finished, ledgerOf, newOrganisation, readJob, submit } from './support/world.ts'

const upstream = fakeUpstream()
const HOOK = 'https://hooks.test/try-on'
const PICTURE = 'https://cdn.provider.test/picture'
const made = jpeg(864, 1296)

beforeEach(() => {
  upstream
    .on('https://cdn.test/model', () => new Response(jpeg()))
    .on('https://cdn.test/garment', () => new Response(png()))
    .on(PICTURE, () => new Response(made))
    .on(HOOK, () => new Response('thanks'))
  // Queues keep real time here.
  vi.spyOn(handles, 'pollAfterSeconds').mockReturnValue(0)
})

/** One answer after another, then the last again. */
const inTurn = (...answers: object[]) => {
  let at = 0
  return () => Response.json(answers[Math.min(at++, answers.length - 1)])
}

/** A provider looks at the pictures that it was given, as it would over the network. */
const seenPictures: string[] = []
async function look(...urls: unknown[]) {
  for (const url of urls) {
    const answer = await request(String(url).replace(BASE, ''))
    seenPictures.push(`${answer.status} ${answer.headers.get('Content-Type')}`)
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
      await look(inputs.model_image, inputs.garment_image)
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
      await look(model_image, garment_image)
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
      await look(input.person_image, input.garment_images[0])
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

/** Answers at once, but its picture cannot be downloaded the first time. */
function fakeWorkersAi(): Engine {
  let downloads = 0
  upstream.on(PICTURE, () => {
    downloads++
    return downloads === 1 ? new Response('busy', { status: 503 }) : new Response(made)
  })
  return createWorkersAi(WorkersAiSettings.parse({}), {
    async run(_model, input) {
      const [garment] = input['garment_images'] as [string]
      await look(input['person_image'], garment)
      return { state: 'Completed', result: { image: PICTURE } }
    },
  })
}

function fakeVertex(): Engine {
  upstream.on(TOKEN_URL, tokenAnswer).on(VERTEX, ({ body }) => {
    const [instance] = JSON.parse(body).instances
    for (const { image } of [instance.personImage, ...instance.productImages]) {
      seenPictures.push(`200 ${image.mimeType}`)
    }
    const predictions = [{ mimeType: 'image/jpeg', bytesBase64Encoded: made.toBase64() }]
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
  ])('is made by %s, kept by us, announced and charged once', async (_, engine) => {
    seenPictures.length = 0
    useEngines(engine())
    const { shop, job } = await liveJob()
    expect(job).toMatchObject({ status: 'completed', credits_consumed: 1, error_code: null })
    expect(seenPictures).toEqual(['200 image/jpeg', '200 image/png'])
    await expectPicture(job['output_url'])

    await vi.waitUntil(
      async () => (await readJob(shop.live, job.job_id))['webhook_status'] === 'delivered',
      { timeout: 5_000 },
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

  it('goes to the next engine when our account at the first is out of credits', async () => {
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

  it('goes to the next engine when the work at the first came to nothing', async () => {
    const first = fakeFashn()
    const error = { name: 'PipelineError', message: 'no idea' }
    upstream.on(`${FASHN}/status/p-1`, inTurn({ id: 'p-1', status: 'failed', output: null, error }))
    useEngines(first, fakeFal())
    const { job } = await liveJob()
    expect(job).toMatchObject({ status: 'completed', credits_consumed: 1 })
    expect(upstream.seen(`${FASHN}/run`)).toHaveLength(1)
  })

  it('fails with what the engine has against the picture, and costs nothing', async () => {
    const first = fakeFashn()
    const error = { name: 'PoseError', message: 'nobody there' }
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
  const answer = await request(String(url).replace(BASE, ''))
  expect(answer.status).toBe(200)
  expect(answer.headers.get('Content-Type')).toBe('image/jpeg')
  expect(await answer.bytes()).toEqual(made)
}

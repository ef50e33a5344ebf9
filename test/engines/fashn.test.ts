import { describe, expect, it } from 'vitest'
import { SECRET, fashn } from '../support/engines.ts'
import { engineInput, png } from '../support/picture.ts'
import { fakeProvider, json } from '../support/provider.ts'

const provider = fakeProvider()
const RUN = 'https://api.fashn.ai/v1/run'
const STATUS = 'https://api.fashn.ai/v1/status/123a87r9-u1'
const OUTPUT = 'https://cdn.fashn.ai/123a87r9-u1/output_0.png'
const HANDLE = JSON.stringify({ id: '123a87r9-u1', startedAtMs: 0 })

const started = () => json({ id: '123a87r9-u1', error: null })

it('start sends URLs of the input copies and returns a handle', async () => {
  provider.on('POST', RUN, started())
  const progress = await fashn().start(engineInput())
  expect(provider.seen[0]).toMatchObject({
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
    body: {
      model_name: 'tryon-v1.6',
      inputs: {
        model_image: 'https://ours.example/model?signature=s1gnature',
        garment_image: 'https://ours.example/garment?signature=s1gnature',
        output_format: 'png',
      },
    },
  })
  expect(progress).toEqual({ done: false, handle: expect.any(String), pollAfterSeconds: 2 })
})

it('start uses the input names of tryon-max and the configured base URL', async () => {
  provider.on('POST', 'http://127.0.0.1:9000/v1/run', started())
  const engine = fashn({ FASHN_MODEL: 'tryon-max', FASHN_BASE_URL: 'http://127.0.0.1:9000/' })
  await engine.start(engineInput())
  expect(provider.seen[0]?.body).toEqual({
    model_name: 'tryon-max',
    inputs: {
      model_image: 'https://ours.example/model?signature=s1gnature',
      product_image: 'https://ours.example/garment?signature=s1gnature',
      output_format: 'png',
    },
  })
})

it.each(['starting', 'in_queue', 'processing'])(
  'poll returns the handle again while %s',
  async (status) => {
    provider.on('GET', STATUS, json({ id: '123a87r9-u1', status, output: null, error: null }))
    expect(await fashn().poll?.(HANDLE)).toEqual({
      done: false,
      handle: HANDLE,
      pollAfterSeconds: 30,
    })
    expect(provider.seen[0]?.headers).toEqual({ authorization: `Bearer ${SECRET}` })
  },
)

it('poll fetches the completed picture without the key', async () => {
  provider
    .on('GET', STATUS, json({ status: 'completed', output: [OUTPUT], error: null }))
    .on('GET', OUTPUT, new Response(png()))
  expect(await fashn().poll?.(HANDLE)).toEqual({
    done: true,
    image: { bytes: png(), format: 'png' },
  })
  expect(provider.seen[1]?.headers).toEqual({})
})

it('poll can be repeated when the picture cannot be downloaded', async () => {
  provider
    .on('GET', STATUS, json({ status: 'completed', output: [OUTPUT] }))
    .on('GET', OUTPUT, new Response('', { status: 502 }))
  await expect(fashn().poll?.(HANDLE)).rejects.toMatchObject({ retriable: true, work: 'alive' })
})

it('poll fails for a completed prediction without a picture', async () => {
  provider.on('GET', STATUS, json({ status: 'completed', output: [] }))
  await expect(fashn().poll?.(HANDLE)).rejects.toMatchObject({
    code: 'generation_failed',
    work: 'over',
  })
})

describe('poll of a failed prediction', () => {
  it.each([
    ['ContentModerationError', 'generation_rejected', false],
    ['PoseError', 'person_not_found', false],
    ['InputValidationError', 'generation_failed', false],
    ['ImageLoadError', 'generation_failed', true],
    ['PipelineError', 'generation_failed', true],
    ['ThirdPartyError', 'generation_failed', true],
    ['3rdPartyProviderError', 'generation_failed', true],
    ['InternalServerError', 'generation_failed', true],
    ['SomethingNewError', 'generation_failed', true],
  ])('maps %s to %s', async (name, code, retriable) => {
    const message = 'at https://ours.example/model?signature=s1gnature'
    provider.on('GET', STATUS, json({ status: 'failed', output: null, error: { name, message } }))
    await expect(fashn().poll?.(HANDLE)).rejects.toMatchObject({
      code,
      retriable,
      work: 'over',
      message: `fashn job: ${name}: at [url]`,
    })
  })
})

it.each(['RateLimitExceeded', 'ConcurrencyLimitExceeded', 'OutOfCredits'])(
  'start maps %s to an unavailable engine',
  async (error) => {
    provider.on('POST', RUN, json({ error, message: 'm' }, 429))
    await expect(fashn().start(engineInput())).rejects.toMatchObject({
      code: 'engine_unavailable',
      retriable: true,
      work: 'refused',
      message: `fashn start: 429 ${error}: m`,
    })
  },
)

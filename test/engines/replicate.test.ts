import { describe, expect, it } from 'vitest'
import { SECRET, replicate } from '../support/engines.ts'
import { engineInput, jpeg } from '../support/picture.ts'
import { fakeProvider, json } from '../support/provider.ts'

const provider = fakeProvider()
const CREATE = 'https://api.replicate.com/v1/predictions'
const GET = `${CREATE}/p1`
const OUTPUT = 'https://replicate.delivery/xezq/tmp/out.jpg'
const HANDLE = JSON.stringify({ id: 'p1', startedAtMs: 0 })

const prediction = (change = {}) =>
  json({
    id: 'p1',
    model: 'prunaai/p-image-try-on',
    version: '6aaa',
    status: 'starting',
    output: null,
    error: null,
    urls: { get: GET, cancel: `${GET}/cancel` },
    ...change,
  })

it('start pins the version, limits the run time and returns a handle', async () => {
  provider.on('POST', CREATE, new Response(await prediction().text(), { status: 201 }))
  const progress = await replicate({ REPLICATE_VERSION: 'ab'.repeat(32) }).start(engineInput())
  expect(provider.seen[0]).toMatchObject({
    headers: { authorization: `Bearer ${SECRET}`, 'cancel-after': '5m' },
    body: {
      version: 'ab'.repeat(32),
      input: {
        person_image: 'https://ours.example/model?signature=s1gnature',
        garment_images: ['https://ours.example/garment?signature=s1gnature'],
        output_format: 'jpg',
        output_quality: 95,
        preserve_input_size: true,
      },
    },
  })
  expect(progress).toMatchObject({ done: false, pollAfterSeconds: 2 })
})

it('poll returns the handle again while starting and processing', async () => {
  for (const status of ['starting', 'processing']) {
    provider.on('GET', GET, prediction({ status }))
    expect(await replicate().poll?.(HANDLE)).toMatchObject({ done: false, handle: HANDLE })
  }
})

it.each([
  ['a string', OUTPUT],
  ['a list', [OUTPUT]],
])('poll fetches the picture without the key when output is %s', async (_, output) => {
  provider
    .on('GET', GET, prediction({ status: 'succeeded', output }))
    .on('GET', OUTPUT, new Response(jpeg()))
  expect(await replicate().poll?.(HANDLE)).toEqual({
    done: true,
    image: { bytes: jpeg(), format: 'jpeg' },
  })
  expect(provider.seen[1]?.headers).toEqual({})
})

describe('poll of a prediction without a picture', () => {
  it.each([
    ['failed', 'flagged as sensitive. Please try other inputs. (E005)', 'generation_rejected'],
    ['failed', 'NSFW content detected', 'generation_rejected'],
    ['failed', 'Prediction timed out (E6716)', 'generation_timeout'],
    ['failed', 'CUDA out of memory (E1001)', 'generation_failed'],
    ['failed', null, 'generation_failed'],
    ['canceled', null, 'generation_timeout'],
    ['aborted', null, 'generation_timeout'],
    ['succeeded', null, 'generation_failed'],
  ])('maps %s with %s to %s', async (status, error, code) => {
    provider.on(
      'GET',
      GET,
      prediction({ status, error, output: status === 'succeeded' ? [] : null }),
    )
    await expect(replicate().poll?.(HANDLE)).rejects.toMatchObject({
      code,
      retriable: code !== 'generation_rejected',
      work: 'over',
    })
  })
})

it('start reads the wait from the message of a 429', async () => {
  const detail = 'Request was throttled. Your rate limit resets in ~30s.'
  provider.on('POST', CREATE, json({ detail, status: 429 }, 429))
  await expect(replicate().start(engineInput())).rejects.toMatchObject({
    code: 'engine_unavailable',
    retryAfterSeconds: 30,
    work: 'refused',
  })
})

it('cancel calls the cancel URL', async () => {
  provider.on('POST', `${GET}/cancel`, prediction({ status: 'canceled' }))
  await replicate().cancel?.(HANDLE)
  expect(provider.seen[0]?.headers.authorization).toBe(`Bearer ${SECRET}`)
})

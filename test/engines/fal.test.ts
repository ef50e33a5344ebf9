import { describe, expect, it } from 'vitest'
import { FAL_HANDLE as HANDLE, SECRET, fal } from '../support/engines.ts'
import { engineInput, png } from '../support/picture.ts'
import { fakeProvider, json } from '../support/provider.ts'

const provider = fakeProvider()
const SUBMIT = 'https://queue.fal.run/fal-ai/fashn/tryon/v1.6'
const RESPONSE = 'https://queue.fal.run/fal-ai/fashn/requests/r1'
const STATUS = `${RESPONSE}/status`
const CANCEL = `${RESPONSE}/cancel`
const OUTPUT = 'https://v3.fal.media/files/x/output.png'

const submitted = (change = {}) =>
  json({
    request_id: 'r1',
    response_url: RESPONSE,
    status_url: STATUS,
    cancel_url: CANCEL,
    queue_position: 0,
    ...change,
  })

const completed = (change = {}) => json({ status: 'COMPLETED', metrics: {}, ...change })

describe('fal.start', () => {
  it('sends URLs of the input copies and stores the returned URLs', async () => {
    provider.on('POST', SUBMIT, submitted())
    const progress = await fal().start(engineInput())
    expect(provider.seen[0]).toMatchObject({
      headers: {
        authorization: `Key ${SECRET}`,
        'x-fal-object-lifecycle-preference': '{"expiration_duration_seconds":3600}',
      },
      body: {
        model_image: 'https://ours.example/model?signature=s1gnature',
        garment_image: 'https://ours.example/garment?signature=s1gnature',
        output_format: 'png',
      },
    })
    expect(progress).toMatchObject({ done: false, pollAfterSeconds: 2 })
    expect(JSON.parse('handle' in progress ? progress.handle : '')).toEqual({
      status_url: STATUS,
      response_url: RESPONSE,
      cancel_url: CANCEL,
      startedAtMs: expect.any(Number),
    })
  })

  it.each(['fal-ai/kling/v1-5/kolors-virtual-try-on', 'fal-ai/flux-pro/v1/vto'])(
    'uses the input names of %s',
    async (model) => {
      provider.on('POST', `https://queue.fal.run/${model}`, submitted())
      await fal({ FAL_MODEL: model }).start(engineInput())
      expect(provider.seen[0]?.body).toMatchObject({
        human_image_url: 'https://ours.example/model?signature=s1gnature',
        garment_image_url: 'https://ours.example/garment?signature=s1gnature',
      })
    },
  )

  it('rejects a response with URLs of another host', async () => {
    provider.on('POST', SUBMIT, submitted({ status_url: 'https://elsewhere.example/s' }))
    await expect(fal().start(engineInput())).rejects.toMatchObject({
      code: 'engine_unavailable',
      work: 'ambiguous',
    })
  })
})

describe('fal.poll', () => {
  it.each([
    ['IN_QUEUE', 200],
    ['IN_PROGRESS', 202],
  ])('returns the handle again while %s', async (status, code) => {
    provider.on('GET', STATUS, json({ status, queue_position: 3 }, code))
    expect(await fal().poll?.(HANDLE)).toEqual({
      done: false,
      handle: HANDLE,
      pollAfterSeconds: 30,
    })
  })

  it.each([
    ['images', { images: [{ url: OUTPUT, content_type: 'image/png', file_size: 33 }] }],
    ['image', { image: { url: OUTPUT } }],
  ])('fetches the picture in %s without the key', async (_, result) => {
    provider
      .on('GET', STATUS, completed())
      .on('GET', RESPONSE, json(result))
      .on('GET', OUTPUT, new Response(png()))
    expect(await fal().poll?.(HANDLE)).toEqual({
      done: true,
      image: { bytes: png(), format: 'png' },
    })
    expect(provider.seen.map(({ headers }) => headers.authorization)).toEqual([
      `Key ${SECRET}`,
      `Key ${SECRET}`,
      undefined,
    ])
  })

  it.each([
    ['content_policy_violation', 422, 'generation_rejected', false],
    ['face_detection_error', 422, 'person_not_found', false],
    ['generation_timeout', 504, 'generation_timeout', true],
    ['file_download_error', 422, 'generation_failed', true],
    ['image_load_error', 422, 'generation_failed', true],
    ['image_too_small', 422, 'generation_failed', false],
    ['unsupported_image_format', 422, 'generation_failed', false],
    ['internal_server_error', 500, 'generation_failed', true],
    ['something_new', 500, 'generation_failed', true],
  ])('maps the model error %s with %d to %s', async (type, status, code, retriable) => {
    const detail = [{ loc: ['body', 'model_image'], msg: 'no', type, url: 'https://docs.fal.ai' }]
    provider.on('GET', STATUS, completed()).on('GET', RESPONSE, json({ detail }, status))
    await expect(fal().poll?.(HANDLE)).rejects.toMatchObject({ code, retriable, work: 'over' })
  })

  it('does not retry an unknown error that fal marks as final', async () => {
    const detail = [{ loc: ['body'], msg: 'no', type: 'value_error' }]
    provider
      .on('GET', STATUS, completed())
      .on('GET', RESPONSE, json({ detail }, 422, { 'x-fal-retryable': 'false' }))
    await expect(fal().poll?.(HANDLE)).rejects.toMatchObject({
      code: 'generation_failed',
      retriable: false,
    })
  })

  it('maps infrastructure errors in the status and in the result', async () => {
    provider.on('GET', STATUS, completed({ error: 'late', error_type: 'request_timeout' }))
    await expect(fal().poll?.(HANDLE)).rejects.toMatchObject({
      code: 'generation_timeout',
      retriable: true,
      work: 'over',
    })
    provider
      .on('GET', STATUS, completed())
      .on('GET', RESPONSE, json({ detail: 'gone', error_type: 'runner_disconnected' }, 503))
    await expect(fal().poll?.(HANDLE)).rejects.toMatchObject({
      code: 'generation_failed',
      retriable: true,
      work: 'over',
    })
  })

  it('polls again while fal does not return the result', async () => {
    for (const [status, body] of [
      [403, { detail: 'User is locked. Reason: Exhausted balance.' }],
      [429, { detail: [{ loc: ['body'], msg: 'slow down', type: 'rate_limited' }] }],
      [502, '<html>'],
    ] as const) {
      provider.on('GET', STATUS, completed()).on('GET', RESPONSE, json(body, status))
      await expect(fal().poll?.(HANDLE)).rejects.toMatchObject({
        code: 'engine_unavailable',
        work: 'alive',
      })
    }
  })

  it('does not send the key to other hosts in a forged handle', async () => {
    for (const status_url of ['https://queue.fal.run.evil.example/', 'http://queue.fal.run/s']) {
      const forged = JSON.stringify({ ...JSON.parse(HANDLE), status_url })
      await expect(fal().poll?.(forged)).rejects.toMatchObject({ code: 'internal_error' })
      await expect(fal().cancel?.(forged)).rejects.toMatchObject({ code: 'internal_error' })
    }
  })
})

it('fal.cancel calls the returned URL', async () => {
  provider.on('PUT', CANCEL, json({ status: 'CANCELLATION_REQUESTED' }, 202))
  await fal().cancel?.(HANDLE)
  expect(provider.seen[0]?.headers.authorization).toBe(`Key ${SECRET}`)
  provider.on('PUT', CANCEL, json({ status: 'ALREADY_COMPLETED' }, 400))
  await expect(fal().cancel?.(HANDLE)).rejects.toMatchObject({ name: 'JobFailure' })
})

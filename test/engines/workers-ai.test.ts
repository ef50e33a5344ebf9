import { describe, expect, it, vi } from 'vitest'
import { scaleWith } from '../../src/engines/scale.ts'
import { WorkersAiSettings, createWorkersAi, type WorkersAi } from '../../src/engines/workers-ai.ts'
import { engineInput, jpeg, png } from '../support/picture.ts'
import { fakeProvider } from '../support/provider.ts'

const provider = fakeProvider()
const OUTPUT = 'https://pruna.example/out.jpg?signature=s1gnature'
const FLUX = '@cf/black-forest-labs/flux-2-klein-4b'

const tryOn = (run: WorkersAi['run']) => createWorkersAi(WorkersAiSettings.parse({}), { run })
const flux = (run: WorkersAi['run'], scale = async () => new Blob([jpeg(300, 500)])) =>
  createWorkersAi(WorkersAiSettings.parse({ WORKERS_AI_MODEL: FLUX }), { run }, scale)

const completed = {
  state: 'Completed',
  result: { image: OUTPUT },
  gatewayMetadata: { keySource: 'Unified' },
}

/** An error like those that the binding throws. */
function upstreamError(message: string): Error {
  const error = new Error(message)
  error.name = 'InferenceUpstreamError'
  return error
}

describe('workers-ai.start, with the try-on model', () => {
  it('sends URLs of the input copies and fetches the picture', async () => {
    provider.on('GET', OUTPUT, new Response(jpeg()))
    const run = vi.fn<WorkersAi['run']>(async () => completed)
    expect(await tryOn(run).start(engineInput())).toEqual({
      done: true,
      image: { bytes: jpeg(), format: 'jpeg' },
    })
    expect(run).toHaveBeenCalledExactlyOnceWith(
      'pruna/p-image-try-on',
      {
        person_image: 'https://ours.example/model?signature=s1gnature',
        garment_images: ['https://ours.example/garment?signature=s1gnature'],
        output_format: 'jpg',
        output_quality: 95,
        preserve_input_size: true,
      },
      { signal: expect.any(AbortSignal) },
    )
  })

  it('retries a failed download by polling, without another run', async () => {
    const run = vi.fn<WorkersAi['run']>(async () => completed)
    const engine = tryOn(run)
    provider.on('GET', OUTPUT, new Response('', { status: 503 }))
    const progress = await engine.start(engineInput())
    expect(progress).toMatchObject({ done: false, pollAfterSeconds: 2 })

    const handle = 'handle' in progress ? progress.handle : ''
    provider.on('GET', OUTPUT, new Response('', { status: 503 }))
    await expect(engine.poll?.(handle)).rejects.toMatchObject({ retriable: true, work: 'alive' })
    provider.on('GET', OUTPUT, new Response(jpeg()))
    expect(await engine.poll?.(handle)).toMatchObject({ done: true })
    expect(run).toHaveBeenCalledOnce()
  })

  it('accepts a result with a bare image', async () => {
    provider.on('GET', OUTPUT, new Response(jpeg()))
    const run = async () => ({ image: OUTPUT })
    expect(await tryOn(run).start(engineInput())).toMatchObject({ done: true })
  })

  it('fails when the output is not a picture', async () => {
    provider.on('GET', OUTPUT, new Response('<html>'))
    await expect(tryOn(async () => completed).start(engineInput())).rejects.toMatchObject({
      code: 'generation_failed',
      work: 'over',
    })
  })

  it.each([
    ['a failed state', { state: 'Failed', result: null }, 'generation_failed', 'over'],
    ['null', null, 'engine_unavailable', 'ambiguous'],
    ['another object', { result: { picture: 1 } }, 'engine_unavailable', 'ambiguous'],
    ['a stream', new ReadableStream(), 'engine_unavailable', 'ambiguous'],
  ])('fails when the result is %s', async (_, result, code, work) => {
    await expect(tryOn(async () => result).start(engineInput())).rejects.toMatchObject({
      code,
      retriable: true,
      work,
    })
  })
})

describe('workers-ai.start, with a FLUX.2 model', () => {
  it('sends both images scaled down, with the proportions of the person', async () => {
    const run = vi.fn<WorkersAi['run']>(async () => ({ image: png().toBase64() }))
    const scale = vi.fn(async () => new Blob([jpeg(300, 500)]))
    expect(await flux(run, scale).start(engineInput())).toEqual({
      done: true,
      image: { bytes: png(), format: 'png' },
    })
    expect(scale.mock.calls).toEqual([
      [jpeg(), 511],
      [jpeg(), 511],
    ])
    expect(run).toHaveBeenCalledExactlyOnceWith(FLUX, expect.anything(), expect.anything())
    const sent = run.mock.calls[0]?.[1].multipart
    if (!isMultipart(sent)) throw new Error('not multipart')
    const form = await new Response(sent.body, {
      headers: { 'content-type': sent.contentType },
    }).formData()
    expect([...form.keys()]).toEqual([
      'prompt',
      'input_image_0',
      'input_image_1',
      'width',
      'height',
    ])
    expect([form.get('width'), form.get('height')]).toEqual(['608', '1024'])
    expect(form.get('prompt')).toMatch(/same face.*pose and background/)
  })

  it('requests no side below 256', async () => {
    const run = vi.fn<WorkersAi['run']>(async () => ({ image: png().toBase64() }))
    await flux(run, async () => new Blob([jpeg(50, 500)])).start(engineInput())
    const sent = run.mock.calls[0]?.[1].multipart
    if (!isMultipart(sent)) throw new Error('not multipart')
    const headers = { 'content-type': sent.contentType }
    const form = await new Response(sent.body, { headers }).formData()
    expect([form.get('width'), form.get('height')]).toEqual(['256', '1024'])
  })

  it('does not run the model when scaling is missing or fails', async () => {
    const run = vi.fn<WorkersAi['run']>()
    const settings = WorkersAiSettings.parse({ WORKERS_AI_MODEL: FLUX })
    const broken = async () => {
      throw new Error('no')
    }
    for (const engine of [
      createWorkersAi(settings, { run }),
      flux(run, broken),
      flux(run, async () => new Blob(['not a picture'])),
    ]) {
      await expect(engine.start(engineInput())).rejects.toMatchObject({
        code: 'engine_unavailable',
        retriable: true,
        work: 'refused',
      })
    }
    expect(run).not.toHaveBeenCalled()
  })

  it('fails when the result is not a picture', async () => {
    const run = async () => ({ image: btoa('not a picture') })
    await expect(flux(run).start(engineInput())).rejects.toMatchObject({
      code: 'generation_failed',
    })
  })
})

describe('an error of the binding', () => {
  it.each([
    ['3040: Capacity temporarily exceeded', 'engine_unavailable', true, 'refused'],
    ['AiError: 3036: daily free allocation', 'engine_unavailable', true, 'refused'],
    ['3023: account blocked', 'engine_unavailable', true, 'refused'],
    ['2021: billing is not enabled', 'engine_unavailable', true, 'refused'],
    ['5007: No such model', 'engine_unavailable', true, 'refused'],
    ['3006: request too large', 'generation_failed', true, 'refused'],
    ['5018: not allowed for private model', 'engine_unavailable', true, 'refused'],
    ['3008: Request was aborted', 'engine_unavailable', true, 'ambiguous'],
    ['3007: timeout', 'generation_timeout', true, 'ambiguous'],
    ['3030: NSFW', 'generation_rejected', false, 'over'],
    ['9999: something new', 'engine_unavailable', true, 'ambiguous'],
    ['Network connection lost.', 'engine_unavailable', true, 'ambiguous'],
  ])('maps %s to %s', async (message, code, retriable, work) => {
    const run = async () => {
      throw upstreamError(message)
    }
    await expect(tryOn(run).start(engineInput())).rejects.toMatchObject({ code, retriable, work })
  })

  it('does not include URLs', async () => {
    const run = async () => {
      throw upstreamError('5006: cannot load https://ours.example/model?signature=s1gnature')
    }
    const thrown = await tryOn(run)
      .start(engineInput())
      .catch((error: unknown) => error)
    expect(String(thrown)).toContain('5006')
    expect(String(thrown)).not.toContain('s1gnature')
  })

  it('is thrown in time even if the binding ignores the signal', async () => {
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const controller = new AbortController()
      queueMicrotask(() => controller.abort(new DOMException('', 'TimeoutError')))
      return controller.signal
    })
    const started = tryOn(() => new Promise(() => {})).start(engineInput())
    await expect(started).rejects.toMatchObject({ code: 'engine_unavailable', work: 'ambiguous' })
  })
})

it('scaleWith uses the [images] binding', async () => {
  const output = vi.fn(async () => ({ response: () => new Response(jpeg()) }))
  const transform = vi.fn(() => ({ output }))
  const images = { input: vi.fn(() => ({ transform })) }
  const blob = await scaleWith(images)(png(), 511)
  expect(await blob.bytes()).toEqual(jpeg())
  expect(transform).toHaveBeenCalledWith({ width: 511, height: 511, fit: 'scale-down' })
  expect(output).toHaveBeenCalledWith({ format: 'image/jpeg' })
})

const isMultipart = (value: unknown): value is { body: ReadableStream; contentType: string } =>
  typeof value === 'object' && value !== null && 'body' in value && 'contentType' in value

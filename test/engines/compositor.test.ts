import * as package_ from '@try-on/compositor'
import { CompositionError, UnusableImage } from '@try-on/compositor'
import { drawFigure, drawGarment } from '@try-on/compositor/samples'
import { detectFormat } from '@try-on/image-files'
import { encodePng } from '@try-on/image-files/samples'
import { describe, expect, it, vi } from 'vitest'
import { JobFailure } from '../../src/domain/failure.ts'
import { compositor, createThumbnail } from '../../src/engines/compositor.ts'
import type { EngineInput } from '../../src/engines/engine.ts'
import { checkedImage, engineInput } from '../support/picture.ts'

const JPEG = Uint8Array.of(0xff, 0xd8, 0xff)
const spyOnDress = () => vi.spyOn(package_, 'dress')

describe('compositor.start', () => {
  it('returns a JPEG immediately', async () => {
    const model = await encodePng(drawFigure({ width: 120, height: 180 }))
    const garment = await encodePng(drawGarment({ width: 120, height: 135 }))
    const progress = await compositor.start(
      engineInput({
        model: checkedImage('model', model, 'png'),
        garment: checkedImage('garment', garment, 'png'),
      }),
    )
    expect(progress).toMatchObject({ done: true, image: { format: 'jpeg' } })
    expect(progress.done && detectFormat(progress.image.bytes)).toBe('jpeg')
  })

  it.each([
    [new UnusableImage('model', 'corrupt', 'no end'), 'model_image_corrupt'],
    [new UnusableImage('garment', 'too_large', '9 × 9'), 'garment_image_too_large'],
    [new UnusableImage('model', 'unsupported_format', 'CMYK'), 'model_image_unsupported_format'],
    [new CompositionError('person_not_found', 'no head'), 'person_not_found'],
    [new CompositionError('garment_not_found', 'empty'), 'garment_not_found'],
    [new Error('unexpected'), 'generation_failed'],
  ])('maps %s to %s', async (cause, code) => {
    spyOnDress().mockRejectedValue(cause)
    const thrown = await compositor.start(engineInput()).catch((reason: unknown) => reason)
    expect(thrown).toBeInstanceOf(JobFailure)
    expect(thrown).toMatchObject({ code, retriable: false, work: undefined, cause })
  })

  it('composes one picture at a time', async () => {
    const finish: (() => void)[] = []
    spyOnDress().mockImplementation(async () => {
      await new Promise<void>((resolve) => finish.push(resolve))
      return JPEG
    })
    const [first, second] = [compositor.start(engineInput()), compositor.start(engineInput())]
    await vi.waitUntil(() => finish.length === 1)
    await scheduler.wait(100)
    expect(finish).toHaveLength(1)
    finish[0]?.()
    await first
    await vi.waitUntil(() => finish.length === 2)
    finish[1]?.()
    expect(await second).toMatchObject({ done: true })
  })

  it('composes the next picture after a failure', async () => {
    spyOnDress().mockRejectedValueOnce(new Error('unexpected')).mockResolvedValueOnce(JPEG)
    const [failed, next] = [compositor.start(engineInput()), compositor.start(engineInput())]
    await expect(failed).rejects.toThrow(JobFailure)
    expect(await next).toMatchObject({ done: true })
  })

  it('composes for paying organisations first, then with free credits, then thumbnails', async () => {
    const order: string[] = []
    const finish: (() => void)[] = []
    const work = (name: string) => async () => {
      order.push(name)
      await new Promise<void>((resolve) => finish.push(resolve))
      return JPEG
    }
    spyOnDress().mockImplementation((_, { model }) => work(String(Reflect.get(model, 'name')))())
    vi.spyOn(package_, 'thumbnailOf').mockImplementation(work('thumbnail'))
    const start = (name: string, input: Partial<EngineInput>) =>
      compositor.start(
        engineInput({ ...input, model: Object.assign(checkedImage('model'), { name }) }),
      )
    const first = start('running', {})
    await vi.waitUntil(() => order.length === 1)
    const read = async () => ({ bytes: JPEG, format: 'jpeg' as const })
    const thumbnail = { read, store: async () => {}, maxSide: 160 }
    const all = [
      first,
      createThumbnail('org_1', thumbnail),
      createThumbnail('org_1', thumbnail),
      start('free', { organisationId: 'org_2' }),
      start('paying', { organisationId: 'org_1', isPaying: true }),
    ]
    for (let ended = 0; ended < all.length; ended++) {
      await vi.waitUntil(() => finish.length > ended)
      finish[ended]?.()
    }
    await Promise.all(all)
    expect(order).toEqual(['running', 'paying', 'free', 'thumbnail', 'thumbnail'])
  })
})

import loadJpegDecoder from '@jsquash/jpeg/codec/dec/mozjpeg_dec.js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { drawFigure } from '../samples/index.ts'
import { encodeJpeg } from '../src/index.ts'
import type { Raster } from '../src/raster.ts'
import { shrink } from '../src/raster.ts'
import { shrinkingInPlace } from '../src/shrink-in-place.ts'
import { workerModules } from '../src/worker-modules.ts'
import { codecs, forLibrary } from './files.ts'

const NAMES = ['Uint8ClampedArray', 'ImageData'] as const
const descriptors = () =>
  NAMES.map((name) => Object.getOwnPropertyDescriptor(globalThis, name) ?? 'absent')

/** The part of the browsers' `ImageData` that the decoders use. */
class PlainImageData implements Raster {
  readonly data: Uint8ClampedArray
  readonly width: number
  readonly height: number

  constructor(data: Uint8ClampedArray, width: number, height: number) {
    this.data = data
    this.width = width
    this.height = height
  }
}

afterEach(() => void vi.unstubAllGlobals())

describe('shrinkingInPlace', () => {
  it('restores the globals after success', () => {
    const before = descriptors()
    const during = shrinkingInPlace()(10, descriptors)
    expect(during).not.toEqual(before)
    expect(descriptors()).toEqual(before)
  })

  it('restores the globals after a throw', () => {
    const before = descriptors()
    expect(() =>
      shrinkingInPlace()(10, () => {
        throw new Error('malformed file')
      }),
    ).toThrow('malformed file')
    expect(descriptors()).toEqual(before)
  })

  it('restores the globals before an asynchronous call settles', async () => {
    const before = descriptors()
    const pending = shrinkingInPlace()(10, () => Promise.resolve().then(descriptors))
    expect(descriptors()).toEqual(before)
    expect(await pending).toEqual(before)
  })

  it('restores a global that existed before', () => {
    vi.stubGlobal('ImageData', PlainImageData)
    shrinkingInPlace()(10, () => undefined)
    expect(Reflect.get(globalThis, 'ImageData')).toBe(PlainImageData)
  })

  it.each([24, 9_999])('returns the same pixels as a copy shrunk to %i', async (maxSide) => {
    const file = forLibrary(await encodeJpeg(drawFigure({ width: 60, height: 90 }), 90))
    const options: CodecOptions = {
      noInitialRun: true,
      printErr: () => undefined,
      instantiateWasm(imports, ready) {
        const instance = new WebAssembly.Instance(workerModules.jpegDecoder, imports)
        ready(instance)
        return instance.exports
      },
    }
    vi.stubGlobal('ImageData', PlainImageData)
    const decoder = await loadJpegDecoder(options)
    const copy = decoder.decode(file, false)
    vi.unstubAllGlobals()
    const { width, height, data } = await codecs.decode(file, 'jpeg', maxSide)
    expect({ width, height, data }).toEqual({ ...shrink(copy!, maxSide) })
  })

  it('shrinks the pictures of one job, each to its own size', async () => {
    const decoder = codecs.decoderForJob()
    const file = forLibrary(await encodeJpeg(drawFigure({ width: 60, height: 90 }), 90))
    for (const maxSide of [24, 9_999, 50]) {
      const { width, height, data } = await decoder.decode(file, 'jpeg', maxSide)
      const alone = await codecs.decode(file, 'jpeg', maxSide)
      expect({ width, height, data }).toEqual({ ...alone })
    }
    const broken = file.slice(0, 200)
    await expect(decoder.decode(broken, 'jpeg', 24)).rejects.toBeDefined()
    expect((await decoder.decode(file, 'jpeg', 30)).height).toBe(30)
  })

  it('does not share memory with the decoder', () => {
    const memory = new Uint8Array(16).fill(7)
    const { data } = shrinkingInPlace()(
      9,
      () =>
        Reflect.construct(Reflect.get(globalThis, 'ImageData'), [
          new Uint8ClampedArray(memory),
          2,
          2,
        ]) as Raster,
    )
    memory.fill(0)
    expect([...data]).toEqual(Array<number>(16).fill(7))
  })
})

import { describe, expect, it } from 'vitest'
import { concat } from '../samples/png.ts'
import {
  ALPHA,
  ANIMATION,
  canvasChunk,
  frameChunk,
  losslessChunk,
  lossyHeaderChunk,
  riffChunk,
  webpFile,
} from '../samples/webp.ts'
import { imageFile, inspectWebp, MAX_RIFF_CHUNKS } from '../src/webp.ts'

const small = { width: 100, height: 100 }
const huge = { width: 12_000, height: 12_000 }
const alpha = riffChunk('ALPH', Uint8Array.of(0, 1, 2))

describe('inspectWebp', () => {
  it('returns the size of the image data, with or without a container', () => {
    for (const image of [lossyHeaderChunk(small), losslessChunk(small)]) {
      expect(inspectWebp(webpFile(image))).toMatchObject(small)
      expect(inspectWebp(webpFile(canvasChunk(0, small), image))).toMatchObject(small)
      const animation = webpFile(canvasChunk(ANIMATION, huge), frameChunk(small, image))
      expect(inspectWebp(animation)).toMatchObject(small)
    }
  })

  it('rejects a size that differs from the container', () => {
    const reason = { corrupt: expect.stringContaining('in a container of 100 × 100') }
    expect(inspectWebp(webpFile(canvasChunk(0, small), losslessChunk(huge)))).toEqual(reason)
    const frame = frameChunk(small, lossyHeaderChunk(huge))
    expect(inspectWebp(webpFile(canvasChunk(ANIMATION, huge), frame))).toEqual(reason)
  })
})

describe('inspectWebp, of an animation', () => {
  const animation = (...frames: Uint8Array[]) =>
    webpFile(canvasChunk(ANIMATION, small), riffChunk('ANIM', new Uint8Array(6)), ...frames)

  it('rejects a frame that exceeds the canvas', () => {
    const bomb = animation(frameChunk(huge, losslessChunk(huge)))
    expect(bomb.length).toBeLessThan(93)
    expect(inspectWebp(bomb)).toEqual({
      corrupt: 'the WebP frame of 12000 × 12000 exceeds the canvas of 100 × 100',
    })
    const shifted = frameChunk({ ...small, x: 2 }, losslessChunk(small))
    expect(inspectWebp(animation(shifted))).toHaveProperty('corrupt')
  })

  it('returns the first frame', () => {
    const half = { width: 50, height: 40 }
    const frames = [frameChunk({ ...half, x: 50 }, losslessChunk(half)), frameChunk(huge)]
    expect(inspectWebp(animation(...frames))).toMatchObject(half)
  })

  it('rejects a missing frame, and image data outside a frame', () => {
    expect(inspectWebp(animation())).toHaveProperty('corrupt')
    expect(inspectWebp(animation(losslessChunk(small)))).toHaveProperty('corrupt')
    expect(inspectWebp(animation(riffChunk('ANMF', new Uint8Array(15))))).toHaveProperty('corrupt')
    expect(inspectWebp(animation(frameChunk(small)))).toHaveProperty('corrupt')
  })
})

describe('inspectWebp, of chunks', () => {
  it('rejects chunks that exceed the file', () => {
    const file = webpFile(canvasChunk(0, small), losslessChunk(small))
    expect(inspectWebp(file.subarray(0, -1))).toHaveProperty('corrupt')
    new DataView(file.buffer).setUint32(16, 0xffff_fffe, true)
    expect(inspectWebp(file)).toHaveProperty('corrupt')
  })

  it('limits their number', () => {
    const empty = riffChunk('JUNK', new Uint8Array(0))
    const file = (count: number) =>
      webpFile(
        canvasChunk(0, small),
        concat(Array<Uint8Array>(count).fill(empty)),
        losslessChunk(small),
      )
    expect(inspectWebp(file(MAX_RIFF_CHUNKS - 2))).toMatchObject(small)
    expect(inspectWebp(file(MAX_RIFF_CHUNKS))).toEqual({
      corrupt: 'more than 20000 WebP chunks',
    })
  })

  it('accepts empty chunks and odd lengths', () => {
    const odd = riffChunk('ICCP', new Uint8Array(7))
    const empty = riffChunk('XMP ', new Uint8Array(0))
    const file = webpFile(canvasChunk(0, small), odd, empty, losslessChunk(small))
    expect(inspectWebp(file)).toMatchObject(small)
  })
})

describe('imageFile', () => {
  const written = (file: Uint8Array) => {
    const header = inspectWebp(file)
    if ('corrupt' in header) throw new Error(header.corrupt)
    return imageFile(file, header)
  }

  it('returns a simple file unchanged', () => {
    const file = webpFile(losslessChunk(small))
    expect(written(file)).toBe(file)
  })

  it('returns the image and its alpha only', () => {
    const profile = riffChunk('ICCP', new Uint8Array(1_001))
    const still = webpFile(canvasChunk(ALPHA, small), profile, alpha, lossyHeaderChunk(small))
    const expected = webpFile(canvasChunk(ALPHA, small), alpha, lossyHeaderChunk(small))
    expect(written(still)).toEqual(expected)
    const frame = frameChunk(small, alpha, lossyHeaderChunk(small))
    expect(written(webpFile(canvasChunk(ANIMATION, huge), frame))).toEqual(expected)
  })

  it('drops the alpha chunk of lossless images', () => {
    const file = webpFile(canvasChunk(ALPHA, small), alpha, losslessChunk(small))
    expect(written(file)).toEqual(webpFile(losslessChunk(small)))
  })
})

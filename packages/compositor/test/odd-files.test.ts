// Files as the world has them: odd, huge, cut short, flipped in a bit. Each gives a picture or an
// JobFailure, and never takes the next one down with it.
import { JobFailure } from '../../../src/domain/failure.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import { compositor } from '../../../src/engines/compositor.ts'
import { type CheckedImage } from '../../../src/engines/engine.ts'
import { createRandom } from '../samples/canvas.ts'
import { chunk, join, pngOf } from '../../image-files/samples/png.ts'
import {
  ANIMATION,
  canvasChunk,
  frameChunk,
  losslessChunk,
  lossyHeaderChunk,
  webpFile,
} from '../../image-files/samples/webp.ts'
import { checked, figure, garment, jpeg, job, png } from './files.ts'

let model: CheckedImage
let cloth: CheckedImage
let modelJpeg: CheckedImage
beforeAll(async () => {
  model = await png(figure({ width: 120, height: 180 }))
  modelJpeg = await jpeg(figure({ width: 120, height: 180 }))
  cloth = await png(garment({ width: 120, height: 135, background: 'transparent' }))
})

/** What came of it: a format, or the code of an JobFailure. Anything else fails the test. */
async function outcome(person: CheckedImage, wear: CheckedImage): Promise<string> {
  try {
    const progress = await compositor.start(job(person, wear))
    return progress.done ? progress.image.format : 'unfinished'
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error
    return error.code
  }
}

describe('pictures too large to decode', () => {
  it('are refused by their header alone, whichever they are', async () => {
    const huge = checked(
      await pngOf({ width: 30_000, height: 30_000, depth: 8, colourType: 6 }, new Uint8Array(8)),
    )
    expect(await outcome(huge, cloth)).toBe('model_image_too_large')
    expect(await outcome(model, huge)).toBe('garment_image_too_large')
  })
})

describe('broken files', () => {
  it('are called corrupt when a JPEG is cut short, anywhere', async () => {
    const { bytes } = modelJpeg
    for (const share of [0.05, 0.3, 0.6, 0.9, 0.99]) {
      const cut = bytes.subarray(0, Math.floor(bytes.length * share))
      expect(await outcome(checked(cut), cloth)).toBe('model_image_corrupt')
      expect(await outcome(model, checked(cut))).toBe('garment_image_corrupt')
    }
  })

  it('are called corrupt when a PNG or WebP is cut short', async () => {
    for (const { bytes, format } of [model, cloth]) {
      const cut = checked(bytes.subarray(0, bytes.length * 0.5), format)
      expect(await outcome(cut, cloth)).toBe('model_image_corrupt')
      expect(await outcome(model, cut)).toBe('garment_image_corrupt')
    }
  })

  it('give a picture or an JobFailure, whatever was done to them', async () => {
    const random = createRandom(20)
    const seen = new Map<string, number>()
    for (let round = 0; round < 200; round++) {
      const original = [model, modelJpeg, cloth][round % 3]!
      const broken = checked(mutate(original.bytes, random), original.format)
      const result = await (round % 2 === 0 ? outcome(broken, cloth) : outcome(model, broken))
      seen.set(result, (seen.get(result) ?? 0) + 1)
    }
    expect(seen.size).toBeGreaterThan(1)
    expect(await outcome(model, cloth)).toBe('jpeg')
  }, 30_000)

  it('are refused when they are nothing of the kind', async () => {
    for (const bytes of [[], [0xff], [0xff, 0xd8, 0xff], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]]) {
      for (const format of ['jpeg', 'png', 'webp'] as const) {
        expect(await outcome(checked(Uint8Array.from(bytes), format), cloth)).toBe(
          'model_image_corrupt',
        )
      }
    }
  })
})

/** One of five ways to break a file, by chance. */
function mutate(bytes: Uint8Array, random: () => number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  const at = () => Math.floor(random() * copy.length)
  switch (Math.floor(random() * 5)) {
    case 0:
      return copy.subarray(0, at())
    case 1:
      for (let i = 0; i < 12; i++) copy[at()]! ^= 1 << Math.floor(random() * 8)
      return copy
    case 2: {
      // The first bytes hold the sizes.
      for (let i = 0; i < 6; i++) copy[12 + Math.floor(random() * 40)] = Math.floor(random() * 256)
      return copy
    }
    case 3: {
      const start = at()
      return copy.fill(Math.floor(random() * 256), start, start + 1 + Math.floor(random() * 2000))
    }
    default:
      return join([copy.subarray(0, at()), copy.subarray(at())]) // a piece lost, or twice there
  }
}

describe('unusual but valid PNG', () => {
  const width = 120
  const height = 135

  it.each([
    ['grey', 0, 8, 1],
    ['grey of 16 bits', 0, 16, 2],
    ['grey with alpha', 4, 8, 2],
    ['colour of 16 bits', 2, 16, 6],
    ['colour and alpha of 16 bits', 6, 16, 8],
    ['palette', 3, 8, 1],
  ])('is read: %s', async (_, colourType, depth, bytesPerPixel) => {
    const drawn = garment({ width, height, backdrop: '#ffffff', colour: '#202020' })
    const lines = new Uint8Array((width * bytesPerPixel + 1) * height)
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const start = y * (width * bytesPerPixel + 1) + 1 + x * bytesPerPixel
        const value = drawn.data[(y * width + x) * 4]!
        lines.fill(value, start, start + bytesPerPixel)
        if (colourType === 4) lines[start + 1] = 255
        if (colourType === 6) lines.fill(255, start + 6, start + 8)
      }
    }
    const palette = chunk(
      'PLTE',
      Uint8Array.from({ length: 768 }, (__, i) => Math.floor(i / 3)),
    )
    const file = await pngOf(
      { width, height, depth, colourType },
      lines,
      colourType === 3 ? [palette] : [],
    )
    expect(await outcome(model, checked(file))).toBe('jpeg')
  })
})

/** The same JPEG with another frame header, and with fill bytes before it. */
function withFrame(
  file: Uint8Array,
  change: { marker?: number; components?: number; side?: number },
  fillBytes: number,
): Uint8Array {
  let at = 2
  while (file[at + 1] !== 0xc0 && file[at + 1] !== 0xc1) {
    at += 2 + file[at + 2]! * 256 + file[at + 3]!
  }
  const frame = file.slice(at)
  if (change.marker) frame[1] = change.marker
  if (change.components) frame[9] = change.components
  if (change.side) new DataView(frame.buffer).setUint32(5, change.side * 0x10001)
  return join([file.subarray(0, at), new Uint8Array(fillBytes).fill(0xff), frame])
}

describe('a CMYK JPEG', () => {
  it.each([0, 1, 3])('is refused by name with %i fill bytes before its frame', async (fill) => {
    // The decoder would end its whole program.
    const cmyk = checked(withFrame(modelJpeg.bytes, { components: 4 }, fill))
    expect(await outcome(cmyk, cloth)).toBe('model_image_unsupported_format')
  })
})

describe('a file whose decoding takes much memory', () => {
  it.each([0, 1, 3])('is refused sooner: a progressive JPEG, %i fill bytes', async (fill) => {
    const [side, usual] = [3_000, modelJpeg.bytes]
    const progressive = checked(withFrame(usual, { marker: 0xc2, side }, fill))
    expect(await outcome(progressive, cloth)).toBe('model_image_too_large')
    // Of the usual kind it is not too large, only not whole.
    const baseline = checked(withFrame(usual, { side }, fill).subarray(0, -2))
    expect(await outcome(baseline, cloth)).toBe('model_image_corrupt')
  })

  it('is refused sooner: a lossless WebP inside an animation', async () => {
    const size = { width: 3_000, height: 3_000 }
    const animation = (image: Uint8Array) =>
      checked(webpFile(canvasChunk(ANIMATION, size), frameChunk(size, image)))
    expect(await outcome(animation(losslessChunk(size)), cloth)).toBe('model_image_too_large')
    expect(await outcome(animation(lossyHeaderChunk(size)), cloth)).toBe('model_image_corrupt')
  })
})

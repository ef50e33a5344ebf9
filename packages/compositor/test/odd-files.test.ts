// Unusual and malformed files: huge, truncated, corrupted. Each produces a picture or an image
// error, and does not affect the next one.
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { detectFormat } from '@try-on/image-files'
import { createRandom } from '../samples/index.ts'
import { dress } from '../src/index.ts'
import type { ImageFile } from '../src/load.ts'
import {
  ANIMATION,
  canvasChunk,
  concat,
  frameChunk,
  losslessChunk,
  lossyHeaderChunk,
  pngChunk,
  pngFile,
  webpFile,
} from '@try-on/image-files/samples'
import { codeOf, figure, garment, jpeg, png, toFile, tools } from './files.ts'
import { eachPixel } from './pixels.ts'

let model: ImageFile
let cloth: ImageFile
let modelJpeg: ImageFile
beforeAll(async () => {
  model = await png(figure({ width: 120, height: 180 }))
  modelJpeg = await jpeg(figure({ width: 120, height: 180 }))
  cloth = await png(garment({ width: 120, height: 135, background: 'transparent' }))
})

/** The format of the result, or the code of the error. */
const outcome = (person: ImageFile, wear: ImageFile): Promise<string | null> =>
  dress(tools, { model: person, garment: wear }).then(detectFormat, codeOf)

describe('an image too large to decode', () => {
  it('is rejected by its header, as model and as garment', async () => {
    const huge = toFile(
      await pngFile({ width: 30_000, height: 30_000, depth: 8, colourType: 6 }, new Uint8Array(8)),
    )
    expect(await outcome(huge, cloth)).toBe('model_image_too_large')
    expect(await outcome(model, huge)).toBe('garment_image_too_large')
  })
})

describe('a malformed file', () => {
  it('is corrupt when it is a JPEG truncated at any point', async () => {
    const { bytes } = modelJpeg
    for (const share of [0.05, 0.3, 0.6, 0.9, 0.99]) {
      const cut = bytes.subarray(0, Math.floor(bytes.length * share))
      expect(await outcome(toFile(cut), cloth)).toBe('model_image_corrupt')
      expect(await outcome(model, toFile(cut))).toBe('garment_image_corrupt')
    }
  })

  it('is corrupt when it is a truncated PNG', async () => {
    for (const { bytes, format } of [model, cloth]) {
      const cut = toFile(bytes.subarray(0, bytes.length * 0.5), format)
      expect(await outcome(cut, cloth)).toBe('model_image_corrupt')
      expect(await outcome(model, cut)).toBe('garment_image_corrupt')
    }
  })

  it('produces a picture or an image error after random damage', async () => {
    const random = createRandom(20)
    const seen = new Map<string | null, number>()
    const rounds = inject('matrix') === 'all' ? 100 : 20
    for (let round = 0; round < rounds; round++) {
      const original = [model, modelJpeg, cloth][round % 3]!
      const broken = toFile(mutate(original.bytes, random), original.format)
      const result = await (round % 2 === 0 ? outcome(broken, cloth) : outcome(model, broken))
      seen.set(result, (seen.get(result) ?? 0) + 1)
    }
    expect(seen.size).toBeGreaterThan(1)
    expect(await outcome(model, cloth)).toBe('jpeg')
  }, 120_000)

  it('is corrupt when it is not of the stated format', async () => {
    for (const bytes of [[], [0xff], [0xff, 0xd8, 0xff], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]]) {
      for (const format of ['jpeg', 'png', 'webp'] as const) {
        expect(await outcome(toFile(Uint8Array.from(bytes), format), cloth)).toBe(
          'model_image_corrupt',
        )
      }
    }
  })
})

/** Damages a file in one of five ways, at random. */
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
      // The first bytes contain the sizes.
      for (let i = 0; i < 6; i++) copy[12 + Math.floor(random() * 40)] = Math.floor(random() * 256)
      return copy
    }
    case 3: {
      const start = at()
      return copy.fill(Math.floor(random() * 256), start, start + 1 + Math.floor(random() * 2000))
    }
    default:
      return concat([copy.subarray(0, at()), copy.subarray(at())]) // a piece removed or duplicated
  }
}

describe('an unusual but valid PNG', () => {
  const width = 120
  const height = 135

  it.each([
    ['grey', 0, 8, 1],
    ['16-bit grey', 0, 16, 2],
    ['grey with alpha', 4, 8, 2],
    ['16-bit colour', 2, 16, 6],
    ['16-bit colour with alpha', 6, 16, 8],
    ['palette', 3, 8, 1],
  ])('is accepted: %s', async (_, colourType, depth, bytesPerPixel) => {
    const drawn = garment({ width, height, backdrop: '#ffffff', colour: '#202020' })
    const lines = new Uint8Array((width * bytesPerPixel + 1) * height)
    eachPixel(width, [0, 0, width, height], (at, x, y) => {
      const start = y * (width * bytesPerPixel + 1) + 1 + x * bytesPerPixel
      lines.fill(drawn.data[at * 4]!, start, start + bytesPerPixel)
      if (colourType === 4) lines[start + 1] = 255
      if (colourType === 6) lines.fill(255, start + 6, start + 8)
    })
    const palette = pngChunk(
      'PLTE',
      Uint8Array.from({ length: 768 }, (__, i) => Math.floor(i / 3)),
    )
    const file = await pngFile(
      { width, height, depth, colourType },
      lines,
      colourType === 3 ? [palette] : [],
    )
    expect(await outcome(model, toFile(file))).toBe('jpeg')
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
  return concat([file.subarray(0, at), new Uint8Array(fillBytes).fill(0xff), frame])
}

describe('a CMYK JPEG', () => {
  it.each([0, 1, 3])('is unsupported with %i fill bytes before its frame', async (fill) => {
    // The decoder would abort.
    const cmyk = toFile(withFrame(modelJpeg.bytes, { components: 4 }, fill))
    expect(await outcome(cmyk, cloth)).toBe('model_image_unsupported_format')
  })
})

describe('a file whose decoding needs more memory per pixel', () => {
  it.each([0, 1, 3])('has a lower limit: a progressive JPEG, %i fill bytes', async (fill) => {
    const [side, original] = [3_600, modelJpeg.bytes]
    const progressive = toFile(withFrame(original, { marker: 0xc2, side }, fill))
    expect(await outcome(progressive, cloth)).toBe('model_image_too_large')
    // A baseline JPEG of this size is allowed; this one is truncated.
    const baseline = toFile(withFrame(original, { side }, fill).subarray(0, -2))
    expect(await outcome(baseline, cloth)).toBe('model_image_corrupt')
  })

  it('has a lower limit: a lossless WebP inside an animation', async () => {
    const size = { width: 3_000, height: 3_000 }
    const animation = (image: Uint8Array) =>
      toFile(webpFile(canvasChunk(ANIMATION, size), frameChunk(size, image)))
    expect(await outcome(animation(losslessChunk(size)), cloth)).toBe('model_image_too_large')
    expect(await outcome(animation(lossyHeaderChunk(size)), cloth)).toBe('model_image_corrupt')
  })
})

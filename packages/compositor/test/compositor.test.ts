// Properties of the composed picture, tested with drawn people and garments.
import { detectFormat } from '@try-on/image-files'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { dress, encodeJpeg, CompositionError } from '../src/index.ts'
import type { ImageFile } from '../src/load.ts'
import type { Rgba } from '../samples/index.ts'
import {
  codecs,
  decode,
  figure,
  garment,
  jpeg,
  png,
  storedAs,
  toFile,
  withOrientation,
  tools,
} from './files.ts'

const isSample = inject('matrix') === 'sample'
const KINDS = ['tshirt', 'longsleeve', 'hoodie', 'tank', 'dress'] as const
/** The photographs have the other kinds. */
const SAMPLE = ['hoodie', 'dress'] as const

const fileOf = async (model: ImageFile, cloth: ImageFile) =>
  toFile(await dress(tools, { model, garment: cloth }))

const pictureOf = async (model: ImageFile, cloth: ImageFile): Promise<Rgba> =>
  decode(await fileOf(model, cloth))

/** The code of the error. */
const refusalOf = (model: ImageFile, cloth: ImageFile) =>
  dress(tools, { model, garment: cloth }).then(
    () => 'nothing',
    (error: unknown) => (error instanceof CompositionError ? error.code : String(error)),
  )

const pixel = ({ width, data }: Rgba, x: number, y: number) => [
  ...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3),
]

function meanDifference(one: Rgba, other: Rgba, mirror = false): number {
  let sum = 0
  for (let y = 0; y < one.height; y++) {
    for (let x = 0; x < one.width; x++) {
      const from = pixel(one, x, y)
      const to = pixel(other, mirror ? one.width - 1 - x : x, y)
      for (let c = 0; c < 3; c++) sum += Math.abs(from[c]! - to[c]!)
    }
  }
  return sum / (one.width * one.height * 3)
}

function enlarged(picture: Rgba, times: number): Rgba {
  const result = blank(picture.width * times, picture.height * times, [0, 0, 0, 255])
  const from = new Uint32Array(picture.data.buffer)
  const to = new Uint32Array(result.data.buffer)
  for (let i = 0; i < to.length; i++) {
    const x = Math.floor((i % result.width) / times)
    to[i] = from[Math.floor(i / result.width / times) * picture.width + x]!
  }
  return result
}

/** Counts how often other work gets the thread. */
function countTurns(): { stop(): Promise<number> } {
  const over = new AbortController()
  const counting = (async () => {
    let turns = 0
    for (; !over.signal.aborted; turns++) await new Promise((resolve) => setTimeout(resolve, 0))
    return turns
  })()
  return {
    stop() {
      over.abort()
      return counting
    },
  }
}

const blank = (width: number, height: number, colour: readonly number[]): Rgba => ({
  width,
  height,
  data: Uint8ClampedArray.from({ length: width * height * 4 }, (_, i) => colour[i % 4]!),
})

describe('dress, with a T-shirt', () => {
  let file: ImageFile
  let before: Rgba
  let after: Rgba
  let turns: number
  beforeAll(async () => {
    const [model, cloth] = [await png(figure()), await png(garment({ background: 'transparent' }))]
    const counting = countTurns()
    file = await fileOf(model, cloth)
    turns = await counting.stop()
    after = await decode(file)
    // The photo after the same JPEG encoding, without a garment.
    const plain = await encodeJpeg(figure(), 90)
    before = await codecs.decode(plain, 'jpeg', 9999)
  }, 120_000)

  it('returns a JPEG of the size of the photo', () => {
    expect([after.width, after.height]).toEqual([240, 360])
    expect(detectFormat(file.bytes)).toBe('jpeg')
  })

  it('gives the thread to other work between all of its steps', () => {
    expect(turns).toBeGreaterThan(80)
  })

  it('shows the garment on the chest and the belly', () => {
    for (const y of [100, 130, 160]) {
      const [red, green, blue] = pixel(after, 120, y)
      expect(red! - Math.max(green!, blue!)).toBeGreaterThan(60)
    }
  })

  it('shows the garment on the upper arms but not on the hands', () => {
    const arm = pixel(after, 88, 104)
    const hand = pixel(after, 66, 208)
    expect(arm[0]! - arm[2]!).toBeGreaterThan(100)
    expect(hand).toEqual(pixel(before, 66, 208).map((value) => expect.closeTo(value, -1.5)))
  })

  it('does not change pixels away from the body', () => {
    for (let y = 0; y < 360; y += 3) {
      for (let x = 0; x < 240; x += 3) {
        if (x > 50 && x < 190 && y > 50 && y < 230) continue
        const [actual, original] = [pixel(after, x, y), pixel(before, x, y)]
        for (let c = 0; c < 3; c++) expect(Math.abs(actual[c]! - original[c]!)).toBeLessThan(10)
      }
    }
  })

  it('does not change the face', () => {
    for (let y = 28; y < 64; y += 2) {
      for (let x = 108; x < 132; x += 2) {
        const [actual, original] = [pixel(after, x, y), pixel(before, x, y)]
        for (let c = 0; c < 3; c++) expect(Math.abs(actual[c]! - original[c]!)).toBeLessThan(10)
      }
    }
  })

  it('returns a symmetric picture for symmetric images', () => {
    expect(meanDifference(before, before, true)).toBeLessThan(0.5)
    expect(meanDifference(after, after, true)).toBeLessThan(1.2)
  })
})

describe('dress', () => {
  it('returns the same bytes for the same images, without their metadata', async () => {
    const stored = await jpeg(figure({ grain: 0.02 }))
    const [model, cloth] = [toFile(withOrientation(stored.bytes, 1)), await jpeg(garment())]
    const [one, other] = await Promise.all([fileOf(model, cloth), fileOf(model, cloth)])
    expect(one.bytes).toEqual(other.bytes)
    expect(new TextDecoder('latin1').decode(one.bytes)).not.toContain('Exif')
  })

  it('applies EXIF orientations', async () => {
    const orientations = isSample ? [3, 6] : [2, 3, 4, 5, 6, 7, 8]
    const upright = figure({ width: 160, height: 240 })
    const cloth = await png(garment({ background: 'transparent' }))
    const expected = await pictureOf(await jpeg(upright), cloth)
    for (const orientation of orientations) {
      const stored = await jpeg(storedAs(upright, orientation))
      const actual = await pictureOf(toFile(withOrientation(stored.bytes, orientation)), cloth)
      expect([actual.width, actual.height]).toEqual([160, 240])
      expect(meanDifference(actual, expected)).toBeLessThan(1.5)
    }
  }, 120_000)

  it('limits the longer side to 1,536 pixels', async () => {
    const model = await png(enlarged(figure(), 5))
    const { width, height } = await pictureOf(model, await png(garment()))
    expect([width, height]).toEqual([1024, 1536])
  })

  it.each(isSample ? SAMPLE : KINDS)('renders a %s', async (kind) => {
    const cloth = await png(garment({ kind, background: 'gradient', shadow: true }))
    const [red, green, blue] = pixel(await pictureOf(await jpeg(figure()), cloth), 120, 140)
    expect(red! - Math.max(green!, blue!)).toBeGreaterThan(60)
  })
})

describe('dress, without a person in the model image', () => {
  it.each([
    ['a plain wall', () => blank(200, 300, [200, 180, 160, 255])],
    ['a transparent image', () => blank(200, 300, [0, 0, 0, 0])],
    ['a single pixel', () => blank(1, 1, [9, 9, 9, 255])],
    ['a garment', () => garment({ backdrop: '#ffffff' })],
    ['noise', () => ({ ...blank(200, 300, [0, 0, 0, 255]), data: noise(200 * 300 * 4) })],
    ['a rectangle', () => rectangle()],
  ])('refuses %s', async (_, draw) => {
    expect(await refusalOf(await png(draw()), await png(garment()))).toBe('person_not_found')
  })
})

describe('dress, without a garment in the garment image', () => {
  it.each([
    ['a plain wall', () => blank(200, 300, [200, 180, 160, 255])],
    ['a transparent image', () => blank(200, 300, [0, 0, 0, 0])],
    ['a single pixel', () => blank(1, 1, [9, 9, 9, 255])],
    ['a line', () => blank(300, 2, [9, 9, 9, 255])],
  ])('refuses %s', async (_, draw) => {
    expect(await refusalOf(await png(figure()), await png(draw()))).toBe('garment_not_found')
  })
})

function rectangle(): Rgba {
  const picture = blank(200, 300, [240, 240, 240, 255])
  for (let y = 60; y < 240; y++) {
    for (let x = 60; x < 140; x++) picture.data.set([90, 90, 160, 255], (y * 200 + x) * 4)
  }
  return picture
}

function noise(length: number): Uint8ClampedArray {
  let state = 1
  return Uint8ClampedArray.from({ length }, (_, i) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return i % 4 === 3 ? 255 : state >>> 24
  })
}

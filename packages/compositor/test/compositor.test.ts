// Properties of the composed picture, tested with drawn people and garments.
import { detectFormat } from '@try-on/image-files'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { dress, encodeJpeg } from '../src/index.ts'
import type { ImageFile } from '../src/load.ts'
import type { Rgba } from '../samples/index.ts'
import {
  codecs,
  codeOf,
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
import { differences, eachPixel, noise, pixel, plain } from './pixels.ts'

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
  dress(tools, { model, garment: cloth }).then(() => 'nothing', codeOf)

/** The mean difference from the mirrored picture. */
const asymmetry = (picture: Rgba) => differences(picture, storedAs(picture, 2)).mean

function enlarged(picture: Rgba, times: number): Rgba {
  const result = plain(picture.width * times, picture.height * times, [0, 0, 0, 255])
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
    before = await codecs.decode(await encodeJpeg(figure(), 90), 'jpeg', 9999)
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

  it.each([
    [
      'pixels away from the body',
      (x: number, y: number) => x <= 50 || x >= 190 || y <= 50 || y >= 230,
    ],
    ['the face', (x: number, y: number) => x >= 108 && x < 132 && y >= 28 && y < 64],
  ])('does not change %s', (_, isIn) => {
    let most = 0
    eachPixel(240, [0, 0, 240, 360], (at, x, y) => {
      if (!isIn(x, y)) return
      for (let i = at * 4; i < at * 4 + 3; i++) {
        most = Math.max(most, Math.abs(after.data[i]! - before.data[i]!))
      }
    })
    expect(most).toBeLessThan(10)
  })

  it('returns a symmetric picture for symmetric images', () => {
    expect(asymmetry(before)).toBeLessThan(0.5)
    expect(asymmetry(after)).toBeLessThan(1.2)
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
      expect(differences(actual, expected).mean).toBeLessThan(1.5)
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

/** Images of nothing. */
const EMPTY: [name: string, draw: () => Rgba][] = [
  ['a plain wall', () => plain(200, 300, [200, 180, 160, 255])],
  ['a transparent image', () => plain(200, 300, [0, 0, 0, 0])],
  ['a single pixel', () => plain(1, 1, [9, 9, 9, 255])],
]

describe('dress, without a person in the model image', () => {
  it.each([
    ...EMPTY,
    ['a garment', () => garment({ backdrop: '#ffffff' })],
    ['noise', () => noise(200, 300)],
    ['a rectangle', () => rectangle()],
  ])('refuses %s', async (_, draw) => {
    expect(await refusalOf(await png(draw()), await png(garment()))).toBe('person_not_found')
  })
})

describe('dress, without a garment in the garment image', () => {
  it.each([...EMPTY, ['a line', () => plain(300, 2, [9, 9, 9, 255])]])(
    'refuses %s',
    async (_, draw) => {
      expect(await refusalOf(await png(figure()), await png(draw()))).toBe('garment_not_found')
    },
  )
})

function rectangle(): Rgba {
  const picture = plain(200, 300, [240, 240, 240, 255])
  eachPixel(200, [60, 60, 140, 240], (at) => picture.data.set([90, 90, 160], at * 4))
  return picture
}

/// <reference types="vite/types/importMeta.d.ts" />
// The package's own JPEG encoder and decoder, compared with the library's decoder.
import { concat, jpegFile, jpegScan, jpegSegment } from '@try-on/image-files/samples'
import { describe, expect, it, vi } from 'vitest'
import { createRandom, type Rgba } from '../samples/index.ts'
import { encodeJpeg } from '../src/index.ts'
import { decodeJpeg } from '../src/jpeg/decode.ts'
import { huffmanCodes } from '../src/jpeg/huffman-codes.ts'
import { shrink } from '../src/raster.ts'
import { codecs, figure, forLibrary } from './files.ts'
import { differences, noise, plain } from './pixels.ts'

const samples = import.meta.glob<string>(['../../../samples/*.jpg', './progressive.jpg'], {
  query: '?inline',
  import: 'default',
  eager: true,
})
const bytesOf = (path: string) => Uint8Array.fromBase64(samples[path]!.split(',')[1]!)
const sample = (name: string) => bytesOf(`../../../samples/${name}.jpg`)

/** `samples/model.jpg`, blurred, with 151 × 203 pixels, chroma in half resolution and the usual nine scans. */
const progressive = bytesOf('./progressive.jpg')

/** Decodes with the library. */
const decodeByLibrary = (file: Uint8Array) => codecs.decode(forLibrary(file), 'jpeg', 9999)

describe('encodeJpeg', () => {
  it('keeps colours', async () => {
    for (const colour of [
      [255, 0, 0, 255],
      [0, 255, 0, 255],
      [0, 0, 255, 255],
      [255, 255, 255, 255],
      [0, 0, 0, 255],
      [201, 134, 87, 255],
    ]) {
      const picture = plain(20, 12, colour)
      const file = await encodeJpeg(picture, 90)
      expect(differences(await decodeByLibrary(file), picture).most).toBeLessThanOrEqual(3)
    }
  })

  it.each([
    [1, 1],
    [7, 9],
    [8, 8],
    [17, 33],
  ])('encodes pictures of %i × %i pixels', async (width, height) => {
    const picture = figure({ width: 40, height: 60 })
    const part = plain(width, height, [0, 0, 0, 255])
    for (let y = 0; y < height; y++) {
      part.data.set(picture.data.subarray(y * 160, y * 160 + width * 4), y * width * 4)
    }
    const file = await encodeJpeg(part, 95)
    expect(differences(await decodeByLibrary(file), part).mean).toBeLessThan(3)
  })

  it('loses little at quality 90 and less at 100, noise included', async () => {
    const [picture, grains] = [figure(), noise(64, 64)]
    const loss = async (original: Rgba, quality: number) =>
      differences(await decodeByLibrary(await encodeJpeg(original, quality)), original).mean
    expect(await loss(picture, 90)).toBeLessThan(1)
    expect(await loss(grains, 100)).toBeLessThan(1)
    expect(await loss(grains, 1)).toBeGreaterThan(await loss(grains, 50))
  })

  it('pauses while it encodes', async () => {
    const pauses = vi.spyOn(globalThis, 'setTimeout')
    await encodeJpeg(plain(2_000, 2_000, [9, 9, 9, 255]), 90)
    expect(pauses.mock.calls.length).toBeGreaterThan(4)
    pauses.mockRestore()
  })
})

describe('huffmanCodes', () => {
  it('has no code of more than 16 bits, and none of ones only', () => {
    const frequencies = new Uint32Array(256)
    for (let i = 0, [one, next] = [1, 1]; i < 40; i++, [one, next] = [next, one + next]) {
      frequencies[i] = one
    }
    const { lengths, codes, counts, symbols } = huffmanCodes(frequencies)
    expect(Math.max(...lengths)).toBe(16)
    expect(symbols).toHaveLength(40)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40)
    const used = symbols.reduce((sum, symbol) => sum + 2 ** -lengths[symbol]!, 0)
    expect(used).toBeLessThan(1)
    for (const symbol of symbols) expect(codes[symbol]! + 1).toBeLessThan(2 ** lengths[symbol]!)
  })
})

describe('decodeJpeg', () => {
  it.each([
    ['model', sample('model')],
    ['garment', sample('garment')],
    ['tee-printed', sample('tee-printed')],
    ['progressive', progressive],
  ])('gives the pixels of the library: %s', async (_, file) => {
    const { mean, most } = differences((await decodeJpeg(file, 9999))!, await decodeByLibrary(file))
    expect(mean).toBeLessThan(0.6)
    expect(most).toBeLessThan(8)
  })

  it.each([600, 400, 200, 100, 7])('shrinks to %i pixels like the library', async (maxSide) => {
    for (const file of [sample('model'), progressive]) {
      const own = (await decodeJpeg(file, maxSide))!
      const { mean } = differences(own, shrink(await decodeByLibrary(file), maxSide))
      expect(mean).toBeLessThan(2)
    }
  })

  it('decodes pictures with a scan for each component', async () => {
    const scans = [1, 2, 3].map((id) => jpegScan([id], [0, 63], new Uint8Array(64)))
    const file = jpegFile({ width: 61, height: 43, sampling: [0x22, 0x11, 0x11], scans })
    const picture = (await decodeJpeg(file, 64))!
    expect(differences(picture, await decodeByLibrary(file)).most).toBe(0)
  })

  it('decodes grey pictures and restart markers', async () => {
    const restarts = Uint8Array.from(
      { length: 103 },
      (_, i) => [0, 0xff, 0xd0 + (((i - 2) / 3) % 8)][i % 3]!,
    )
    const grey = () => {
      const scans = [jpegScan([1], [0, 63], restarts)]
      return jpegFile({ width: 52, height: 38, extra: [jpegSegment(0xdd, [0, 1])], scans })
    }
    const picture = (await decodeJpeg(grey(), 9999))!
    expect(differences(picture, await decodeByLibrary(grey())).most).toBe(0)
    // The second marker has the wrong number.
    restarts[5] = 0xd3
    expect(await decodeJpeg(grey(), 9999)).toBeNull()
  })

  it('leaves other kinds to the library', async () => {
    const size = { width: 64, height: 64 }
    const colour = [0x11, 0x11, 0x11]
    const rgb = jpegSegment(0xee, [...new TextEncoder().encode('Adobe'), 0, 100, 0, 0, 0, 0, 0])
    for (const file of [
      jpegFile({ ...size, coding: 0xc1 }),
      jpegFile({ ...size, coding: 0xc2, scans: Array<Uint8Array>(25).fill(jpegScan([1], [0, 0])) }),
      jpegFile({ ...size, precision: 12 }),
      jpegFile({ ...size, sampling: [0x11, 0x22, 0x11] }),
      jpegFile({ ...size, sampling: [0x41, 0x11, 0x11] }),
      jpegFile({ ...size, sampling: colour, extra: [rgb] }),
    ]) {
      expect(await decodeJpeg(file, 64)).toBeNull()
    }
    const usual = jpegFile({ ...size, scans: [jpegScan([1], [0, 63], new Uint8Array(16))] })
    expect(await decodeJpeg(usual, 64)).not.toBeNull()
  })

  it.each([
    ['baseline', () => encodeJpeg(figure({ width: 60, height: 90 }), 90)],
    ['progressive', () => progressive],
  ])(
    'leaves damaged files to the library, unless the library decodes them, too: %s',
    async (_, encode) => {
      const file = await encode()
      const random = createRandom(11)
      const at = (length: number) => Math.floor(random() * length)
      let refused = 0
      for (let i = 0; i < 300; i++) {
        const damaged = Uint8Array.from(file)
        for (let bytes = 1 + at(3); bytes > 0; bytes--) damaged[2 + at(file.length - 4)] = at(256)
        const cut = i % 3 === 0 ? concat([damaged.subarray(0, at(file.length)), END]) : damaged
        const picture = await decodeJpeg(cut, 9999)
        if (!picture) refused++
        else if (picture.width * picture.height < 1e6) {
          const { width, height } = await decodeByLibrary(cut)
          expect([picture.width, picture.height]).toEqual([width, height])
        }
      }
      expect(refused).toBeGreaterThan(50)
    },
    60_000,
  )
})

const END = Uint8Array.of(0xff, 0xd9)

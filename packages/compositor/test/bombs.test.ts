// Decompression bombs: files that cost a decoder far more than their size suggests. They are rejected
// before a decoder runs, except where only the decoder can notice: its memory is limited.
import { describe, expect, it, vi } from 'vitest'
import { createCodecs } from '../src/codecs.ts'
import { load } from '../src/load.ts'
import { workerModules } from '../src/worker-modules.ts'
import {
  ALPHA,
  ANIMATION,
  canvasChunk,
  concat,
  frameChunk,
  jpegFile,
  jpegScan,
  jpegSegment,
  losslessChunk,
  losslessWithCodeSets,
  lossyHeaderChunk,
  pngChunk,
  pngFile,
  riffChunk,
  webpFile,
} from '@try-on/image-files/samples'
import { codeOf, toFile } from './files.ts'

/** The size of the picture or the error, and whether a decoder ran. */
async function outcome(bytes: Uint8Array) {
  const codecs = createCodecs(workerModules)
  const decode = vi.spyOn(codecs, 'decode')
  const result = await load(codecs, toFile(bytes), 'model', 64).then(
    ({ width, height }) => `${width} × ${height}`,
    codeOf,
  )
  return { result, decoded: decode.mock.calls.length > 0 }
}

const rejected = (problem: string) => ({ result: `model_image_${problem}`, decoded: false })
const square = (side: number) => ({ width: side, height: side })
/** Sides of square images at and above the pixel limits. */
const [LIGHT, OVER_LIGHT] = [3_741, 3_742]
const [OVER_MEDIUM, OVER_HEAVY] = [3_536, 2_450]
/** The same for usual JPEGs, of one scan and of several. */
const [OVER_USUAL, OVER_BUFFERED] = [7_142, 5_001]

describe('a WebP bomb', () => {
  it('is rejected when its first frame is larger than its canvas', async () => {
    const frame = frameChunk(square(12_000), losslessChunk(square(12_000)))
    const bomb = webpFile(canvasChunk(ANIMATION, square(100)), frame)
    expect(await outcome(bomb)).toEqual(rejected('corrupt'))
  })

  it('is rejected when its image data is larger than its frame or canvas', async () => {
    const data = losslessChunk(square(12_000))
    const frame = frameChunk(square(100), data)
    const animation = webpFile(canvasChunk(ANIMATION, square(100)), frame)
    expect(await outcome(animation)).toEqual(rejected('corrupt'))
    const still = webpFile(canvasChunk(0, square(100)), data)
    expect(await outcome(still)).toEqual(rejected('corrupt'))
  })

  it('is rejected by the number of pixels of its image data', async () => {
    const lossy = webpFile(lossyHeaderChunk(square(OVER_MEDIUM)))
    expect(await outcome(lossy)).toEqual(rejected('too_large'))
    const lossless = webpFile(losslessChunk(square(OVER_HEAVY)))
    expect(await outcome(lossless)).toEqual(rejected('too_large'))
  })

  it('has a lower limit when its alpha is compressed', async () => {
    const file = (compression: number) =>
      webpFile(
        canvasChunk(ALPHA, square(OVER_HEAVY)),
        riffChunk('ALPH', Uint8Array.of(compression, 0x88, 0x88, 0x08)),
        lossyHeaderChunk(square(OVER_HEAVY)),
      )
    expect(await outcome(file(1))).toEqual(rejected('too_large'))
    expect((await outcome(file(0))).result).toBe('model_image_corrupt')
  })

  it('reaches the memory limit when its Huffman codes need a gigabyte', async () => {
    const file = (sets: number) => webpFile(losslessWithCodeSets(square(1_024), sets))
    expect((await outcome(file(500))).result).toBe('64 × 64')
    expect((await outcome(file(65_536))).result).toBe('model_image_too_large')
  })

  it('is passed to the decoder without chunks other than the image', async () => {
    const noise = Array<Uint8Array>(1_000).fill(riffChunk('JUNK', new Uint8Array(9)))
    const file = webpFile(canvasChunk(0, square(80)), ...noise, losslessChunk(square(80)))
    expect(await outcome(file)).toEqual({ result: '64 × 64', decoded: true })
  })
})

describe('a JPEG bomb', () => {
  const colour = [0x11, 0x11, 0x11]

  it('is rejected with too many scans', async () => {
    const scans = (count: number) => Array<Uint8Array>(count).fill(jpegScan([1], [1, 63]))
    const file = (count: number) =>
      jpegFile({ ...square(64), coding: 0xc2, scans: [jpegScan([1], [0, 0]), ...scans(count)] })
    expect((await outcome(file(99))).result).toBe('64 × 64')
    expect(await outcome(file(100))).toEqual(rejected('corrupt'))
    expect(await outcome(file(600_000))).toEqual(rejected('corrupt'))
  })

  it('is rejected with too many segments', async () => {
    const extra = Array<Uint8Array>(2_000_000).fill(jpegSegment(0xe1, []))
    expect(await outcome(jpegFile({ ...square(64), extra }))).toEqual(rejected('corrupt'))
  })

  it('has a lower limit when each component has a scan', async () => {
    const scans = [1, 2, 3].map((id) => jpegScan([id], [0, 63]))
    const file = jpegFile({ ...square(OVER_BUFFERED), sampling: colour, scans })
    expect(await outcome(file)).toEqual(rejected('too_large'))
    const whole = jpegFile({ ...square(OVER_MEDIUM), sampling: colour })
    expect((await outcome(whole)).result).toBe('64 × 64')
  })

  it('is rejected by its number of pixels', async () => {
    expect(await outcome(jpegFile(square(OVER_USUAL)))).toEqual(rejected('too_large'))
    expect((await outcome(jpegFile(square(LIGHT)))).result).toBe('64 × 64')
  })

  it('is not decoded by the library when only a usual one may have its size', async () => {
    const [side, damaged] = [6_000, jpegFile(square(OVER_LIGHT))]
    // Two bits for each block.
    const scans = [jpegScan([1], [0, 63], new Uint8Array((side / 8) ** 2 / 4))]
    expect((await outcome(jpegFile({ ...square(side), scans }))).result).toBe('64 × 64')
    expect((await outcome(damaged)).result).toBe('model_image_too_large')
  })

  it.each([
    ['arithmetic coding', { coding: 0xc9 }],
    ['lossless coding', { coding: 0xc3 }],
    ['12 bits', { coding: 0xc1, precision: 12 }],
    ['two components', { sampling: [0x11, 0x11] }],
    ['four components', { sampling: [0x11, 0x11, 0x11, 0x11] }],
    ['ten components', { sampling: Array<number>(10).fill(0x11) }],
  ])('is unsupported with %s', async (_, change) => {
    const file = jpegFile({ ...square(64), ...change })
    expect(await outcome(file)).toEqual(rejected('unsupported_format'))
  })

  it('is corrupt without a height and with invalid sampling factors', async () => {
    expect(await outcome(jpegFile({ width: 64, height: 0 }))).toEqual(rejected('corrupt'))
    for (const sampling of [
      [0x00, 0x11, 0x11],
      [0x55, 0x11, 0x11],
      [0x31, 0x21, 0x11],
      [0x44, 0x44, 0x44],
    ]) {
      const { result } = await outcome(jpegFile({ ...square(64), sampling }))
      expect(result).toBe('model_image_corrupt')
    }
  })
})

describe('a PNG bomb', () => {
  const header = { ...square(80), depth: 8, colourType: 6 }
  const lines = (side: number, bytesPerPixel: number, more = 0) =>
    new Uint8Array((side * bytesPerPixel + 1) * side + more)

  it('is rejected when its data is far more than the image', async () => {
    expect(await outcome(await pngFile(header, lines(80, 4, 1_000)))).toEqual({
      result: '64 × 64',
      decoded: true,
    })
    const bomb = await pngFile(header, new Uint8Array(64 * 1024 * 1024))
    expect(bomb.length).toBeLessThan(70_000)
    expect(await outcome(bomb)).toEqual(rejected('corrupt'))
  })

  it('is rejected when its data is too little or damaged', async () => {
    expect(await outcome(await pngFile(header, new Uint8Array(1_000)))).toEqual(rejected('corrupt'))
    const damaged = await pngFile(header, lines(80, 4))
    damaged.fill(0x55, 50, 60)
    expect(await outcome(damaged)).toEqual(rejected('corrupt'))
  })

  it('is rejected by its number of pixels, with lower limits without alpha, with 16 bits and in grey', async () => {
    for (const [side, colourType, depth] of [
      [OVER_LIGHT, 6, 8],
      [OVER_HEAVY, 2, 8],
      [OVER_HEAVY, 3, 8],
      [OVER_HEAVY, 6, 16],
      [OVER_MEDIUM, 0, 8],
      [OVER_MEDIUM, 4, 8],
    ] as const) {
      const file = await pngFile({ ...square(side), colourType, depth }, new Uint8Array(8))
      expect(await outcome(file)).toEqual(rejected('too_large'))
    }
  })

  it('is decoded without its profiles, texts and animations', async () => {
    const packed = await pngFile(header, new Uint8Array(32 * 1024 * 1024))
    const body = concat([new TextEncoder().encode('name'), new Uint8Array(2), packed.subarray(41)])
    const smaller = new Uint8Array(26)
    new DataView(smaller.buffer).setUint32(4, 10)
    new DataView(smaller.buffer).setUint32(8, 10)
    const extra = [
      ...['iCCP', 'zTXt', 'iTXt', 'eXIf'].map((type) => pngChunk(type, body)),
      pngChunk('acTL', new Uint8Array(8)),
      pngChunk('fcTL', smaller),
      pngChunk('fdAT', body),
    ]
    expect(await outcome(await pngFile(header, lines(80, 4), extra))).toEqual({
      result: '64 × 64',
      decoded: true,
    })
  })
})

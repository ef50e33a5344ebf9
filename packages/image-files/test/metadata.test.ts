import { describe, expect, it } from 'vitest'
import { jpegFile, jpegScan, jpegSegment } from '../samples/jpeg.ts'
import { concat, encodePng, pngChunk } from '../samples/png.ts'
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
import { jpegSegments } from '../src/jpeg.ts'
import { withMetadata } from '../src/metadata.ts'
import { orientationOf, orientationTiff } from '../src/orientation.ts'
import { pngChunks } from '../src/png.ts'
import { inspectWebp, riffChunks } from '../src/webp.ts'

const XMP = '<x:xmpmeta/>'
const SECRET = 'GPS 48.85, 2.35'
const ascii = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) =>
  Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')

const written = (file: Uint8Array, format: 'jpeg' | 'png' | 'webp') => {
  const parts = withMetadata(file, format, XMP)
  if ('corrupt' in parts) throw new Error(parts.corrupt)
  return concat(parts)
}

const small = { width: 6, height: 4 }
const PIXELS = { ...small, data: new Uint8ClampedArray(6 * 4 * 4).fill(90) }

describe('withMetadata, of a JPEG', () => {
  const app = (marker: number, text: string) => jpegSegment(marker, ascii(text + SECRET))
  const jfif = jpegSegment(0xe0, ascii('JFIF\0\x01\x01\0\0\x01\0\x01\0\0'))
  const profile = jpegSegment(0xe2, ascii('ICC_PROFILE\0\x01\x01a profile'))
  const adobe = jpegSegment(0xee, ascii('Adobe\0\x64\0\0\0\0\x01'))
  const metadata = [
    app(0xe1, 'Exif\0\0'),
    app(0xe1, 'http://ns.adobe.com/xap/1.0/\0'),
    app(0xed, 'Photoshop 3.0\0'),
    app(0xe0, 'JFIF\0'),
    app(0xe0, 'JFXX\0'),
    app(0xe2, 'MPF\0'),
    app(0xeb, 'JP'),
    app(0xfe, ''),
    app(0xf3, ''),
  ]

  it('keeps the picture and its colours, and has no other metadata than the XMP', () => {
    const scan = jpegScan([1], [0, 63], Uint8Array.of(1, 0xff, 0, 2, 0xff, 0xd0, 3))
    const file = jpegFile({ ...small, extra: [jfif, ...metadata, profile, adobe], scans: [scan] })
    const trailer = concat([file, ascii(SECRET)])
    const plain = jpegFile({ ...small, extra: [jfif, profile, adobe], scans: [scan] })
    const xmp = jpegSegment(0xe1, ascii(`http://ns.adobe.com/xap/1.0/\0${XMP}`))
    const expected = concat([
      plain.subarray(0, 2 + jfif.length),
      xmp,
      plain.subarray(2 + jfif.length),
    ])
    expect(written(trailer, 'jpeg')).toEqual(expected)
    expect(written(expected, 'jpeg')).toEqual(expected)
  })

  it('removes metadata between scans and before a first segment that is not JFIF', () => {
    const scans = [jpegScan([1], [0, 0]), ...metadata, jpegScan([1], [1, 63])]
    const file = jpegFile({ ...small, coding: 0xc2, extra: metadata, scans })
    const result = written(file, 'jpeg')
    expect(textOf(result)).not.toContain(SECRET)
    expect(Array.from(jpegSegments(result), ({ marker }) => marker)).toEqual([
      0xe1, 0xdb, 0xc2, 0xc4, 0xc4, 0xda, 0xda, 0xd9,
    ])
  })

  it('contains the image data as views of the file', () => {
    const file = jpegFile({ ...small, extra: metadata })
    const parts = withMetadata(file, 'jpeg', XMP)
    if ('corrupt' in parts) throw new Error(parts.corrupt)
    const copied = parts.filter(({ buffer }) => buffer !== file.buffer)
    expect(copied).toHaveLength(1)
  })
})

describe('withMetadata, of a PNG', () => {
  it('keeps the picture and its colours, and has no other metadata than the XMP', async () => {
    const file = await encodePng(PIXELS)
    const gamma = pngChunk('gAMA', Uint8Array.of(0, 0, 0xb1, 0x8f))
    const text = ['tEXt', 'zTXt', 'iTXt', 'eXIf', 'tIME', 'caBX', 'prVt', 'CRIT']
    const secrets = text.map((type) => pngChunk(type, ascii(SECRET)))
    const [head, rest] = [file.subarray(0, 33), file.subarray(33)]
    const withSecrets = concat([head, ...secrets, gamma, rest, ascii(SECRET)])
    const xmp = pngChunk('iTXt', ascii(`XML:com.adobe.xmp\0\0\0\0\0${XMP}`))
    const expected = concat([head, xmp, gamma, rest])
    expect(written(withSecrets, 'png')).toEqual(expected)
    expect(written(expected, 'png')).toEqual(expected)
  })
})

describe('withMetadata, of a WebP', () => {
  const secrets = ['EXIF', 'XMP ', 'JUNK'].map((type) => riffChunk(type, ascii(SECRET)))
  const xmp = riffChunk('XMP ', ascii(XMP))

  it('extends a simple file', () => {
    expect(written(webpFile(lossyHeaderChunk(small)), 'webp')).toEqual(
      webpFile(canvasChunk(0x04, small), lossyHeaderChunk(small), xmp),
    )
    const transparent = losslessChunk(small)
    transparent[12]! |= 0x10
    expect(written(webpFile(transparent), 'webp')).toEqual(
      webpFile(canvasChunk(0x04 | ALPHA, small), transparent, xmp),
    )
  })

  it('keeps the picture and its colours, and has no other metadata than the XMP', () => {
    const image = [riffChunk('ALPH', Uint8Array.of(0, 1, 2)), lossyHeaderChunk(small)]
    const profile = riffChunk('ICCP', ascii('a profile'))
    const file = webpFile(canvasChunk(0x2c | ALPHA, small), profile, ...image, ...secrets)
    const expected = webpFile(canvasChunk(0x24 | ALPHA, small), profile, ...image, xmp)
    expect(written(concat([file, ascii(SECRET)]), 'webp')).toEqual(expected)
    expect(written(expected, 'webp')).toEqual(expected)
  })

  it('keeps the first frame of an animation', () => {
    const frames = [frameChunk(small, losslessChunk(small)), frameChunk(small, ...secrets)]
    const file = webpFile(
      canvasChunk(ANIMATION, small),
      riffChunk('ANIM', ascii(SECRET)),
      ...frames,
    )
    const result = written(file, 'webp')
    expect(inspectWebp(result)).toMatchObject(small)
    expect(Array.from(riffChunks(result), ({ type }) => type)).toEqual(['VP8X', 'VP8L', 'XMP '])
  })
})

describe('withMetadata', () => {
  it('keeps the orientation', async () => {
    const tiff = orientationTiff(6)
    const png = await encodePng(PIXELS)
    const rotated = concat([png.subarray(0, 33), pngChunk('eXIf', tiff), png.subarray(33)])
    for (const [format, file] of [
      ['jpeg', jpegFile({ ...small, extra: [jpegSegment(0xe1, [...ascii('Exif\0\0'), ...tiff])] })],
      ['png', rotated],
      ['webp', webpFile(canvasChunk(0x08, small), losslessChunk(small), riffChunk('EXIF', tiff))],
    ] as const) {
      expect(orientationOf(written(file, format), format)).toBe(6)
    }
    const types = Array.from(pngChunks(written(rotated, 'png')), ({ type }) => type)
    expect(types).toEqual(['IHDR', 'eXIf', 'iTXt', 'IDAT', 'IEND'])
  })

  it('rejects every truncated file', async () => {
    for (const [format, file] of [
      ['jpeg', jpegFile(small)],
      ['png', await encodePng(PIXELS)],
      ['webp', webpFile(losslessChunk(small))],
    ] as const) {
      expect(withMetadata(file, format, XMP)).toBeInstanceOf(Array)
      for (let length = 0; length < file.length; length++) {
        const result = withMetadata(file.subarray(0, length), format, XMP)
        expect(result, `${format}, ${length} bytes`).toHaveProperty('corrupt')
      }
    }
  })

  it('rejects lengths beyond the file and garbage between segments', async () => {
    const segment = jpegSegment(0xe1, ascii(SECRET))
    const garbage = ascii(SECRET)
    for (const [format, file] of [
      ['jpeg', jpegFile({ ...small, extra: [segment] }).fill(0xff, 4, 6)],
      ['jpeg', jpegFile({ ...small, extra: [garbage] })],
      ['png', (await encodePng(PIXELS)).fill(0xff, 33, 37)],
      ['webp', webpFile(losslessChunk(small)).fill(0xff, 16, 20)],
    ] as const) {
      expect(withMetadata(file, format, XMP)).toHaveProperty('corrupt')
    }
  })
})

import { describe, expect, it } from 'vitest'
import { jpegFile, jpegScan, jpegSegment } from '../samples/jpeg.ts'
import { inspectJpeg, MAX_JPEG_SCANS, MAX_JPEG_SEGMENTS } from '../src/jpeg.ts'

const size = { width: 64, height: 48 }
const times = (count: number, part: Uint8Array) => Array<Uint8Array>(count).fill(part)
const progressive = (scans: number) =>
  jpegFile({ ...size, coding: 0xc2, scans: times(scans, jpegScan([1], [1, 63])) })

describe('inspectJpeg', () => {
  it('reads the frame header', () => {
    expect(inspectJpeg(jpegFile({ ...size, sampling: [0x22, 0x11, 0x11] }))).toEqual({
      format: 'jpeg',
      ...size,
      coding: 0xc0,
      precision: 8,
      components: 3,
      samples: 1.5,
      scans: 1,
      buffered: false,
      complete: true,
    })
  })

  it('detects whether the decoder has to buffer all coefficients', () => {
    const separate = [1, 2, 3].map((id) => jpegScan([id], [0, 63]))
    const sampling = [0x11, 0x11, 0x11]
    expect(inspectJpeg(jpegFile({ ...size, sampling, scans: separate }))).toMatchObject({
      buffered: true,
    })
    expect(inspectJpeg(progressive(1))).toMatchObject({ buffered: true })
  })

  it('skips stuffed bytes, fill bytes and restart markers in the data', () => {
    const data = Uint8Array.of(1, 0xff, 0, 0xff, 0xd0, 2, 0xff, 0xff, 0, 0xff, 0xff)
    const file = jpegFile({ ...size, scans: [jpegScan([1], [0, 63], data)] })
    expect(inspectJpeg(file)).toMatchObject({ complete: true })
  })

  it('detects a file without an end marker', () => {
    const file = jpegFile(size)
    expect(inspectJpeg(file.subarray(0, -1))).toMatchObject({ complete: false })
    expect(inspectJpeg(file.subarray(0, -12))).toMatchObject({ complete: false })
  })
})

describe('inspectJpeg rejects a JPEG that', () => {
  it('has too many scans', () => {
    expect(inspectJpeg(progressive(MAX_JPEG_SCANS))).toMatchObject(size)
    expect(inspectJpeg(progressive(MAX_JPEG_SCANS + 1))).toEqual({
      corrupt: 'more than 100 JPEG scans',
    })
    expect(inspectJpeg(progressive(100_000))).toHaveProperty('corrupt')
  })

  it.each([0xe1, 0xfe, 0xdb, 0xdd])('has too many segments of type %i', (marker) => {
    const file = (count: number) =>
      jpegFile({ ...size, extra: times(count, jpegSegment(marker, [0, 0])) })
    expect(inspectJpeg(file(MAX_JPEG_SEGMENTS - 10))).toMatchObject(size)
    expect(inspectJpeg(file(100_000))).toEqual({ corrupt: 'more than 1000 JPEG segments' })
  })

  it.each([
    ['has two frames', { extra: [jpegSegment(0xc0, [8, 0, 9, 0, 9, 1, 1, 0x11, 0])] }],
    ['has a scan before the frame', { extra: [jpegScan([1], [0, 63])] }],
    ['has no height, even though a DNL segment could define it later', { height: 0 }],
    ['has no width', { width: 0 }],
    ['starts a second image', { extra: [Uint8Array.of(0xff, 0xd8)] }],
    ['has a segment shorter than its length field', { extra: [Uint8Array.of(0xff, 0xfe, 0, 1)] }],
  ])('%s', (_, change) => {
    expect(inspectJpeg(jpegFile({ ...size, ...change }))).toHaveProperty('corrupt')
  })

  it('is truncated to a few bytes', () => {
    const file = jpegFile(size)
    for (let length = 0; length < 80; length++) {
      expect(inspectJpeg(file.subarray(0, length))).toHaveProperty('corrupt')
    }
  })
})

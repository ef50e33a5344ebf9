// The limit on what a job's files may take in memory, without decoding.
import { inspect } from '@try-on/image-files'
import type { ImageHeader } from '@try-on/image-files'
import { jpegFile, lossyHeaderChunk, webpFile } from '@try-on/image-files/samples'
import { expect, it } from 'vitest'
import { isTooLarge, isTooLargeJpeg } from '../src/decode-limits.ts'

const MB = 1_000_000

function headerOf<F extends 'jpeg' | 'webp'>(bytes: Uint8Array, format: F) {
  const header = inspect(bytes, format)
  if ('corrupt' in header) throw new Error(header.corrupt)
  return header as ImageHeader & { format: F }
}

const jpeg = (width: number, height: number, coding = 0xc0, sampling = [0x22, 0x11, 0x11]) =>
  headerOf(jpegFile({ width, height, coding, sampling }), 'jpeg')
const webp = (width: number, height: number) =>
  headerOf(webpFile(lossyHeaderChunk({ width, height })), 'webp')

it.each([
  ['a phone photo of 12 MP', jpeg(4_000, 3_000), 5, 5, false],
  ['a large file of 12 MP', jpeg(4_000, 3_000), 8, 3, true],
  ['two files of 10 MB and 8 MP', jpeg(3_266, 2_449), 10, 10, false],
  ['14 MP beside a large file', jpeg(3_741, 3_741), 4, 10, true],
  ['more than 14 MP', jpeg(3_742, 3_742), 1, 0, true],
  ['a progressive file of 12 MP', jpeg(4_000, 3_000, 0xc2), 8, 8, false],
  ['a large progressive file of 12 MP', jpeg(4_000, 3_000, 0xc2), 10, 10, true],
  ['one of 10 MP with chroma in full', jpeg(3_200, 3_200, 0xc2, [0x11, 0x11, 0x11]), 2, 2, false],
  ['one of 12 MP with chroma in full', jpeg(4_000, 3_000, 0xc2, [0x11, 0x11, 0x11]), 2, 2, true],
  ['a progressive file of 13 MP', jpeg(4_160, 3_120, 0xc2), 1, 0, true],
  ['a WebP of 12 MP', webp(4_000, 3_000), 3, 3, false],
  ['a large WebP of 12 MP', webp(4_000, 3_000), 5, 3, true],
])('%s', (_, header, fileMb, otherMb, expected) => {
  expect(isTooLarge(header, fileMb * MB, otherMb * MB)).toBe(expected)
})

const progressive = (width: number, height: number, count = 10, sampling?: number[]) => ({
  ...jpeg(width, height, 0xc2, sampling),
  scans: count,
})
const FULL = [0x11, 0x11, 0x11]

it.each([
  ['a phone photo of 50 MP', jpeg(8_160, 6_120), 20, false],
  ['more than 51 MP', jpeg(8_256, 6_192), 1, true],
  ['a progressive file of 24 MP', progressive(4_000, 6_000), 20, false],
  ['one of 24 MP with chroma in full', progressive(4_000, 6_000, 10, FULL), 1, true],
  ['one of 16 MP with chroma in full', progressive(4_000, 4_000, 10, FULL), 10, false],
  ['more than 25 MP', progressive(4_200, 6_000), 1, true],
  ['one of 24 MP with many scans', progressive(4_000, 6_000, 13), 1, true],
])('a usual JPEG: %s', (_, header, filesMb, expected) => {
  expect(isTooLargeJpeg(header, 1_536, filesMb * MB)).toBe(expected)
})

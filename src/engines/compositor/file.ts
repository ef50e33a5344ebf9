// What a file says about itself, checked before a decoder spends memory on it.
import type { ImageFormat } from '../../images/format.ts'
import { jpegFrame } from '../../images/jpeg.ts'

/** Whether a JPEG has its end: the decoder would fill a truncated one up with grey and say nothing. */
export function isWholeJpeg(bytes: Uint8Array): boolean {
  let at = 2
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) return false
    const marker = bytes[at + 1]!
    if (marker === 0xd9) return true
    if (marker === 0xff) {
      at += 1
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2
    } else {
      at += 2 + bytes[at + 2]! * 256 + bytes[at + 3]!
      if (marker === 0xda) at = endOfScan(bytes, at)
    }
  }
  return bytes[at] === 0xff && bytes[at + 1] === 0xd9
}

/** Skips picture data up to the next marker that is neither a stuffed byte nor a restart. */
function endOfScan(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1]
    if (next === undefined) break
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at
  }
  return bytes.length
}

/** Start-of-frame markers of JPEGs that come in several passes. */
const PROGRESSIVE = new Set([0xc2, 0xc6, 0xca, 0xce])

/** Printers' colours: the JPEG decoder cannot convert them, and would end its whole program. */
export const isCmykJpeg = (bytes: Uint8Array) => jpegFrame(bytes)?.components === 4

/**
 * Whether decoding takes about ten bytes a pixel instead of four: several passes, 16 bits a
 * channel, or lossless WebP.
 */
export function needsMuchMemory(bytes: Uint8Array, format: ImageFormat): boolean {
  if (format === 'jpeg') return PROGRESSIVE.has(jpegFrame(bytes)?.marker ?? 0)
  // IHDR: bit depth, colour type, compression, filter, interlace.
  if (format === 'png') return bytes[24] === 16 || bytes[28] === 1
  for (let at = 12; at + 8 <= bytes.length;) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, 8)
    if (view.getUint32(0) === 0x5650384c) return true
    const size = view.getUint32(4, true)
    at += 8 + size + (size % 2)
  }
  return false
}

/** The first frame of an animated WebP as a file of its own; other files as they are. */
export function stillOf(bytes: Uint8Array, format: ImageFormat): Uint8Array {
  if (format !== 'webp') return bytes
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 12; at + 8 <= bytes.length;) {
    const size = view.getUint32(at + 4, true)
    if (view.getUint32(at) === 0x414e4d46 && at + 24 <= bytes.length) {
      return wrapFrame(bytes.subarray(at + 14, at + 20), bytes.subarray(at + 24, at + 8 + size))
    }
    at += 8 + size + (size % 2)
  }
  return bytes
}

/** `sides` are the frame's width and height, each less one, in three bytes. */
function wrapFrame(sides: Uint8Array, chunks: Uint8Array): Uint8Array {
  const file = new Uint8Array(30 + chunks.length)
  const view = new DataView(file.buffer)
  view.setUint32(0, 0x52494646)
  view.setUint32(4, file.length - 8, true)
  view.setUint32(8, 0x57454250)
  view.setUint32(12, 0x56503858)
  view.setUint32(16, 10, true)
  view.setUint8(20, 0x10)
  file.set(sides, 24)
  file.set(chunks, 30)
  return file
}

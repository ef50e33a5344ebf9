// What a file says about itself, checked before a decoder spends memory on it.
import type { ImageFormat } from '../../images/format.ts'

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

/** Whether a JPEG comes in several passes, for which the decoder needs much more memory. */
export function isProgressiveJpeg(bytes: Uint8Array): boolean {
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]!
    if (marker === 0xc2 || marker === 0xc6 || marker === 0xca || marker === 0xce) return true
    if (marker === 0xda || marker === 0xc0 || marker === 0xc1) return false
    at += 2 + bytes[at + 2]! * 256 + bytes[at + 3]!
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

// What kind of picture some bytes are, and how large, told from the file's header alone: no name,
// no declared content type and no decoder is trusted with that.

import { jpegFrame } from './jpeg.ts'

export const IMAGE_FORMATS = ['jpeg', 'png', 'webp'] as const
export type ImageFormat = (typeof IMAGE_FORMATS)[number]

/** File-name extension under which a picture of a format is stored and served. */
export const EXTENSION = { jpeg: 'jpg', png: 'png', webp: 'webp' } as const

export const contentTypeOf = (format: ImageFormat): string => `image/${format}`

/** Tells the format by its magic bytes; null for anything but JPEG, PNG and WebP. */
export function recognise(bytes: Uint8Array): ImageFormat | null {
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'jpeg'
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'png'
  if (tag(bytes, 0) === 'RIFF' && tag(bytes, 8) === 'WEBP') return 'webp'
  return null
}

/**
 * Reads width and height in pixels out of the header, without decoding.
 * @returns null when the header is cut short, contradicts itself or gives a side of 0
 */
export function dimensions(
  bytes: Uint8Array,
  format: ImageFormat,
): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const size = READERS[format](view, bytes)
  if (!size || size.width === 0 || size.height === 0) return null
  return { width: size.width, height: size.height }
}

type Size = { width: number; height: number }

const READERS: Record<ImageFormat, (view: DataView, bytes: Uint8Array) => Size | null> = {
  jpeg: (_, bytes) => jpegFrame(bytes),
  png: pngSize,
  webp: webpSize,
}

function pngSize(view: DataView, bytes: Uint8Array): Size | null {
  // IHDR is required to be the first chunk (PNG specification, 5.6).
  if (bytes.length < 33 || tag(bytes, 12) !== 'IHDR') return null
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

/** The three bitstream kinds of the WebP container specification (RFC 9649). */
function webpSize(view: DataView, bytes: Uint8Array): Size | null {
  if (bytes.length < 30) return null
  switch (tag(bytes, 12)) {
    case 'VP8 ':
      if (!startsWith(bytes.subarray(23), [0x9d, 0x01, 0x2a])) return null
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    case 'VP8L': {
      if (view.getUint8(20) !== 0x2f) return null
      const bits = view.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 }
    default:
      return null
  }
}

const uint24 = (view: DataView, at: number) =>
  view.getUint16(at, true) | (view.getUint8(at + 2) << 16)

const startsWith = (bytes: Uint8Array, start: number[]) =>
  start.every((byte, index) => bytes[index] === byte)

const tag = (bytes: Uint8Array, at: number) => String.fromCharCode(...bytes.subarray(at, at + 4))

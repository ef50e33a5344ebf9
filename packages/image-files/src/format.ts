// What kind of image some bytes are, and how large, read from the file's own structure: no name, no
// declared content type and no decoder is trusted with that.
import type { Corrupt } from './corrupt.ts'
import { inspectJpeg, type JpegHeader } from './jpeg.ts'
import { inspectPng, type PngHeader } from './png.ts'
import { inspectWebp, type WebpHeader } from './webp.ts'

export type ImageFormat = 'jpeg' | 'png' | 'webp'

/** Tells the format by its magic bytes; null for anything but JPEG, PNG and WebP. */
export function detectFormat(bytes: Uint8Array): ImageFormat | null {
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'jpeg'
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'png'
  if (tag(bytes, 0) === 'RIFF' && tag(bytes, 8) === 'WEBP') return 'webp'
  return null
}

export type ImageHeader = JpegHeader | PngHeader | WebpHeader

/** Walks the container once and reads what a decoder would be asked for. Never throws. */
export function inspect(bytes: Uint8Array, format: ImageFormat): ImageHeader | Corrupt {
  switch (format) {
    case 'jpeg':
      return inspectJpeg(bytes)
    case 'png':
      return inspectPng(bytes)
    case 'webp':
      return inspectWebp(bytes)
  }
}

/**
 * Reads width and height in pixels, without decoding.
 * @returns null when the file is cut short before them, contradicts itself or gives a side of 0
 */
export function dimensions(
  bytes: Uint8Array,
  format: ImageFormat,
): { width: number; height: number } | null {
  const header = inspect(bytes, format)
  return 'corrupt' in header ? null : { width: header.width, height: header.height }
}

const startsWith = (bytes: Uint8Array, start: number[]) =>
  start.every((byte, index) => bytes[index] === byte)

const tag = (bytes: Uint8Array, at: number) => String.fromCharCode(...bytes.subarray(at, at + 4))

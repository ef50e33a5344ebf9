// Format and size of an image, read from the structure of the file. File names and content types are
// not trusted, and nothing is decoded.
import type { Corrupt } from './corrupt.ts'
import { inspectJpeg, type JpegHeader } from './jpeg.ts'
import { inspectPng, type PngHeader } from './png.ts'
import { inspectWebp, type WebpHeader } from './webp.ts'

export type ImageFormat = 'jpeg' | 'png' | 'webp'

/** Detects the format by its magic bytes; null for other files than JPEG, PNG and WebP. */
export function detectFormat(bytes: Uint8Array): ImageFormat | null {
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'jpeg'
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'png'
  if (tag(bytes, 0) === 'RIFF' && tag(bytes, 8) === 'WEBP') return 'webp'
  return null
}

export type ImageHeader = JpegHeader | PngHeader | WebpHeader

const INSPECTORS = { jpeg: inspectJpeg, png: inspectPng, webp: inspectWebp }

/** Reads the container once: the size, and what a decoder has to do. Never throws. */
export const inspect = (bytes: Uint8Array, format: ImageFormat): ImageHeader | Corrupt =>
  INSPECTORS[format](bytes)

/**
 * Reads width and height in pixels, without decoding.
 * @returns null when the file is truncated, contradicts itself or has a side of 0
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

// Limits on what a decoder has to do for a file. They are checked before decoding, because decoding is
// synchronous and cannot be interrupted. Measurements are in docs/compositor.md.
import type { ImageHeader, JpegHeader } from '@try-on/image-files'
import { imageDataBytes, pngChunks, type PngHeader } from '@try-on/image-files'

/** Limits the CPU time of the library. Most kinds of file reach `MAX_DECODER_BYTES` with fewer pixels. */
const MAX_PIXELS = { light: 14_000_000, medium: 12_500_000, heavy: 6_000_000 }

/**
 * The same for usual JPEGs, which are never in memory as a whole (`jpeg/decode.ts`): phones take photos of 50 megapixels.
 * A progressive one visits each pixel in each scan, usually 10 times.
 */
const MAX_USUAL = { pixels: 51_000_000, buffered: 25_000_000, visits: 300_000_000 }
/** Shrunk to less than half, a sample of a progressive JPEG takes so many bytes, otherwise 2. */
const SHRUNK_SAMPLE = 1.25

/**
 * For a decoder and the files of a job. A Worker has 128 MB in total, and the models take 30 MB, the
 * shrunk pictures 13 MB. Also stops decoders that grow their memory through JavaScript: a lossless WebP
 * of one megapixel can reserve 1.4 GB for Huffman tables, and no header shows it.
 */
export const MAX_DECODER_BYTES = 72 * 1024 * 1024

/**
 * Whether the decoder of a usual JPEG takes too much time or memory.
 * @param maxSide to which it is shrunk, pixels
 * @param filesBytes the size of both files of the job
 */
export function isTooLargeJpeg(header: JpegHeader, maxSide: number, filesBytes: number): boolean {
  const pixels = header.width * header.height
  if (!header.buffered) return pixels > MAX_USUAL.pixels
  const isShrunk = Math.max(header.width, header.height) > 2 * maxSide
  const needed = pixels * header.samples * (isShrunk ? SHRUNK_SAMPLE : 2) + filesBytes
  const visits = pixels * header.scans
  return pixels > MAX_USUAL.buffered || visits > MAX_USUAL.visits || needed > MAX_DECODER_BYTES
}

/**
 * Whether decoding by the library takes too much time or memory.
 * @param fileBytes the size of this file
 * @param otherBytes the size of the job's other file, which is in memory too
 */
export function isTooLarge(header: ImageHeader, fileBytes: number, otherBytes: number): boolean {
  const pixels = header.width * header.height
  const kind = kindOf(header)
  const needed = pixels * bytesPerPixel(header) + fileBytes * copies(header) + otherBytes
  return pixels > MAX_PIXELS[kind] || needed > MAX_DECODER_BYTES
}

function kindOf(header: ImageHeader): keyof typeof MAX_PIXELS {
  if (isHeavy(header)) return 'heavy'
  return header.format === 'webp' || isGreyPng(header) || isBuffered(header) ? 'medium' : 'light'
}

/** What a decoder takes at its end, apart from the file. */
function bytesPerPixel(header: ImageHeader): number {
  if (isHeavy(header)) return 10
  if (header.format === 'webp') return 5.1
  if (isBuffered(header)) return 2 * header.samples
  return isGreyPng(header) ? 6.3 : 4.2
}

/** Whether all coefficients are in memory, 2 bytes each. */
const isBuffered = (header: ImageHeader): header is JpegHeader =>
  header.format === 'jpeg' && header.buffered

/** The file itself, and its copies in the decoder's memory: the JPEG and WebP decoders make two. */
const copies = ({ format }: ImageHeader): number => (format === 'png' ? 2 : 3)

/** Grey, with or without alpha: the decoder converts it to colour. A palette is heavy anyway. */
const isGreyPng = (header: ImageHeader): boolean =>
  header.format === 'png' && header.colourType !== 6

function isHeavy(header: ImageHeader): boolean {
  switch (header.format) {
    case 'jpeg':
      return false
    case 'png':
      // Without alpha the decoder makes a complete image first and then a second one with alpha.
      return (
        header.colourType === 2 ||
        header.colourType === 3 ||
        header.depth === 16 ||
        header.interlaced
      )
    case 'webp':
      // Alpha is a lossless image of its own, unless its first two bits are 0.
      return header.lossless || (header.alpha !== null && (header.alpha[0]! & 0x03) !== 0)
  }
}

/** The reason why the decoder cannot read files of this kind; null when it can. */
export function unsupported(header: ImageHeader): string | null {
  if (header.format !== 'jpeg') return null
  const { coding, precision, components } = header
  // SOF0 and SOF1 (sequential), SOF2 (progressive), all with Huffman coding.
  if (coding > 0xc2) return `JPEG coding SOF${coding - 0xc0}`
  if (precision !== 8) return `a JPEG of ${precision} bits`
  if (components === 4) return 'a CMYK JPEG'
  return components === 1 || components === 3 ? null : `a JPEG of ${components} components`
}

/** The output of one write is at most 1,032 times as large, which fits into memory. */
const INFLATE_BYTES = 16_384

/** Some encoders write slightly more than the image. */
const SLACK_BYTES = 64 * 1024

/**
 * Whether a PNG's compressed data contains the image and little more. The decoder inflates all of it,
 * and 10 MB of it can inflate to 10 GB.
 */
export async function containsItsImage(file: Uint8Array, header: PngHeader): Promise<boolean> {
  const needed = imageDataBytes(header)
  const { readable, writable } = new DecompressionStream('deflate')
  const writer = writable.getWriter()
  const feeding = feed(writer, file).catch(() => undefined)
  let size = 0
  try {
    for await (const part of readable as ReadableStream<Uint8Array>) {
      size += part.byteLength
      if (size > needed + SLACK_BYTES) return false // leaving the loop cancels the stream
    }
    return size >= needed
  } catch {
    return false
  } finally {
    await writer.abort().catch(() => undefined)
    await feeding
  }
}

async function feed(writer: WritableStreamDefaultWriter<BufferSource>, file: Uint8Array) {
  for (const { type, body } of pngChunks(file)) {
    if (type !== 'IDAT') continue
    for (let at = 0; at < body.length; at += INFLATE_BYTES) {
      await writer.ready
      await writer.write(Uint8Array.from(body.subarray(at, at + INFLATE_BYTES)))
    }
  }
  await writer.close()
}

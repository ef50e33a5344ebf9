// Replaces the metadata of a file: only the picture and the meaning of its colours remain. Works on the
// container: decodes nothing, and copies no image data.
import { crc32 } from 'node:zlib'
import { bytesOf, concat } from './bytes.ts'
import { corrupt, type Corrupt } from './corrupt.ts'
import type { ImageFormat } from './format.ts'
import { inspectJpeg, jpegSegments } from './jpeg.ts'
import { orientationOf, orientationTiff } from './orientation.ts'
import { inspectPng, pngChunks } from './png.ts'
import { inspectWebp, riffChunks, webpParts } from './webp.ts'

/**
 * The file with `xmp` as its metadata. Everything else that does not change how the picture looks is
 * removed: EXIF except the orientation, XMP, IPTC, thumbnails, comments, Content Credentials, unknown
 * segments and chunks, frames of an animation after the first, and bytes after the end.
 * @param xmp an XMP packet of at most 65,000 bytes
 * @returns the parts of the file in order, which are views of `file` where possible; the reason when
 * the file is truncated or malformed. Never throws.
 */
export function withMetadata(
  file: Uint8Array,
  format: ImageFormat,
  xmp: string,
): Uint8Array[] | Corrupt {
  const orientation = orientationOf(file, format)
  const exif = orientation === 1 ? undefined : orientationTiff(orientation)
  return WRITERS[format](file, bytesOf(xmp), exif)
}

const WRITERS = { jpeg: jpegParts, png: pngParts, webp: webpFile }

/** The same bytes in fewer parts: views that touch are joined. */
function joined(parts: readonly Uint8Array[]): Uint8Array[] {
  const result: Uint8Array[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (last?.buffer === part.buffer && last.byteOffset + last.length === part.byteOffset) {
      const length = last.length + part.length
      result[result.length - 1] = new Uint8Array(last.buffer, last.byteOffset, length)
    } else if (part.length > 0) result.push(part)
  }
  return result
}

const APP0 = 0xe0
const APP1 = 0xe1
const APP2 = 0xe2
const APP14 = 0xee
const EOI = 0xd9

function jpegParts(file: Uint8Array, xmp: Uint8Array, exif?: Uint8Array): Uint8Array[] | Corrupt {
  const header = inspectJpeg(file)
  if ('corrupt' in header) return header
  if (!header.complete) return corrupt('the JPEG has no end')
  const parts = [file.subarray(0, 2)]
  const metadata = [
    ...(exif ? [segmentOf(APP1, 'Exif\0\0', exif)] : []),
    segmentOf(APP1, 'http://ns.adobe.com/xap/1.0/\0', xmp),
  ]
  let from = 2
  for (const { marker, body } of jpegSegments(file)) {
    const bodyAt = body.byteOffset - file.byteOffset
    // JFIF must be the first segment.
    if (from > 2 || !isJfif(marker, body)) parts.push(...metadata.splice(0))
    if (marker === EOI) {
      parts.push(file.subarray(from, bodyAt))
      break
    }
    const end = bodyAt + body.length
    const isKept = isPicture(marker) || isJfif(marker, body) || isColour(marker, body)
    // The compressed data after a scan header is copied together with the next segment.
    parts.push(file.subarray(from, isKept ? end : bodyAt - 4))
    from = end
  }
  return joined(parts)
}

/** Frames, scans and their tables. Application segments, comments and reserved markers follow them. */
const isPicture = (marker: number) => marker >= 0xc0 && marker < APP0

/** Without a thumbnail, which would make it longer. */
const isJfif = (marker: number, body: Uint8Array) =>
  marker === APP0 && body.length === 14 && startsWith(body, 'JFIF\0')

/** The colour profile, and the transform of the colours. */
const isColour = (marker: number, body: Uint8Array) =>
  (marker === APP2 && startsWith(body, 'ICC_PROFILE\0')) ||
  (marker === APP14 && body.length === 12 && startsWith(body, 'Adobe'))

function segmentOf(marker: number, name: string, body: Uint8Array): Uint8Array {
  const length = 2 + name.length + body.length
  return concat([Uint8Array.of(0xff, marker, length >> 8, length & 0xff), bytesOf(name), body])
}

/** The image, and how its colours are meant. */
const PNG_CHUNKS = new Set('IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB sBIT iCCP cICP'.split(' '))

function pngParts(file: Uint8Array, xmp: Uint8Array, exif?: Uint8Array): Uint8Array[] | Corrupt {
  const header = inspectPng(file)
  if ('corrupt' in header) return header
  const parts = [file.subarray(0, 8)]
  const types = new Set<string>()
  for (const { type, whole } of pngChunks(file)) {
    types.add(type)
    if (!PNG_CHUNKS.has(type)) continue
    parts.push(whole)
    if (type !== 'IHDR') continue
    if (exif) parts.push(chunkOf('eXIf', exif))
    // Not compressed, without a language and a translated keyword.
    parts.push(chunkOf('iTXt', concat([bytesOf('XML:com.adobe.xmp\0\0\0\0\0'), xmp])))
  }
  if (!types.has('IDAT')) return corrupt('the PNG has no image data')
  if (!types.has('IEND')) return corrupt('the PNG has no end')
  return joined(parts)
}

function chunkOf(type: string, body: Uint8Array): Uint8Array {
  const result = concat([new Uint8Array(4), bytesOf(type), body, new Uint8Array(4)])
  const view = new DataView(result.buffer)
  view.setUint32(0, body.length)
  view.setUint32(result.length - 4, crc32(result.subarray(4, -4)))
  return result
}

function webpFile(file: Uint8Array, xmp: Uint8Array, exif?: Uint8Array): Uint8Array[] | Corrupt {
  const header = inspectWebp(file)
  if ('corrupt' in header) return header
  const profile = riffChunks(file).find(({ type }) => type === 'ICCP')?.body
  return webpParts(header, { ICCP: profile, EXIF: exif, 'XMP ': xmp })
}

const startsWith = (body: Uint8Array, text: string) =>
  bytesOf(text).every((byte, index) => body[index] === byte)

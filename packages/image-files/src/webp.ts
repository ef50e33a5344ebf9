// Reads WebP files chunk by chunk (RFC 9649). Finds the bitstream that a decoder decodes and reads the
// size from it, because the sizes in the container may differ.
import { bytesOf, concat } from './bytes.ts'
import { corrupt, type Corrupt } from './corrupt.ts'

interface RiffChunk {
  type: string
  body: Uint8Array
}

/** Animations have a chunk per frame; other files have fewer than ten chunks. */
export const MAX_RIFF_CHUNKS = 20_000

const RIFF_HEADER_BYTES = 12

/** Yields the chunks within the length in the RIFF header. */
export function riffChunks(bytes: Uint8Array): Generator<RiffChunk> {
  if (bytes.length < RIFF_HEADER_BYTES) return chunksIn(bytes.subarray(0, 0))
  const size = viewOf(bytes).getUint32(4, true)
  return chunksIn(bytes.subarray(RIFF_HEADER_BYTES, 8 + size))
}

/** Ends at a truncated chunk, and one chunk above the limit. */
function* chunksIn(bytes: Uint8Array): Generator<RiffChunk> {
  const view = viewOf(bytes)
  let at = 0
  for (let count = 0; count <= MAX_RIFF_CHUNKS && at + 8 <= bytes.length; count++) {
    const size = view.getUint32(at + 4, true)
    if (at + 8 + size > bytes.length) return
    const type = String.fromCharCode(...bytes.subarray(at, at + 4))
    yield { type, body: bytes.subarray(at + 8, at + 8 + size) }
    at += 8 + size + (size % 2)
  }
}

export interface WebpHeader {
  format: 'webp'
  /** Size of the bitstream. */
  width: number
  height: number
  lossless: boolean
  bitstream: Uint8Array
  /** The alpha chunk of a lossy image. */
  alpha: Uint8Array | null
}

/** Finds the image: the only one of a still file, the first frame of an animation. */
export function inspectWebp(bytes: Uint8Array): WebpHeader | Corrupt {
  const chunks = [...riffChunks(bytes)]
  const [first] = chunks
  // A simple file has one chunk.
  if (first?.type !== 'VP8X') return imageIn(chunks.slice(0, 1))
  if (first.body.length < 10) return corrupt('the VP8X chunk is truncated')
  if (chunks.length > MAX_RIFF_CHUNKS) return corrupt(`more than ${MAX_RIFF_CHUNKS} WebP chunks`)
  const canvas = { width: uint24(first.body, 4) + 1, height: uint24(first.body, 7) + 1 }
  const isAnimated = (viewOf(first.body).getUint8(0) & 0x02) !== 0
  if (!isAnimated) return imageIn(chunks, canvas)
  const frame = chunks.find(({ type }) => type === 'ANMF')
  return frame ? inspectFrame(frame.body, canvas) : corrupt('the animated WebP has no frame')
}

/** The header of an animation frame: position (halved), size, duration, flags. */
const FRAME_HEADER_BYTES = 16

function inspectFrame(frame: Uint8Array, canvas: Size): WebpHeader | Corrupt {
  if (frame.length < FRAME_HEADER_BYTES) return corrupt('the ANMF chunk is truncated')
  const size = { width: uint24(frame, 6) + 1, height: uint24(frame, 9) + 1 }
  const right = uint24(frame, 0) * 2 + size.width
  const bottom = uint24(frame, 3) * 2 + size.height
  if (right > canvas.width || bottom > canvas.height) {
    return corrupt(`the WebP frame of ${text(size)} exceeds the canvas of ${text(canvas)}`)
  }
  return imageIn(chunksIn(frame.subarray(FRAME_HEADER_BYTES)), size)
}

/**
 * Reads the chunks of one image.
 * @param expected the size in the container
 */
function imageIn(chunks: Iterable<RiffChunk>, expected?: Size): WebpHeader | Corrupt {
  let alpha: Uint8Array | null = null
  for (const { type, body } of chunks) {
    if (type === 'ALPH') alpha = body
    if (type !== 'VP8 ' && type !== 'VP8L') continue
    const lossless = type === 'VP8L'
    const size = lossless ? losslessSize(body) : lossySize(body)
    if (!size || size.width === 0 || size.height === 0) {
      return corrupt('the WebP image data has no valid size')
    }
    if (expected && (size.width !== expected.width || size.height !== expected.height)) {
      return corrupt(`WebP image data of ${text(size)} in a container of ${text(expected)}`)
    }
    // Lossless images contain their alpha.
    return { format: 'webp', ...size, lossless, bitstream: body, alpha: lossless ? null : alpha }
  }
  return corrupt('the WebP has no image data')
}

/**
 * A file with only the image, so that a decoder reads exactly what was inspected. Returns a simple
 * file unchanged.
 */
export function imageFile(file: Uint8Array, header: WebpHeader): Uint8Array {
  if (header.bitstream.byteOffset - file.byteOffset === RIFF_HEADER_BYTES + 8) return file
  return concat(webpParts(header))
}

/** Chunks of an extended file beside the image. */
export interface WebpExtras {
  ICCP?: Uint8Array | undefined
  EXIF?: Uint8Array | undefined
  'XMP '?: Uint8Array | undefined
}

/** The parts of a file with the image and `extras`. They contain the image data without a copy. */
export function webpParts(header: WebpHeader, extras: WebpExtras = {}): Uint8Array[] {
  const { width, height, lossless, bitstream, alpha } = header
  const { ICCP: profile, EXIF: exif, 'XMP ': xmp } = extras
  const image = [lossless ? 'VP8L' : 'VP8 ', bitstream] as const
  let chunks: (readonly [string, Uint8Array | null | undefined])[] = [image]
  if (alpha || profile || exif || xmp) {
    const hasAlpha = alpha !== null || (lossless && usesAlpha(bitstream))
    const extended = new Uint8Array(10)
    extended[0] =
      (profile ? 0x20 : 0) | (hasAlpha ? 0x10 : 0) | (exif ? 0x08 : 0) | (xmp ? 0x04 : 0)
    extended.set(bytes24(width - 1), 4)
    extended.set(bytes24(height - 1), 7)
    chunks = [['VP8X', extended], ['ICCP', profile], ['ALPH', alpha], image]
    chunks.push(['EXIF', exif], ['XMP ', xmp])
  }
  const parts: Uint8Array[] = [bytesOf('RIFF\0\0\0\0WEBP')]
  for (const [type, body] of chunks) {
    if (!body) continue
    const size = Uint8Array.of(...bytes24(body.length), body.length >>> 24)
    parts.push(concat([bytesOf(type), size]), body)
    if (body.length % 2) parts.push(new Uint8Array(1))
  }
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  viewOf(parts[0]!).setUint32(4, length - 8, true)
  return parts
}

interface Size {
  width: number
  height: number
}

const text = ({ width, height }: Size) => `${width} × ${height}`

/** A VP8 key frame (RFC 6386, 9.1): tag, start code, width and height with their scales. */
function lossySize(body: Uint8Array): Size | null {
  if (body.length < 10) return null
  const view = viewOf(body)
  const isKeyFrame = (view.getUint8(0) & 1) === 0
  if (!isKeyFrame || uint24(body, 3) !== 0x2a019d) return null
  return { width: view.getUint16(6, true) & 0x3fff, height: view.getUint16(8, true) & 0x3fff }
}

/** Signature, then width - 1 and height - 1 in 14 bits each. */
function losslessSize(body: Uint8Array): Size | null {
  if (body.length < 5 || body[0] !== 0x2f) return null
  const bits = viewOf(body).getUint32(1, true)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

const usesAlpha = (lossless: Uint8Array) => (lossless[4]! & 0x10) !== 0

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const uint24 = (bytes: Uint8Array, at: number) => {
  const view = viewOf(bytes)
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
}

const bytes24 = (value: number) => [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff]

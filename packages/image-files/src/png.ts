// Reads PNG files chunk by chunk (PNG specification, third edition). Reads headers only.
import { corrupt, type Corrupt } from './corrupt.ts'

interface PngChunk {
  type: string
  body: Uint8Array
  /** The chunk with its length, type and checksum. */
  whole: Uint8Array
}

/**
 * Enough for 10 MB in chunks of 512 bytes; encoders write chunks of 4 to 32 KB. A chunk costs the
 * decoder microseconds.
 */
export const MAX_PNG_CHUNKS = 20_000

const SIGNATURE_BYTES = 8

/**
 * Yields every complete chunk. Ends after IEND, at a truncated chunk, and one chunk above the
 * limit.
 */
export function* pngChunks(bytes: Uint8Array): Generator<PngChunk> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = SIGNATURE_BYTES
  for (let count = 0; count <= MAX_PNG_CHUNKS && at + 12 <= bytes.length; count++) {
    const end = at + 12 + view.getUint32(at)
    if (end > bytes.length) return
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
    yield { type, body: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) }
    if (type === 'IEND') return
    at = end
  }
}

export interface PngHeader {
  format: 'png'
  width: number
  height: number
  /** Bits per sample or palette index. */
  depth: number
  /** 0 grey, 2 colour, 3 palette, 4 grey and alpha, 6 colour and alpha. */
  colourType: number
  interlaced: boolean
}

/** Bit depths that each colour type allows (table 12). */
const DEPTHS: Record<number, readonly number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}

/** Reads the image header and counts the chunks. */
export function inspectPng(bytes: Uint8Array): PngHeader | Corrupt {
  let header: PngHeader | Corrupt | undefined
  let count = 0
  for (const { type, body } of pngChunks(bytes)) {
    count += 1
    if (count > MAX_PNG_CHUNKS) return corrupt(`more than ${MAX_PNG_CHUNKS} PNG chunks`)
    if ((type === 'IHDR') !== (count === 1)) return corrupt('IHDR is not the first PNG chunk')
    header ??= headerOf(body)
    if ('corrupt' in header) return header
  }
  return header ?? corrupt('the PNG has no header')
}

function headerOf(body: Uint8Array): PngHeader | Corrupt {
  if (body.length !== 13) return corrupt('the PNG header is not 13 bytes long')
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  const [width, height] = [view.getUint32(0), view.getUint32(4)]
  const [depth = 0, colourType = 0, compression, filter, interlace = 0] = body.subarray(8)
  if (width === 0 || height === 0) return corrupt('the PNG has no area')
  if (!DEPTHS[colourType]?.includes(depth)) {
    return corrupt(`PNG colour type ${colourType} with ${depth} bits`)
  }
  if (compression !== 0 || filter !== 0 || interlace > 1) {
    return corrupt('unknown PNG compression, filter or interlace method')
  }
  return {
    format: 'png',
    width,
    height,
    depth,
    colourType,
    interlaced: interlace === 1,
  }
}

/** First column and row, and the steps, of the seven passes of Adam7 (figure 9). */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/** Bytes of the image data before compression: every line with its filter byte. */
export function imageDataBytes(header: PngHeader): number {
  const { width, height, depth, colourType, interlaced } = header
  const samples = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[colourType] ?? 4
  const passes = interlaced ? ADAM7 : ([[0, 0, 1, 1]] as const)
  let sum = 0
  for (const [x, y, stepX, stepY] of passes) {
    const columns = Math.max(0, Math.ceil((width - x) / stepX))
    const rows = Math.max(0, Math.ceil((height - y) / stepY))
    if (columns > 0) sum += rows * (1 + Math.ceil((columns * samples * depth) / 8))
  }
  return sum
}

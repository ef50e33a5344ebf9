// Writes PNG files with APIs that both Node and Workers have.
import { concat } from '../src/bytes.ts'
import crc from 'crc-32'

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Red, green, blue and alpha, 8 bits each. */
export interface Pixels {
  width: number
  height: number
  data: Uint8ClampedArray
}

/** Encodes with 8 bits per channel and alpha. */
export async function encodePng(picture: Pixels): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height, data } = picture
  const lines = new Uint8Array((width * 4 + 1) * height)
  for (let y = 0, at = 0; y < height; y++) {
    // Each line is stored as the difference from the line above (filter 2), which compresses better.
    lines[at++] = 2
    for (let from = y * width * 4; from < (y + 1) * width * 4; from++) {
      lines[at++] = data[from]! - (y > 0 ? data[from - width * 4]! : 0)
    }
  }
  return pngFile({ width, height, depth: 8, colourType: 6 }, lines)
}

export interface PngHeader {
  width: number
  height: number
  depth: number
  /** 0 grey, 2 colour, 3 palette, 4 grey and alpha, 6 colour and alpha. */
  colourType: number
}

/** A PNG file of already filtered lines; `extra` chunks go before the image data. */
export async function pngFile(
  header: PngHeader,
  lines: Uint8Array<ArrayBuffer>,
  extra: Uint8Array[] = [],
): Promise<Uint8Array<ArrayBuffer>> {
  const body = new Uint8Array(13)
  const view = new DataView(body.buffer)
  view.setUint32(0, header.width)
  view.setUint32(4, header.height)
  body.set([header.depth, header.colourType], 8)
  const packed = new Blob([lines]).stream().pipeThrough(new CompressionStream('deflate'))
  const data = new Uint8Array(await new Response(packed).arrayBuffer())
  return concat([
    Uint8Array.from(SIGNATURE),
    pngChunk('IHDR', body),
    ...extra,
    pngChunk('IDAT', data),
    pngChunk('IEND', new Uint8Array(0)),
  ])
}

/** One chunk with its length and checksum. */
export function pngChunk(type: string, body: Uint8Array): Uint8Array {
  const result = new Uint8Array(12 + body.length)
  const view = new DataView(result.buffer)
  view.setUint32(0, body.length)
  for (let i = 0; i < 4; i++) result[4 + i] = type.charCodeAt(i)
  result.set(body, 8)
  view.setInt32(8 + body.length, crc.buf(result.subarray(4, 8 + body.length)))
  return result
}

export { concat }

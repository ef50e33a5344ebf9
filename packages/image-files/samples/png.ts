// Writes PNG files with nothing but what Node and Workers both have.
import crc from 'crc-32'
import type { Rgba } from '../../compositor/samples/canvas.ts'

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Encodes 8 bits a channel, with alpha. */
export async function encodePng(picture: Rgba): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height, data } = picture
  const lines = new Uint8Array((width * 4 + 1) * height)
  for (let y = 0, at = 0; y < height; y++) {
    // Each line is stored as its difference from the one above (filter 2), which packs better.
    lines[at++] = 2
    for (let from = y * width * 4; from < (y + 1) * width * 4; from++) {
      lines[at++] = data[from]! - (y > 0 ? data[from - width * 4]! : 0)
    }
  }
  return pngOf({ width, height, depth: 8, colourType: 6 }, lines)
}

export interface PngHeader {
  width: number
  height: number
  depth: number
  /** 0 grey, 2 colour, 3 palette, 4 grey and alpha, 6 colour and alpha. */
  colourType: number
}

/** A file around filtered lines; `extra` chunks go before the picture data. */
export async function pngOf(
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
  return join([
    Uint8Array.from(SIGNATURE),
    chunk('IHDR', body),
    ...extra,
    chunk('IDAT', data),
    chunk('IEND', new Uint8Array(0)),
  ])
}

/** One chunk of a PNG file with its length and checksum. */
export function chunk(type: string, body: Uint8Array): Uint8Array {
  const result = new Uint8Array(12 + body.length)
  const view = new DataView(result.buffer)
  view.setUint32(0, body.length)
  for (let i = 0; i < 4; i++) result[4 + i] = type.charCodeAt(i)
  result.set(body, 8)
  view.setInt32(8 + body.length, crc.buf(result.subarray(4, 8 + body.length)))
  return result
}

export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    result.set(part, at)
    at += part.length
  }
  return result
}

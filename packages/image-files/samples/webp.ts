// Writes WebP containers (RFC 9649) and minimal image data for them.
import { bytesOf, concat } from '../src/bytes.ts'

const little = (value: number, bytes: number) =>
  Uint8Array.from({ length: bytes }, (_, i) => (value >>> (8 * i)) & 0xff)

/** A RIFF chunk, padded to an even length. */
export const riffChunk = (type: string, body: Uint8Array) =>
  concat([bytesOf(type), little(body.length, 4), body, new Uint8Array(body.length % 2)])

export const webpFile = (...chunks: Uint8Array[]) =>
  riffChunk('RIFF', concat([bytesOf('WEBP'), ...chunks]))

export interface Size {
  width: number
  height: number
}

/** Flags of the VP8X chunk. */
export const ANIMATION = 0x02
export const ALPHA = 0x10

/** The first chunk of an extended file. */
export const canvasChunk = (flags: number, { width, height }: Size) =>
  riffChunk(
    'VP8X',
    concat([Uint8Array.of(flags, 0, 0, 0), little(width - 1, 3), little(height - 1, 3)]),
  )

/** A frame of an animation. `x` and `y` must be even. */
export const frameChunk = (
  { width, height, x = 0, y = 0 }: Size & { x?: number; y?: number },
  ...chunks: Uint8Array[]
) =>
  riffChunk(
    'ANMF',
    concat([
      little(x / 2, 3),
      little(y / 2, 3),
      little(width - 1, 3),
      little(height - 1, 3),
      little(100, 3),
      Uint8Array.of(0),
      ...chunks,
    ]),
  )

/** Lossless image data of one colour: eight bytes for any size. */
export const losslessChunk = ({ width, height }: Size) =>
  riffChunk(
    'VP8L',
    // Signature and size, then: no transforms, no colour cache, five codes of one symbol each.
    concat([
      Uint8Array.of(0x2f),
      little((width - 1) | ((height - 1) << 14), 4),
      Uint8Array.of(0x88, 0x88, 0x08),
    ]),
  )

/** The header of a lossy image, without data. */
export const lossyHeaderChunk = ({ width, height }: Size) =>
  riffChunk(
    'VP8 ',
    concat([Uint8Array.of(0x10, 0, 0, 0x9d, 0x01, 0x2a), little(width, 2), little(height, 2)]),
  )

/**
 * A lossless image whose blocks of 4 × 4 pixels use `sets` different sets of Huffman codes. A
 * decoder reserves at least 12 KB for each set.
 */
export function losslessWithCodeSets({ width, height }: Size, sets: number): Uint8Array {
  const bits = new BitWriter()
  bits.write(0x2f, 8)
  bits.write(width - 1, 14)
  bits.write(height - 1, 14)
  bits.write(0, 4) // no alpha, version 0
  bits.write(0, 2) // no transforms, no colour cache
  bits.write(1, 1) // an image of code sets, in blocks of 4 × 4
  bits.write(0, 3)
  bits.write(0, 1) // without a colour cache
  writeByteCode(bits, 280)
  writeByteCode(bits, 256)
  for (let code = 0; code < 3; code++) writeSingleSymbolCode(bits)
  const blocks = Math.ceil(width / 4) * Math.ceil(height / 4)
  for (let block = 0; block < blocks; block++) {
    bits.write(reversed((block % sets) & 0xff), 8)
    bits.write(reversed((block % sets) >> 8), 8)
  }
  for (let code = 0; code < sets * 5; code++) writeSingleSymbolCode(bits)
  return riffChunk('VP8L', bits.bytes())
}

/** A code with the single symbol 0, which takes no bits in the data. */
const writeSingleSymbolCode = (bits: BitWriter) => bits.write(1, 4)

/** A code of eight bits for each of the first 256 symbols. */
function writeByteCode(bits: BitWriter, symbols: number): void {
  bits.write(0, 1)
  bits.write(8, 4) // 12 lengths follow, in the order 17 18 0 1 2 3 4 5 16 6 7 8
  for (let i = 0; i < 12; i++) bits.write(i === 2 || i === 11 ? 1 : 0, 3)
  bits.write(0, 1)
  for (let symbol = 0; symbol < symbols; symbol++) bits.write(symbol < 256 ? 1 : 0, 1)
}

const reversed = (byte: number) => {
  let result = 0
  for (let i = 0; i < 8; i++) result |= ((byte >> i) & 1) << (7 - i)
  return result
}

/** Writes bits, the lowest of each byte first. */
class BitWriter {
  #bits: number[] = []

  write(value: number, count: number): void {
    for (let i = 0; i < count; i++) this.#bits.push((value >>> i) & 1)
  }

  bytes(): Uint8Array {
    const result = new Uint8Array(Math.ceil(this.#bits.length / 8))
    this.#bits.forEach((bit, i) => (result[i >> 3]! |= bit << (i & 7)))
    return result
  }
}

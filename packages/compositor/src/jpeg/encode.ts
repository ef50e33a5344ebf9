// Encodes a baseline JPEG (ITU-T T.81 and JFIF) with full colour resolution. The first step quantises the
// picture to symbols and counts them, the second writes them with the codes that suit them best. Both
// pause often, which a codec in WebAssembly cannot.
import { pause, pauseInRows } from '../pause.ts'
import type { Raster, Size } from '../raster.ts'
import { forwardTransform } from './forward-transform.ts'
import { huffmanCodes, type HuffmanCodes } from './huffman-codes.ts'
import { quantisers, type Quantiser } from './quantisation.ts'
import { SymbolList } from './symbol-list.ts'
import { ZIGZAG } from './zigzag.ts'

/** The side of a block, and of the smallest unit of a picture without subsampling. */
const SIDE = 8
/** How many symbols are written between two pauses: some 5 ms. */
const SYMBOLS_BETWEEN_PAUSES = 200_000

/**
 * Encodes a picture; its alpha is ignored.
 * @param quality 1 to 100, on the scale of the Independent JPEG Group
 */
export async function encodeJpeg(
  picture: Raster,
  quality: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const [luma, chroma] = quantisers(quality)
  const symbols = await quantise(picture, luma, chroma)
  const codes = symbols.frequencies().map(huffmanCodes)
  const head = header(picture, [luma, chroma], codes)
  return write(head, symbols, codes)
}

async function quantise(picture: Raster, luma: Quantiser, chroma: Quantiser): Promise<SymbolList> {
  const symbols = new SymbolList()
  const [y, blue, red] = [newBlock(), newBlock(), newBlock()]
  let [lastY, lastBlue, lastRed] = [0, 0, 0]
  for (let top = 0; top < picture.height; top += SIDE) {
    for (let left = 0; left < picture.width; left += SIDE) {
      readBlock(picture, left, top, y, blue, red)
      lastY = addBlock(symbols, y, luma, lastY)
      lastBlue = addBlock(symbols, blue, chroma, lastBlue)
      lastRed = addBlock(symbols, red, chroma, lastRed)
    }
    await pauseInRows(top / SIDE, { width: picture.width * SIDE })
  }
  return symbols
}

const newBlock = () => new Float64Array(SIDE * SIDE)

/** Reads a block in the colours of JFIF, about 0. Beyond the picture its last pixels are repeated. */
function readBlock(
  { width, height, data }: Raster,
  left: number,
  top: number,
  luma: Float64Array,
  blue: Float64Array,
  red: Float64Array,
): void {
  for (let row = 0, i = 0; row < SIDE; row++) {
    const start = Math.min(top + row, height - 1) * width
    for (let column = 0; column < SIDE; column++, i++) {
      const at = (start + Math.min(left + column, width - 1)) * 4
      const r = data[at]!
      const g = data[at + 1]!
      const b = data[at + 2]!
      luma[i] = 0.299 * r + 0.587 * g + 0.114 * b - 128
      blue[i] = -0.168735892 * r - 0.331264108 * g + 0.5 * b
      red[i] = 0.5 * r - 0.418687589 * g - 0.081312411 * b
    }
  }
}

/** Runs of zeros are written with the coefficient after them; 16 zeros and the end of a block have symbols. */
const SIXTEEN_ZEROS = 0xf0
const END_OF_BLOCK = 0x00

/** Adds a block of samples. @returns its mean as quantised, from which the next block's differs little */
function addBlock(
  symbols: SymbolList,
  block: Float64Array,
  { factors, kind }: Quantiser,
  previous: number,
): number {
  forwardTransform(block)
  const mean = Math.round(block[0]! * factors[0]!)
  symbols.addNumber(kind, 0, mean - previous)
  let zeros = 0
  for (let k = 1; k < 64; k++) {
    const value = block[ZIGZAG[k]!]! * factors[k]!
    if (value < 0.5 && value > -0.5) {
      zeros++
      continue
    }
    for (; zeros > 15; zeros -= 16) symbols.add(kind + 1, SIXTEEN_ZEROS, 0)
    symbols.addNumber(kind + 1, zeros, value < 0 ? -Math.round(-value) : Math.round(value))
    zeros = 0
  }
  if (zeros > 0) symbols.add(kind + 1, END_OF_BLOCK, 0)
  return mean
}

const segment = (marker: number, body: number[]) => [0xff, marker, ...big(body.length + 2), ...body]
const big = (value: number) => [value >> 8, value & 0xff]

/** Everything before the compressed data (T.81, annex B). */
function header(
  { width, height }: Size,
  tables: readonly Quantiser[],
  codes: readonly HuffmanCodes[],
): number[] {
  return [
    0xff,
    0xd8,
    // JFIF 1.1, square pixels.
    ...segment(0xe0, [0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    ...tables.flatMap(({ steps }, i) => segment(0xdb, [i, ...steps])),
    ...segment(0xc0, [8, ...big(height), ...big(width), 3, ...COMPONENTS]),
    ...codes.flatMap(({ counts, symbols }, i) =>
      segment(0xc4, [((i % 2) << 4) | (i >> 1), ...counts, ...symbols]),
    ),
    ...segment(0xda, [3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0]),
  ]
}

/** Luma, blue and red: number, no subsampling, quantiser. */
const COMPONENTS = [1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1]

async function write(
  head: number[],
  symbols: SymbolList,
  codes: readonly HuffmanCodes[],
): Promise<Uint8Array<ArrayBuffer>> {
  const words = Uint16Array.from(codes.flatMap((table) => [...table.codes]))
  const lengths = Uint8Array.from(codes.flatMap((table) => [...table.lengths]))
  // In the worst case a zero follows each byte.
  const file = new Uint8Array(head.length + 2 * symbols.bytes(lengths) + 2)
  file.set(head)
  let at = head.length
  let bits = 0
  let count = 0
  const put = (value: number, length: number) => {
    bits = (bits << length) | value
    count += length
    while (count >= 8) {
      count -= 8
      const byte = (bits >>> count) & 0xff
      file[at++] = byte
      if (byte === 0xff) file[at++] = 0
    }
  }
  for (let i = 0; i < symbols.length; i++) {
    const entry = symbols.entries[i]!
    const symbol = entry >>> 16
    put(words[symbol]!, lengths[symbol]!)
    put(entry & 0xffff, symbol & 0x0f)
    if (i % SYMBOLS_BETWEEN_PAUSES === 0) await pause()
  }
  // The last byte is filled with ones.
  put(0x7f, 7)
  file.set([0xff, 0xd9], at)
  return file.slice(0, at + 2)
}

// Writes JPEG files by hand (ITU-T T.81, annex B): pictures of one grey with any structure.
import { join } from './png.ts'

const big = (value: number) => [value >> 8, value & 0xff]

/** A marker segment with its length. */
export const segment = (marker: number, body: ArrayLike<number>) =>
  join([Uint8Array.of(0xff, marker, ...big(body.length + 2)), Uint8Array.from(body)])

const START = Uint8Array.of(0xff, 0xd8)
export const END = Uint8Array.of(0xff, 0xd9)
const QUANTISATION = segment(0xdb, [0, ...Array<number>(64).fill(1)])

/** A Huffman table with one symbol of one bit. */
const huffman = (id: number, symbol: number) =>
  segment(0xc4, [id, 1, ...Array<number>(15).fill(0), symbol])

export interface JpegOptions {
  width: number
  height: number
  /** 0xC0 baseline, 0xC2 progressive. */
  coding?: number
  precision?: number
  /** Sampling factors of each component, horizontal in the upper four bits. */
  sampling?: readonly number[]
  /** Segments before the frame header. */
  extra?: readonly Uint8Array[]
  /** Headers and data; one scan over all components unless given. */
  scans?: readonly Uint8Array[]
}

/** The data of one scan over all components, or over the one with this number. */
export function scan(
  components: readonly number[],
  [first, last]: readonly [number, number],
  data: Uint8Array = new Uint8Array(8),
  approximation = 0,
): Uint8Array {
  const header = [components.length, ...components.flatMap((id) => [id, 0]), first, last]
  return join([segment(0xda, [...header, approximation]), data])
}

export function jpegFile(options: JpegOptions): Uint8Array<ArrayBuffer> {
  const { width, height, coding = 0xc0, precision = 8, sampling = [0x11], extra = [] } = options
  const ids = sampling.map((_, i) => i + 1)
  const { scans = [scan(ids, coding === 0xc2 ? [0, 0] : [0, 63])] } = options
  const components = sampling.flatMap((factors, i) => [i + 1, factors, 0])
  return join([
    START,
    ...extra,
    QUANTISATION,
    segment(coding, [precision, ...big(height), ...big(width), sampling.length, ...components]),
    huffman(0x00, 0),
    huffman(0x10, 0),
    ...scans,
    END,
  ])
}

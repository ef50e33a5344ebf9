// Writes JPEG files byte by byte (ITU-T T.81, annex B): plain grey images with any structure.
import { concat } from './png.ts'

const big = (value: number) => [value >> 8, value & 0xff]

/** A marker segment with its length. */
export const jpegSegment = (marker: number, body: ArrayLike<number>) =>
  concat([Uint8Array.of(0xff, marker, ...big(body.length + 2)), Uint8Array.from(body)])

const START = Uint8Array.of(0xff, 0xd8)
const END = Uint8Array.of(0xff, 0xd9)
const QUANTISATION = jpegSegment(0xdb, [0, ...Array<number>(64).fill(1)])

/** A Huffman table with one symbol of one bit. */
const huffman = (id: number, symbol: number) =>
  jpegSegment(0xc4, [id, 1, ...Array<number>(15).fill(0), symbol])

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
  /** Scan headers with their data. The default is one scan over all components. */
  scans?: readonly Uint8Array[]
}

/** One scan over the given components, with its header. */
export function jpegScan(
  components: readonly number[],
  [first, last]: readonly [number, number],
  data: Uint8Array = new Uint8Array(8),
  approximation = 0,
): Uint8Array {
  const header = [components.length, ...components.flatMap((id) => [id, 0]), first, last]
  return concat([jpegSegment(0xda, [...header, approximation]), data])
}

export function jpegFile(options: JpegOptions): Uint8Array<ArrayBuffer> {
  const { width, height, coding = 0xc0, precision = 8, sampling = [0x11], extra = [] } = options
  const ids = sampling.map((_, i) => i + 1)
  const { scans = [jpegScan(ids, coding === 0xc2 ? [0, 0] : [0, 63])] } = options
  const components = sampling.flatMap((factors, i) => [i + 1, factors, 0])
  return concat([
    START,
    ...extra,
    QUANTISATION,
    jpegSegment(coding, [precision, ...big(height), ...big(width), sampling.length, ...components]),
    huffman(0x00, 0),
    huffman(0x10, 0),
    ...scans,
    END,
  ])
}

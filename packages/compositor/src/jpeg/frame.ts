// Reads what precedes the compressed data of a usual JPEG: baseline, one scan, grey or YCbCr with chroma
// in full or half resolution.
import { jpegSegments } from '@try-on/image-files'
import type { Size } from '../raster.ts'
import { decodingTable, type DecodingTable } from './decoding-table.ts'

export interface Component {
  /** Blocks a unit of the scan has in each direction. */
  columns: number
  rows: number
  /** Steps of quantisation, in the order of the file. */
  steps: Uint8Array
  means: DecodingTable
  others: DecodingTable
}

export interface Frame extends Size {
  components: Component[]
  /** How many units of the scan lie between two restart markers; 0 without them. */
  restartInterval: number
  /** Where the compressed data begins. */
  start: number
}

/** The parts of a header that refer to each other by number. */
interface Tables {
  steps: (Uint8Array | undefined)[]
  codes: Map<number, DecodingTable>
  restartInterval: number
}

const [DHT, DQT, DRI, SOF0, SOS, ADOBE] = [0xc4, 0xdb, 0xdd, 0xc0, 0xda, 0xee]

/** Null for every other kind, and for a damaged file. */
export function readFrame(file: Uint8Array): Frame | null {
  const tables: Tables = { steps: [], codes: new Map(), restartInterval: 0 }
  let frame: Uint8Array | undefined
  for (const { marker, body } of jpegSegments(file)) {
    if (marker === DQT && !readSteps(body, tables)) return null
    if (marker === DHT && !readCodes(body, tables)) return null
    if (marker === DRI) tables.restartInterval = (body[0]! << 8) | body[1]!
    // The last byte is 1 for YCbCr.
    if (marker === ADOBE && body[0] === 0x41 && body[11] !== 1) return null
    if (marker === SOF0) frame = body
    else if (isOtherCoding(marker)) return null
    if (marker === SOS) {
      const start = body.byteOffset - file.byteOffset + body.length
      return frame ? combined(frame, body, tables, start) : null
    }
  }
  return null
}

/** Other frames, and arithmetic coding. */
const isOtherCoding = (marker: number) => marker > SOF0 && marker <= 0xcf && marker !== DHT

function readSteps(body: Uint8Array, { steps }: Tables): boolean {
  for (let at = 0; at < body.length; at += 65) {
    // The upper four bits are 1 for steps of 16 bits.
    if (at + 65 > body.length || body[at]! > 3) return false
    steps[body[at]!] = body.subarray(at + 1, at + 65)
  }
  return true
}

function readCodes(body: Uint8Array, { codes }: Tables): boolean {
  for (let at = 0; at < body.length;) {
    const counts = body.subarray(at + 1, at + 17)
    const end = at + 17 + counts.reduce((sum, count) => sum + count, 0)
    if (counts.length < 16 || end > body.length) return false
    const table = decodingTable(counts, body.subarray(at + 17, end))
    if (!table) return false
    codes.set(body[at]!, table)
    at = end
  }
  return true
}

/** Letters as the numbers of components: some encoders mean red, green and blue. */
const RGB = [0x52, 0x47, 0x42]

/** Combines the bodies of frame and scan header with the tables that they name. */
function combined(
  frame: Uint8Array,
  scan: Uint8Array,
  tables: Tables,
  start: number,
): Frame | null {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  const count = frame[5]!
  if (frame.length !== 6 + 3 * count || scan.length !== 4 + 2 * count || scan[0] !== count)
    return null
  if (frame[0] !== 8 || (count !== 1 && count !== 3)) return null
  const [first, last, approximation] = scan.subarray(-3)
  if (first !== 0 || last !== 63 || approximation !== 0) return null
  const components: Component[] = []
  for (let i = 0; i < count; i++) {
    const [id, factors, stepsId] = frame.subarray(6 + 3 * i)
    const [scanId, codesIds] = scan.subarray(1 + 2 * i)
    const steps = tables.steps[stepsId!]
    const means = tables.codes.get(codesIds! >> 4)
    const others = tables.codes.get(0x10 | (codesIds! & 0x0f))
    if (id !== scanId || !steps || !means || !others) return null
    // The units of a picture with one component are its blocks.
    const [columns, rows] = count === 1 ? [1, 1] : [factors! >> 4, factors! & 0x0f]
    const most = i === 0 ? 2 : 1
    if (columns < 1 || columns > most || rows < 1 || rows > most) return null
    components.push({ columns, rows, steps, means, others })
  }
  if (count === 3 && RGB.every((letter, i) => frame[6 + 3 * i] === letter)) return null
  const [height, width] = [view.getUint16(1), view.getUint16(3)]
  return { width, height, components, restartInterval: tables.restartInterval, start }
}

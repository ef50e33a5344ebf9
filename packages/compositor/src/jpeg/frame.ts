// Reads what surrounds the compressed data of a usual JPEG: baseline or progressive, grey or YCbCr with chroma
// in full or half resolution.
import { jpegSegments } from '@try-on/image-files'
import type { Size } from '../raster.ts'
import { decodingTable, type DecodingTable } from './decoding-table.ts'

export interface Component {
  /** Blocks a unit of the picture has in each direction. */
  columns: number
  rows: number
  /** Steps of quantisation, in the order of the file. */
  steps: Uint8Array
}

/** A component in a scan. Progressive scans lack the codes that they do not need. */
export interface ScanPart {
  /** The place of the component in the frame. */
  index: number
  means: DecodingTable | undefined
  others: DecodingTable | undefined
}

export interface Scan {
  parts: ScanPart[]
  /** The first and the last coefficient, in the order of the file. */
  first: number
  last: number
  /** Whether it adds one bit to coefficients that an earlier scan began, and how many bits follow in later ones. */
  refines: boolean
  low: number
  /** How many units lie between two restart markers; 0 without them. */
  restartInterval: number
  /** Where the compressed data begins. */
  start: number
}

export interface Frame extends Size {
  components: Component[]
  scans: Scan[]
}

interface FrameHeader {
  body: Uint8Array
  isProgressive: boolean
}

/** The parts of a header that refer to each other by number. */
interface Tables {
  steps: (Uint8Array | undefined)[]
  codes: Map<number, DecodingTable>
  restartInterval: number
}

const [DHT, DQT, DRI, SOF0, SOF2, SOS, EOI, ADOBE] = [
  0xc4, 0xdb, 0xdd, 0xc0, 0xc2, 0xda, 0xd9, 0xee,
]

/** Usual files have about 10 scans. A scan visits each block, so that 100 of them take seconds. */
const MAX_SCANS = 24

/** Null for every other kind, and for a damaged file. */
export function readFrame(file: Uint8Array): Frame | null {
  const tables: Tables = { steps: [], codes: new Map(), restartInterval: 0 }
  let header: FrameHeader | null = null
  let frame: Frame | null = null
  for (const { marker, body } of jpegSegments(file)) {
    if (marker === DQT && !readSteps(body, tables)) return null
    if (marker === DHT && !readCodes(body, tables)) return null
    if (marker === DRI) tables.restartInterval = (body[0]! << 8) | body[1]!
    // The last byte is 1 for YCbCr.
    if (marker === ADOBE && body[0] === 0x41 && body[11] !== 1) return null
    if (marker === SOF0 || marker === SOF2) header = { body, isProgressive: marker === SOF2 }
    else if (isOtherCoding(marker)) return null
    if (marker === SOS) {
      const start = body.byteOffset - file.byteOffset + body.length
      frame ??= header && frameOf(header, tables)
      const scan = frame && header && scanOf(body, header, tables, start)
      if (!scan || frame!.scans.push(scan) > MAX_SCANS) return null
    }
    if (marker === EOI) return frame
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

/** Combines the body of the frame's header with the steps that it names. */
function frameOf({ body }: FrameHeader, tables: Tables): Frame | null {
  const count = body[5]!
  if (body[0] !== 8 || (count !== 1 && count !== 3) || body.length !== 6 + 3 * count) return null
  if (count === 3 && RGB.every((letter, i) => body[6 + 3 * i] === letter)) return null
  const components: Component[] = []
  for (let i = 0; i < count; i++) {
    const [, factors, stepsId] = body.subarray(6 + 3 * i)
    const steps = tables.steps[stepsId!]
    // The units of a picture with one component are its blocks.
    const [columns, rows] = count === 1 ? [1, 1] : [factors! >> 4, factors! & 0x0f]
    const most = i === 0 ? 2 : 1
    if (!steps || columns < 1 || columns > most || rows < 1 || rows > most) return null
    components.push({ columns, rows, steps })
  }
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  return { width: view.getUint16(3), height: view.getUint16(1), components, scans: [] }
}

/** Combines the body of a scan's header with the codes that it names (ITU-T T.81, B.2.3 and G.1.1.1). */
function scanOf(
  body: Uint8Array,
  { body: header, isProgressive }: FrameHeader,
  { codes, restartInterval }: Tables,
  start: number,
): Scan | null {
  const count = body[0]!
  if (count < 1 || body.length !== 4 + 2 * count) return null
  const [first, last, approximation] = [body.at(-3)!, body.at(-2)!, body.at(-1)!]
  const [high, low] = [approximation >> 4, approximation & 0x0f]
  const isValid = isProgressive
    ? last < 64 && (first === 0 ? last === 0 : first <= last && count === 1) && low < 14
    : first === 0 && last === 63 && approximation === 0
  if (!isValid || (high > 0 && high !== low + 1)) return null
  const ids = Array.from({ length: header[5]! }, (_, component) => header[6 + 3 * component])
  const parts: ScanPart[] = []
  for (let i = 0; i < count; i++) {
    const [id, codesIds] = body.subarray(1 + 2 * i)
    const index = ids.indexOf(id)
    const means = codes.get(codesIds! >> 4)
    const others = codes.get(0x10 | (codesIds! & 0x0f))
    // Components are in the order of the frame.
    if (index <= (parts.at(-1)?.index ?? -1)) return null
    if ((first === 0 && high === 0 && !means) || (last > 0 && !others)) return null
    parts.push({ index, means, others })
  }
  return { parts, first, last, refines: high > 0, low, restartInterval, start }
}

// Mutations of image files. Most leave the container readable, so that the damage reaches the decoder.
import { deflateSync, inflateSync } from 'node:zlib'
import {
  jpegSegment,
  pngChunk,
  concat,
  losslessChunk,
  losslessWithCodeSets,
  riffChunk,
} from '@try-on/image-files/samples'
import type { ImageFormat } from '../../src/domain/image.ts'
import { imageDataBytes } from '@try-on/image-files'

type Random = () => number

/** Applies one to three mutations. `corpus` has files of the same format to splice in. */
export function mutate(
  file: Uint8Array,
  format: ImageFormat,
  corpus: readonly Uint8Array[],
  random: Random,
): Uint8Array {
  let result: Uint8Array = Uint8Array.from(file)
  for (let rounds = 1 + below(3, random); rounds > 0; rounds--) {
    result =
      random() < 0.65 ? mutateParts(result, format, random) : mutateBytes(result, corpus, random)
  }
  return result
}

const below = (end: number, random: Random) => Math.floor(random() * end)
const pick = <T>(values: readonly T[], random: Random): T => values[below(values.length, random)]!
const noise = (length: number, random: Random) =>
  Uint8Array.from({ length }, () => below(256, random))

/** Boundary values of sizes and counters, and some normal values. */
const EDGES = [
  0, 1, 2, 3, 7, 8, 9, 16, 100, 127, 128, 255, 256, 1_000, 3_000, 4_095, 16_383, 16_384,
]
const HUGE = [32_767, 32_768, 65_500, 65_535, 0xff_ffff, 0x7fff_ffff, 0xffff_ffff]
/** Sides of images below and above the pixel limits. */
const largeSide = (random: Random) => 1 + below(4_200, random)
/** Mostly small, because large images take a hundred times as long. */
const edge = (random: Random) => (random() < 0.9 ? pick(EDGES, random) : pick(HUGE, random))

function mutateBytes(file: Uint8Array, corpus: readonly Uint8Array[], random: Random): Uint8Array {
  const at = below(file.length, random)
  switch (below(7, random)) {
    case 0:
      return file.slice(0, at)
    case 1:
      for (let flips = 1 + below(8, random); flips > 0; flips--) {
        const byte = below(file.length, random)
        file[byte] = (file[byte] ?? 0) ^ (1 << below(8, random))
      }
      return file
    case 2:
      return file.fill(pick([0, 1, 0x55, 0x7f, 0x80, 0xff], random), at, at + 1 + below(64, random))
    case 3: // a piece removed or duplicated
      return concat([file.subarray(0, at), file.subarray(below(file.length, random))])
    case 4: {
      const other = pick(corpus, random)
      return concat([file.subarray(0, at), other.subarray(below(other.length, random))])
    }
    case 5:
      return concat([
        file.subarray(0, at),
        noise(1 + below(300, random), random),
        file.subarray(at),
      ])
    default: {
      // The first bytes contain sizes and types.
      file[below(Math.min(64, file.length), random)] = below(256, random)
      return file
    }
  }
}

function mutateParts(file: Uint8Array, format: ImageFormat, random: Random): Uint8Array {
  if (format === 'jpeg') return mutateJpeg(file, random)
  return format === 'png' ? mutatePng(file, random) : mutateWebp(file, random)
}

/** Duplicates, removes or moves parts of a file. */
function shuffle(parts: Uint8Array[], random: Random, maxCopies: number): Uint8Array[] {
  const at = below(parts.length, random)
  const [part] = parts.splice(at, 1)
  if (!part) return parts
  switch (below(3, random)) {
    case 0:
      return parts
    case 1:
      parts.splice(below(parts.length + 1, random), 0, part)
      return parts
    default: {
      const copies = Math.floor(maxCopies ** random())
      parts.splice(at, 0, ...Array<Uint8Array>(copies + 1).fill(part))
      return parts
    }
  }
}

/** The segments of a JPEG; scans include their data. */
function jpegParts(file: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = []
  let start = 2
  for (let at = 2; at + 4 <= file.length;) {
    const marker = file[at + 1]!
    at += 2 + file[at + 2]! * 256 + file[at + 3]!
    if (marker === 0xda) {
      while (
        at < file.length &&
        !(file[at] === 0xff && file[at + 1]! > 0 && !isRestart(file[at + 1]!))
      ) {
        at += 1
      }
    }
    parts.push(file.subarray(start, at))
    start = at
  }
  return [...parts, file.subarray(start)]
}

const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7

function mutateJpeg(file: Uint8Array, random: Random): Uint8Array {
  let parts = jpegParts(file).map((part): Uint8Array => Uint8Array.from(part))
  const byMarker = (test: (marker: number) => boolean) =>
    parts.filter((part) => part.length > 12 && test(part[1] ?? 0))
  const frame = byMarker((marker) => marker >= 0xc0 && marker <= 0xc2)[0]
  const scans = byMarker((marker) => marker === 0xda)
  switch (below(8, random)) {
    case 0: {
      // Height, width, or both.
      if (!frame) break
      const view = new DataView(frame.buffer, frame.byteOffset)
      if (random() < 0.7) view.setUint16(5 + 2 * below(2, random), edge(random))
      else view.setUint32(5, largeSide(random) * 65_536 + largeSide(random))
      break
    }
    case 1:
      // Precision, number of components, ids, sampling factors.
      if (frame)
        frame[4 + below(frame.length - 4, random)] = pick(
          [0, 1, 2, 3, 4, 8, 12, 0x11, 0x22, 0x41, 0x14, 0x44, 255],
          random,
        )
      break
    case 2:
      if (frame) frame[1] = 0xc0 + below(16, random)
      break
    case 3: {
      // Spectral selection and approximation of a scan, or its table numbers.
      const header = pick(scans, random)
      if (header)
        header[4 + below(8, random)] = pick([0, 1, 2, 5, 0x10, 0x21, 0x3f, 0x40, 0xff], random)
      break
    }
    case 4: {
      const copied = pick(scans, random)
      if (copied) {
        const copies = Math.floor(200 ** random())
        parts.splice(parts.indexOf(copied), 0, ...Array<Uint8Array>(copies).fill(copied))
      }
      break
    }
    case 5: {
      const part = pick(
        [
          jpegSegment(0xdd, [below(2, random), below(256, random)]),
          jpegSegment(0xdc, [0, below(256, random)]),
          jpegSegment(
            pick([0xe0, 0xe1, 0xe2, 0xee, 0xfe], random),
            noise(below(40, random), random),
          ),
          jpegSegment(pick([0xc4, 0xdb, 0xcc], random), noise(below(100, random), random)),
          Uint8Array.of(0xff, pick([0xd8, 0xd9, 0x01, 0xff, 0xd0], random)),
        ],
        random,
      )
      const copies = Math.floor(3_000 ** random())
      parts.splice(below(parts.length, random), 0, ...Array<Uint8Array>(copies).fill(part))
      break
    }
    case 6: {
      const data = pick(scans, random)
      if (data && data.length > 20) data.set(noise(below(data.length - 16, random), random), 14)
      break
    }
    default:
      parts = shuffle(parts, random, 300)
  }
  return concat([file.subarray(0, 2), ...parts])
}

function pngParts(file: Uint8Array): { type: string; body: Uint8Array }[] {
  const parts = []
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  for (let at = 8; at + 12 <= file.length;) {
    const end = Math.min(at + 8 + view.getUint32(at), file.length)
    const type = Buffer.from(file.subarray(at + 4, at + 8)).toString('latin1')
    parts.push({ type, body: file.slice(at + 8, end) })
    at = end + 4
  }
  return parts
}

const PNG_TYPES = [
  'PLTE',
  'tRNS',
  'iCCP',
  'zTXt',
  'iTXt',
  'tEXt',
  'eXIf',
  'gAMA',
  'cHRM',
  'acTL',
  'fcTL',
  'fdAT',
  'IDAT',
  'IEND',
  'IHDR',
  'sBIT',
  'abCd',
]

function mutatePng(file: Uint8Array, random: Random): Uint8Array {
  const parts = pngParts(file)
  const header = parts.find(({ type, body }) => type === 'IHDR' && body.length === 13)?.body
  const data = parts.findIndex(({ type }) => type === 'IDAT')
  let chunks: Uint8Array[] | undefined
  switch (below(7, random)) {
    case 0:
      if (!header) break
      if (random() < 0.7) {
        new DataView(header.buffer).setUint32(4 * below(2, random), edge(random))
      } else {
        enlarge(header, parts[data], random)
      }
      break
    case 1:
      if (header) header[8 + below(5, random)] = below(17, random)
      break
    case 2:
    case 3: {
      const image = parts[data]
      if (!image) break
      let lines: Uint8Array
      try {
        lines = Uint8Array.from(inflateSync(image.body, { maxOutputLength: 8_000_000 }))
      } catch {
        break
      }
      const at = below(lines.length, random)
      const change = below(4, random)
      if (change === 0) lines = lines.subarray(0, at)
      else if (change === 1) lines = concat([lines, new Uint8Array(edge(random) % 5_000_000)])
      else if (change === 2) lines.fill(below(256, random), at, at + 1 + below(200, random))
      const level = pick([0, 1, 9], random)
      image.body =
        change === 3 ? concat([image.body, noise(9, random)]) : deflateSync(lines, { level })
      break
    }
    case 4: {
      const image = parts[data]
      if (!image) break
      const size = 1 + Math.max(below(50, random), Math.floor(image.body.length / 30_000))
      const pieces = Array.from({ length: Math.ceil(image.body.length / size) }, (_, i) => ({
        type: 'IDAT',
        body: image.body.subarray(i * size, (i + 1) * size),
      }))
      parts.splice(data, 1, ...pieces)
      break
    }
    case 5: {
      const packed = deflateSync(new Uint8Array(edge(random) % 3_000_000))
      const name = Buffer.from('name\0\0', 'latin1')
      const body = pick([noise(below(60, random), random), concat([name, packed]), packed], random)
      const copies = Math.floor(2_000 ** random())
      const part = { type: pick(PNG_TYPES, random), body }
      parts.splice(
        below(parts.length + 1, random),
        0,
        ...Array.from({ length: copies }, () => part),
      )
      break
    }
    default:
      chunks = shuffle(parts.map(toChunk), random, 300)
  }
  return concat([file.subarray(0, 8), ...(chunks ?? parts.map(toChunk))])
}

/** Sets large sides in a PNG header, with matching image data. */
function enlarge(
  header: Uint8Array,
  image: { body: Uint8Array } | undefined,
  random: Random,
): void {
  const [width, height] = [largeSide(random), largeSide(random)]
  const view = new DataView(header.buffer, header.byteOffset)
  view.setUint32(0, width)
  view.setUint32(4, height)
  const [depth = 8, colourType = 0] = header.subarray(8)
  const interlaced = header[12] === 1
  const needed = imageDataBytes({ format: 'png', width, height, depth, colourType, interlaced })
  if (image) image.body = deflateSync(new Uint8Array(needed), { level: 1 })
}

const toChunk = ({ type, body }: { type: string; body: Uint8Array }) => pngChunk(type, body)

/** The chunks of a RIFF file or of a frame. */
function riffParts(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at + 8 <= bytes.length;) {
    const end = Math.min(at + 8 + view.getUint32(at + 4, true), bytes.length)
    parts.push(bytes.slice(at, end + ((end - at) % 2)))
    at = end + ((end - at) % 2)
  }
  return parts
}

const typeOf = (part: Uint8Array) => Buffer.from(part.subarray(0, 4)).toString('latin1')

function mutateWebp(file: Uint8Array, random: Random): Uint8Array {
  let parts = riffParts(file.subarray(12))
  const at = below(parts.length, random)
  const part = parts[at]
  if (!part) return file
  const type = typeOf(part)
  if (type === 'ANMF' && random() < 0.5) {
    const inner = mutateWebp(concat([file.subarray(0, 12), part.subarray(24)]), random)
    parts[at] = riffChunk('ANMF', concat([part.subarray(8, 24), inner.subarray(12)]))
    return wrapped(parts)
  }
  const view = new DataView(part.buffer, part.byteOffset, part.byteLength)
  if (random() < 0.1) {
    const size = { width: largeSide(random), height: largeSide(random) }
    const image =
      random() < 0.5
        ? losslessChunk(size)
        : losslessWithCodeSets({ width: 400, height: 400 }, 1 + below(10_000, random))
    return wrapped([image])
  }
  switch (below(6, random)) {
    case 0: {
      // The size fields of this type of chunk.
      const offset = { VP8X: 12, ANMF: 14, 'VP8 ': 14, VP8L: 9 }[type] ?? 8
      const position = offset + pick([0, 1, 2, 3], random)
      if (position + 2 <= part.length) view.setUint16(position, edge(random) & 0xffff, true)
      break
    }
    case 1:
      if (part.length > 8)
        part[8 + below(Math.min(40, part.length - 8), random)] = below(256, random)
      break
    case 2:
      view.setUint32(
        4,
        random() < 0.5 ? edge(random) : part.length - 8 + below(9, random) - 4,
        true,
      )
      break
    case 3: {
      const alpha = concat([Uint8Array.of(below(64, random)), noise(below(60, random), random)])
      const added = pick(
        [
          riffChunk('ALPH', alpha),
          riffChunk('JUNK', noise(below(9, random), random)),
          riffChunk('VP8 ', noise(below(20, random), random)),
          losslessWithCodeSets({ width: 52, height: 38 }, 1 + below(130, random)),
        ],
        random,
      )
      const copies = Math.floor(3_000 ** random())
      parts.splice(below(parts.length + 1, random), 0, ...Array<typeof added>(copies).fill(added))
      break
    }
    case 4: {
      const start = 8 + below(part.length, random)
      part.set(
        noise(Math.min(50, Math.max(0, part.length - start)), random),
        Math.min(start, part.length),
      )
      break
    }
    default:
      parts = shuffle(parts, random, 300)
  }
  return wrapped(parts)
}

const wrapped = (parts: Uint8Array[]) =>
  riffChunk('RIFF', concat([Buffer.from('WEBP', 'latin1'), ...parts]))

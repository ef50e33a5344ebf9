// Reads JPEG files marker by marker (ITU-T T.81, annex B). Reads headers only; decodes nothing.
import { corrupt, type Corrupt } from './corrupt.ts'

interface JpegSegment {
  marker: number
  /** The bytes after the length field; shorter than the length when the file is truncated. */
  body: Uint8Array
}

/**
 * A decoder visits every block of the image once per scan. A typical progressive file has about 10
 * scans.
 */
export const MAX_JPEG_SCANS = 100

/**
 * The decoder adds each APP1 segment to the end of a linked list, in quadratic time: 40,000 take a
 * second, and 2,000,000 fit into a file.
 */
export const MAX_JPEG_SEGMENTS = 1_000

const EOI = 0xd9
const SOI = 0xd8
const SOS = 0xda

/**
 * Yields every segment, scan headers (0xDA) and the end of the image (0xD9) included; skips the
 * compressed data after scan headers. Ends at the end of the image, at malformed data, and one
 * segment above the limit.
 */
export function* jpegSegments(bytes: Uint8Array): Generator<JpegSegment> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 2
  let count = 0
  while (at + 2 <= bytes.length && bytes[at] === 0xff && count <= MAX_JPEG_SEGMENTS) {
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at += 1 // fill bytes may precede a marker
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 2 // markers without a length
    } else if (marker === EOI) {
      yield { marker, body: bytes.subarray(at + 2, at + 2) }
      return
    } else {
      // A second start of image has no length, and a segment contains at least its length field.
      if (marker === 0x00 || marker === SOI || at + 4 > bytes.length) return
      const length = view.getUint16(at + 2)
      if (length < 2) return
      const end = at + 2 + length
      yield { marker, body: bytes.subarray(at + 4, end) }
      count += 1
      at = marker === SOS ? endOfScan(bytes, end) : end
    }
  }
}

/** Finds the next marker that is neither a stuffed byte, a fill byte nor a restart. */
function endOfScan(bytes: Uint8Array, from: number): number {
  for (let at = from; at + 1 < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue
    const next = bytes[at + 1] ?? 0
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at
  }
  return bytes.length
}

export interface JpegHeader {
  format: 'jpeg'
  width: number
  height: number
  /** How the image is coded: 0xC0 (SOF0) to 0xCF (SOF15). */
  coding: number
  /** Bits per sample. */
  precision: number
  /** Colour channels. */
  components: number
  /** How many samples all channels have for a pixel: 3 in full resolution, 1.5 with both chroma channels in half. */
  samples: number
  scans: number
  /** Whether the decoder must store all coefficients of the image until the last scan is read. */
  buffered: boolean
  /** Whether the file has its end-of-image marker. */
  complete: boolean
}

/** Reads the whole file. It must have one frame, with an area, and at most {@link MAX_JPEG_SCANS} scans. */
export function inspectJpeg(bytes: Uint8Array): JpegHeader | Corrupt {
  let header: JpegHeader | undefined
  let segments = 0
  for (const { marker, body } of jpegSegments(bytes)) {
    if (marker === EOI && header) {
      header.complete = true
    } else if (isStartOfFrame(marker)) {
      if (header) return corrupt('the JPEG has more than one frame')
      if (body.length < 6) return corrupt('the JPEG frame header is truncated')
      const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
      header = {
        format: 'jpeg',
        coding: marker,
        precision: view.getUint8(0),
        height: view.getUint16(1),
        width: view.getUint16(3),
        components: view.getUint8(5),
        samples: samplesOf(body),
        scans: 0,
        buffered: PROGRESSIVE.has(marker),
        complete: false,
      }
    } else if (marker === SOS) {
      if (!header) return corrupt('a JPEG scan comes before the frame')
      header.scans += 1
      if (header.scans > MAX_JPEG_SCANS) return corrupt(`more than ${MAX_JPEG_SCANS} JPEG scans`)
      // With a scan per component, pixels are complete only after the last scan.
      if (body[0] !== header.components) header.buffered = true
    }
    segments += 1
    if (segments > MAX_JPEG_SEGMENTS) {
      return corrupt(`more than ${MAX_JPEG_SEGMENTS} JPEG segments`)
    }
  }
  if (!header) return corrupt('the JPEG has no frame header')
  if (header.width === 0 || header.height === 0) return corrupt('the JPEG frame has no area')
  return header
}

/** From the body of the frame header: the blocks of each channel, in those of the one with most. */
function samplesOf(body: Uint8Array): number {
  const factors = Array.from({ length: body[5]! }, (_, i) => body[7 + 3 * i] ?? 0x11)
  const most = (values: number[]) => Math.max(1, ...values)
  const whole = most(factors.map((byte) => byte >> 4)) * most(factors.map((byte) => byte & 0x0f))
  return factors.reduce((sum, byte) => sum + (byte >> 4) * (byte & 0x0f), 0) / whole
}

/** SOF0–SOF15 except DHT, JPG and DAC, which share the range (table B.1). */
const isStartOfFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** SOF2, SOF6, SOF10 and SOF14. */
const PROGRESSIVE = new Set([0xc2, 0xc6, 0xca, 0xce])

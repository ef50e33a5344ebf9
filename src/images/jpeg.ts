// The header of a JPEG, segment by segment (ITU-T T.81, annex B).

interface Segment {
  marker: number
  /** What follows the segment's length; shorter than announced when the file is cut. */
  body: Uint8Array
}

/** The segments before the picture data. Ends early where the file is none. */
export function* jpegSegments(bytes: Uint8Array): Generator<Segment> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 2
  while (at + 4 <= bytes.length && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at += 1 // any number of fill bytes may come before a marker
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2 // markers without a length
    } else if (marker === 0xd9 || marker === 0xda) {
      return // the end, or the picture data
    } else {
      const end = at + 2 + view.getUint16(at + 2)
      yield { marker, body: bytes.subarray(at + 4, end) }
      at = end
    }
  }
}

export interface JpegFrame {
  /** Which kind of coding: SOF0 to SOF15. */
  marker: number
  width: number
  height: number
  /** Colour channels. */
  components: number
}

/** What the picture data is, told by its frame header; null when there is none. */
export function jpegFrame(bytes: Uint8Array): JpegFrame | null {
  for (const { marker, body } of jpegSegments(bytes)) {
    if (!isStartOfFrame(marker)) continue
    if (body.length < 6) return null
    const view = new DataView(body.buffer, body.byteOffset, body.length)
    return {
      marker,
      height: view.getUint16(1),
      width: view.getUint16(3),
      components: view.getUint8(5),
    }
  }
  return null
}

/** SOF0–SOF15 except DHT, JPG and DAC, which share the range (table B.1). */
const isStartOfFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

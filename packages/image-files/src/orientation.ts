// EXIF orientation: cameras store the sensor's image together with how to rotate it.
import type { ImageFormat } from './format.ts'
import { jpegSegments } from './jpeg.ts'
import { pngChunks } from './png.ts'
import { riffChunks } from './webp.ts'

/** The EXIF orientation, 1 (upright) to 8; 1 when the file has none. */
export function orientationOf(bytes: Uint8Array, format: ImageFormat): number {
  const tiff = TIFF_OF[format](bytes)
  return tiff ? orientationInTiff(viewOf(tiff)) : 1
}

const TIFF_OF: Record<ImageFormat, (bytes: Uint8Array) => Uint8Array | undefined> = {
  jpeg(bytes) {
    for (const { marker, body } of jpegSegments(bytes)) {
      if (marker === 0xda) break // metadata comes before the image
      // 'Exif' and two zeros, then the TIFF structure.
      const isExif = marker === 0xe1 && body.length > 6 && viewOf(body).getUint32(0) === 0x45786966
      if (isExif) return body.subarray(6)
    }
    return undefined
  },
  png: (bytes) => pngChunks(bytes).find(({ type }) => type === 'eXIf')?.body,
  webp(bytes) {
    const body = riffChunks(bytes).find(({ type }) => type === 'EXIF')?.body
    // Some encoders add the 'Exif' prefix of JPEG.
    return body?.[0] === 0x45 ? body.subarray(6) : body
  },
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function orientationInTiff(view: DataView): number {
  if (view.byteLength < 14) return 1
  const little = view.getUint16(0) === 0x4949
  const start = view.getUint32(4, little)
  if (start + 2 > view.byteLength) return 1
  const count = view.getUint16(start, little)
  for (let i = 0; i < count; i++) {
    const entry = start + 2 + i * 12
    if (entry + 12 > view.byteLength) return 1
    if (view.getUint16(entry, little) !== 0x0112) continue
    const value = view.getUint16(entry + 8, little)
    return value >= 1 && value <= 8 ? value : 1
  }
  return 1
}

/** An EXIF structure with nothing but an orientation, without the prefix that it has in JPEG. */
export function orientationTiff(orientation: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(26))
  // Big-endian; one entry at 8: tag 0x0112, one number of 16 bits.
  view.setUint32(0, 0x4d4d002a)
  view.setUint32(4, 8)
  view.setUint16(8, 1)
  view.setUint16(10, 0x0112)
  view.setUint16(12, 3)
  view.setUint32(14, 1)
  view.setUint16(18, orientation)
  return new Uint8Array(view.buffer)
}

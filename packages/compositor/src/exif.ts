// EXIF orientation: cameras store the sensor's image together with how to rotate it.
import type { ImageFormat } from '@try-on/image-files'
import { jpegSegments, pngChunks, riffChunks } from '@try-on/image-files'
import type { Raster } from './raster.ts'

/** The EXIF orientation, 1 (upright) to 8; 1 when the file has none. */
export function orientationOf(bytes: Uint8Array, format: ImageFormat): number {
  const tiff = TIFF_OF[format](bytes)
  return tiff ? orientationInTiff(tiff) : 1
}

const TIFF_OF: Record<ImageFormat, (bytes: Uint8Array) => DataView | null> = {
  jpeg(bytes) {
    for (const { marker, body } of jpegSegments(bytes)) {
      if (marker === 0xda) return null // metadata comes before the image
      // 'Exif' and two zeros, then the TIFF structure.
      const isExif = marker === 0xe1 && body.length > 6 && viewOf(body).getUint32(0) === 0x45786966
      if (isExif) return viewOf(body.subarray(6))
    }
    return null
  },
  png(bytes) {
    for (const { type, body } of pngChunks(bytes)) if (type === 'eXIf') return viewOf(body)
    return null
  },
  webp(bytes) {
    for (const { type, body } of riffChunks(bytes)) {
      // Some encoders add the 'Exif' prefix of JPEG.
      if (type === 'EXIF') return viewOf(body[0] === 0x45 ? body.subarray(6) : body)
    }
    return null
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

/** Rotates and mirrors the picture according to its orientation. */
export function upright(picture: Raster, orientation: number): Raster {
  if (orientation === 1) return picture
  const swap = orientation >= 5
  const { width, height } = picture
  const result: Raster = {
    width: swap ? height : width,
    height: swap ? width : height,
    data: new Uint8ClampedArray(picture.data.length),
  }
  const from = new Uint32Array(picture.data.buffer, picture.data.byteOffset, width * height)
  const to = new Uint32Array(result.data.buffer)
  for (let y = 0, at = 0; y < result.height; y++) {
    for (let x = 0; x < result.width; x++, at++) {
      const [sourceX, sourceY] = sourceOf(orientation, x, y, width, height)
      to[at] = from[sourceY * width + sourceX]!
    }
  }
  return result
}

function sourceOf(
  orientation: number,
  x: number,
  y: number,
  width: number,
  height: number,
): [number, number] {
  switch (orientation) {
    case 2:
      return [width - 1 - x, y]
    case 3:
      return [width - 1 - x, height - 1 - y]
    case 4:
      return [x, height - 1 - y]
    case 5:
      return [y, x]
    case 6:
      return [y, height - 1 - x]
    case 7:
      return [width - 1 - y, height - 1 - x]
    default:
      return [width - 1 - y, x]
  }
}

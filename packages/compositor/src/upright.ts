// Rotates decoded pictures as their EXIF orientation says.
import type { Raster } from './raster.ts'

/** The orientations (table 6 of the EXIF specification) that swap rows and columns, or run backwards. */
const SWAPPED = 5
const FROM_RIGHT = new Set([2, 3, 7, 8])
const FROM_BOTTOM = new Set([3, 4, 6, 7])

/** Rotates and mirrors the picture according to its orientation. */
export function upright(picture: Raster, orientation: number): Raster {
  if (orientation === 1) return picture
  const swap = orientation >= SWAPPED
  const fromRight = FROM_RIGHT.has(orientation)
  const fromBottom = FROM_BOTTOM.has(orientation)
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
      const [column, row] = swap ? [y, x] : [x, y]
      const sourceX = fromRight ? width - 1 - column : column
      const sourceY = fromBottom ? height - 1 - row : row
      to[at] = from[sourceY * width + sourceX]!
    }
  }
  return result
}

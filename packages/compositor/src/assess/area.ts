// Shares and means over pixels of the analysed picture.
import type { Size } from '../raster.ts'

/** Whether a pixel belongs to a set, by its index. */
export type PixelSet = (at: number) => boolean

/** The share of the pixels of `whole` that are also in `part`; `ifEmpty` when `whole` has none. */
export function shareOf(
  { width, height }: Size,
  whole: PixelSet,
  part: PixelSet,
  ifEmpty = 0,
): number {
  let [inWhole, inBoth] = [0, 0]
  for (let at = 0; at < width * height; at++) {
    if (!whole(at)) continue
    inWhole++
    if (part(at)) inBoth++
  }
  return inWhole === 0 ? ifEmpty : inBoth / inWhole
}

/** The mean of the values of a set of pixels; 0 for none. */
export function meanOf(values: Float32Array, set: PixelSet): number {
  let [sum, count] = [0, 0]
  for (let at = 0; at < values.length; at++) {
    if (!set(at)) continue
    sum += values[at]!
    count++
  }
  return count === 0 ? 0 : sum / count
}

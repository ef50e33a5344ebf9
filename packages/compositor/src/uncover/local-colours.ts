// Colours of a set of pixels in the neighbourhood of every pixel.
import { blurSums } from '../smoothing.ts'
import type { Small } from './small.ts'

/** From this reach on half the size will do: wide neighbourhoods change slowly. */
const WIDE = 4

/** Memory for the sums of a neighbourhood. It is used and left within one call. */
let memory = new Float32Array(0)

export interface LocalColours {
  /** Three values from 0 to 255 for each pixel. */
  rgb: Uint8ClampedArray
  /** The share of the set in the neighbourhood, from 0 to 1. */
  share: Float32Array
}

/** The mean colour of the pixels of a set within about two times `reach` pixels around each pixel. */
export function localColours(
  { width, height, rgb }: Small,
  belongs: (at: number) => boolean,
  reach: number,
): LocalColours {
  const half = reach >= WIDE ? 1 : 0
  const w = (width + half) >> half
  const h = (height + half) >> half
  if (memory.length < w * h * 4) memory = new Float32Array(w * h * 4)
  const sums = memory.subarray(0, w * h * 4).fill(0)
  const [red, green, blue] = rgb
  for (let y = 0, at = 0; y < height; y++) {
    const row = (y >> half) * w
    for (let x = 0; x < width; x++, at++) {
      if (!belongs(at)) continue
      const to = (row + (x >> half)) * 4
      sums[to] = sums[to]! + red[at]!
      sums[to + 1] = sums[to + 1]! + green[at]!
      sums[to + 2] = sums[to + 2]! + blue[at]!
      sums[to + 3] = sums[to + 3]! + 1
    }
  }
  blurSums(sums, w, Math.max(1, Math.round(reach / (1 + half))))
  const result: LocalColours = {
    rgb: new Uint8ClampedArray(width * height * 3),
    share: new Float32Array(width * height),
  }
  const whole = (1 + half) ** 2
  for (let y = 0, at = 0; y < height; y++) {
    const row = (y >> half) * w
    for (let x = 0; x < width; x++, at++) {
      const from = (row + (x >> half)) * 4
      const count = sums[from + 3]!
      if (count === 0) continue
      result.share[at] = count / whole
      if (count < 1e-4) continue
      result.rgb[at * 3] = sums[from]! / count
      result.rgb[at * 3 + 1] = sums[from + 1]! / count
      result.rgb[at * 3 + 2] = sums[from + 2]! / count
    }
  }
  return result
}

/** How much the pixels of a set differ from their neighbourhood on average, in steps of 255. */
export function roughness(
  { rgb }: Small,
  local: LocalColours,
  belongs: (at: number) => boolean,
): number {
  let sum = 0
  let count = 0
  for (let at = 0; at < local.share.length; at += 3) {
    if (!belongs(at)) continue
    for (let c = 0; c < 3; c++) sum += Math.abs(rgb[c]![at]! - local.rgb[at * 3 + c]!)
    count += 3
  }
  return count > 0 ? sum / count : 0
}

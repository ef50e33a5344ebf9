// Colours of a set of pixels in the neighbourhood of every pixel.
import type { Small } from './small.ts'

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
  // Wide neighbourhoods change slowly: half the size will do.
  const cell = reach >= 4 ? 2 : 1
  const w = Math.ceil(width / cell)
  const h = Math.ceil(height / cell)
  const sums = new Float32Array(w * h * 4)
  for (let y = 0, at = 0; y < height; y++) {
    const row = Math.floor(y / cell) * w
    for (let x = 0; x < width; x++, at++) {
      if (!belongs(at)) continue
      const to = (row + Math.floor(x / cell)) * 4
      for (let c = 0; c < 3; c++) sums[to + c] = sums[to + c]! + rgb[c]![at]!
      sums[to + 3] = sums[to + 3]! + 1
    }
  }
  const boxes = Math.max(1, Math.round(reach / cell))
  for (let pass = 0; pass < 2; pass++) {
    for (let y = 0; y < h; y++) boxLine(sums, y * w * 4, 4, w, boxes)
    for (let x = 0; x < w; x++) boxLine(sums, x * 4, w * 4, h, boxes)
  }
  const result: LocalColours = {
    rgb: new Uint8ClampedArray(width * height * 3),
    share: new Float32Array(width * height),
  }
  for (let y = 0, at = 0; y < height; y++) {
    const row = Math.floor(y / cell) * w
    for (let x = 0; x < width; x++, at++) {
      const from = (row + Math.floor(x / cell)) * 4
      const count = sums[from + 3]!
      result.share[at] = count / (cell * cell)
      if (count < 1e-4) continue
      for (let c = 0; c < 3; c++) result.rgb[at * 3 + c] = sums[from + c]! / count
    }
  }
  return result
}

let line = new Float64Array(0)

/** A running mean of four interleaved values; outside there is nothing. */
function boxLine(
  data: Float32Array,
  start: number,
  step: number,
  length: number,
  reach: number,
): void {
  if (line.length < length) line = new Float64Array(length)
  const share = 1 / (2 * reach + 1)
  for (let c = 0; c < 4; c++) {
    let sum = 0
    for (let i = 0; i < length; i++) {
      line[i] = data[start + i * step + c]!
      if (i < reach) sum += line[i]!
    }
    for (let i = 0; i < length; i++) {
      if (i + reach < length) sum += line[i + reach]!
      data[start + i * step + c] = sum * share
      if (i - reach >= 0) sum -= line[i - reach]!
    }
  }
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

// Deterministic noise like a photo's grain.

/** A number from −1 to 1 that looks random but depends only on the position. */
function hashed(x: number, y: number): number {
  let h = Math.imul(x, 374761393) + Math.imul(y, 668265263)
  h = Math.imul(h ^ (h >>> 13), 1274126177)
  h = Math.imul(h ^ (h >>> 16), 2246822519)
  return ((h ^ (h >>> 15)) >>> 0) / 2147483648 - 1
}

/** Smooth noise with spots of about `cell` pixels; deviation about 0.4 for cells over 1. */
function spots(x: number, y: number, cell: number): number {
  const px = x / cell
  const py = y / cell
  const left = Math.floor(px)
  const top = Math.floor(py)
  const fx = (px - left) ** 2 * (3 - 2 * (px - left))
  const fy = (py - top) ** 2 * (3 - 2 * (py - top))
  const upper = hashed(left, top) * (1 - fx) + hashed(left + 1, top) * fx
  const lower = hashed(left, top + 1) * (1 - fx) + hashed(left + 1, top + 1) * fx
  return upper * (1 - fy) + lower * fy
}

export interface Grain {
  /** The deviation from pixel to pixel, and over some pixels, in steps of 255. */
  fine: number
  coarse: number
  /** The size of the coarse spots in pixels. */
  cell: number
}

/** What the grain adds at a pixel, in steps of 255. */
export function grainAt(grain: Grain, x: number, y: number): number {
  const fine = spots(x, y, 1.7) * 2.1
  const coarse = spots(x + 977, y + 331, grain.cell) + spots(x + 53, y + 711, grain.cell * 2.3)
  return grain.fine * fine + grain.coarse * coarse * 1.5
}

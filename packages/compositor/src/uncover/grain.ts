// A photo's grain: how strong it is on skin, and deterministic noise like it.
import type { Parsing } from '../parsing.ts'
import { median, percentile } from '../plane.ts'
import { clamp, lumaAt, type Raster } from '../raster.ts'

export interface Grain {
  /** The deviation from pixel to pixel, and over some pixels, in steps of 255. */
  fine: number
  coarse: number
  /** The size of the coarse spots in pixels. */
  cell: number
}

// Chosen by experiment on the development photographs; strengths in steps of 255.
/** The size of the coarse spots: pixels of the parsing, and at least pixels of the photo. */
const SPOT = { size: 2.2, least: 3 }
/** The fewest places that say something, and the grain that is assumed with fewer. */
const LEAST_PLACES = 20
const ASSUMED = { fine: 0.6, coarse: 0.4 }
/** From the median of absolute second differences to the deviation, and the most of it. */
const FINE = { factor: 1.2, most: 2.5 }
/** From a low percentile of coarse differences to the deviation, without the fine grain in it. */
const COARSE = { percentile: 0.3, factor: 0.4, fine: 0.4, most: 1.2 }

/** The usual difference between pixels one and four apart where the labels match; edges do not count. */
export function measureGrain(
  photo: Raster,
  parsing: Parsing,
  matches: (label: number) => boolean,
): Grain {
  const cell = Math.max(SPOT.least, (SPOT.size * photo.width) / parsing.width)
  const far = Math.round(cell)
  const fine: number[] = []
  const coarse: number[] = []
  for (let y = 1; y + 1 < parsing.height; y += 2) {
    for (let x = 1; x + 1 < parsing.width; x += 2) {
      const at = y * parsing.width + x
      if (!matches(parsing.labels[at]!)) continue
      const around = [at - 1, at + 1, at - parsing.width, at + parsing.width]
      if (!around.every((i) => matches(parsing.labels[i]!))) continue
      const px = Math.floor(((x + 0.5) * photo.width) / parsing.width)
      const py = Math.floor(((y + 0.5) * photo.height) / parsing.height)
      const middle = luma(photo, px, py)
      fine.push(Math.abs(middle - (luma(photo, px - 1, py) + luma(photo, px + 1, py)) / 2))
      coarse.push(Math.abs(middle - (luma(photo, px - far, py) + luma(photo, px + far, py)) / 2))
    }
  }
  if (fine.length < LEAST_PLACES) return { ...ASSUMED, cell }
  const small = Math.min(FINE.most, median(fine) * FINE.factor)
  const large = percentile(coarse, COARSE.percentile) * COARSE.factor - COARSE.fine * small
  return {
    fine: small,
    coarse: clamp(large, 0, COARSE.most),
    cell,
  }
}

function luma(photo: Raster, x: number, y: number): number {
  const column = clamp(x, 0, photo.width - 1)
  return lumaAt(photo, clamp(y, 0, photo.height - 1) * photo.width + column)
}

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

/** The size of fine spots in pixels, and what gives their noise, and that of coarse spots, a deviation of about 1. */
const FINE_SPOT = { size: 1.7, factor: 2.1 }
const COARSE_FACTOR = 1.5
/** The larger of the two sizes of coarse spots, in the smaller one. */
const LARGER = 2.3

/** What the grain adds at a pixel, in steps of 255. */
export function grainAt(grain: Grain, x: number, y: number): number {
  const fine = spots(x, y, FINE_SPOT.size) * FINE_SPOT.factor
  // Shifted by any numbers, so that the three patterns do not repeat each other.
  const coarse = spots(x + 977, y + 331, grain.cell) + spots(x + 53, y + 711, grain.cell * LARGER)
  return grain.fine * fine + grain.coarse * coarse * COARSE_FACTOR
}

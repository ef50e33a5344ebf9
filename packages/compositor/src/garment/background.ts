// Estimates the background of a picture from its borders.
import type { Lab } from '../oklab.ts'
import { median } from '../plane.ts'
import type { Size } from '../raster.ts'

export interface Backdrop {
  /** How far each pixel's colour is from the background expected there. */
  distance: Float32Array
  /** The same without lightness. */
  chroma: Float32Array
  /** How much darker each pixel is than expected. */
  darker: Float32Array
  /** How far each pixel is from the expected colour on the axes a and b. */
  redder: Float32Array
  yellower: Float32Array
  /** The typical distance of background pixels, measured at the border. */
  noise: number
}

/** The noise from which a ground may have a pattern, such as planks. */
export const PATTERNED = 0.0055

/** Planes for a backdrop, all 0. */
function backdropPlanes({ width, height }: Size): Omit<Backdrop, 'noise'> {
  const plane = () => new Float32Array(width * height)
  return {
    distance: plane(),
    chroma: plane(),
    darker: plane(),
    redder: plane(),
    yellower: plane(),
  }
}

/** Of the fit, each without the outliers of the one before. */
const ROUNDS = 6
/** Outliers are this many times the median distance off, and at least this far, in Oklab. By experiment. */
const OUTLIER = 2.5
const LEAST_LIMIT = 0.012
/** The depth of the border as a share of the shorter side, and about how many samples run along it. */
const BORDER_DEPTH = 0.012
const SAMPLES = 900
/** Keep undetermined terms finite. */
const RIDGE = 1e-6
const ALMOST_ZERO = 1e-12

/**
 * Fits a gradient (a quadratic in x and y for each channel) to the border. Ignores outliers, such as
 * places where the subject touches the edge.
 */
export function smoothBackdrop(lab: Lab): Backdrop {
  const { width, height } = lab
  const ring = borderOf(width, height)
  const basis = ring.map((index) => terms(index % width, Math.floor(index / width), width, height))
  let weights = new Float64Array(ring.length).fill(1)
  let fits: Float64Array[] = []
  let noise = 0
  for (let round = 0; round < ROUNDS; round++) {
    fits = solveFits(basis, ring, [lab.L, lab.a, lab.b], weights)
    const off = ring.map((index, i) => distanceTo(lab, index, fits, basis[i]!))
    noise = median(off)
    const limit = Math.max(LEAST_LIMIT, noise * OUTLIER)
    weights = Float64Array.from(off, (distance) => 1 / (1 + (distance / limit) ** 4))
  }
  const backdrop = { ...backdropPlanes(lab), noise }
  for (let y = 0; y < height; y++) compareRow(lab, y, fits, backdrop)
  return backdrop
}

/** Writes how far the pixels of one row are from the fits. */
function compareRow(
  { width, height, L, a, b }: Lab,
  y: number,
  fits: readonly Float64Array[],
  { distance, chroma, darker, redder, yellower }: Backdrop,
): void {
  const v = (2 * y + 1) / height - 1
  const inL = alongRow(fits[0]!, v)
  const inA = alongRow(fits[1]!, v)
  const inB = alongRow(fits[2]!, v)
  for (let x = 0, index = y * width; x < width; x++, index++) {
    const u = (2 * x + 1) / width - 1
    const light = L[index]! - (inL[0] + u * (inL[1] + u * inL[2]))
    const red = a[index]! - (inA[0] + u * (inA[1] + u * inA[2]))
    const yellow = b[index]! - (inB[0] + u * (inB[1] + u * inB[2]))
    const colour = red * red + yellow * yellow
    darker[index] = -light
    redder[index] = red
    yellower[index] = yellow
    chroma[index] = Math.sqrt(colour)
    distance[index] = Math.sqrt(light * light + colour)
  }
}

/** The fit on one row, as a polynomial in u alone. */
const alongRow = (fit: Float64Array, v: number): [number, number, number] => [
  fit[0]! + v * (fit[2]! + v * fit[5]!),
  fit[1]! + v * fit[4]!,
  fit[3]!,
]

function borderOf(width: number, height: number): number[] {
  const ring: number[] = []
  const depth = Math.max(1, Math.round(Math.min(width, height) * BORDER_DEPTH))
  const step = Math.max(1, Math.round((width + height) / SAMPLES))
  for (let d = 0; d < depth; d++) {
    for (let x = 0; x < width; x += step) {
      ring.push(Math.min(d, height - 1) * width + x, Math.max(0, height - 1 - d) * width + x)
    }
    for (let y = 0; y < height; y += step) {
      ring.push(y * width + Math.min(d, width - 1), y * width + Math.max(0, width - 1 - d))
    }
  }
  return ring
}

/** x and y run from -1 to 1 about the centre, so that mirrored pictures have mirrored fits. */
function terms(x: number, y: number, width: number, height: number): number[] {
  const u = (2 * x + 1) / width - 1
  const v = (2 * y + 1) / height - 1
  return [1, u, v, u * u, u * v, v * v]
}

function distanceTo(lab: Lab, index: number, fits: Float64Array[], basis: number[]): number {
  return Math.hypot(
    lab.L[index]! - valueOf(fits[0]!, basis),
    lab.a[index]! - valueOf(fits[1]!, basis),
    lab.b[index]! - valueOf(fits[2]!, basis),
  )
}

function valueOf(coefficients: Float64Array, basis: number[]): number {
  let value = 0
  for (let k = 0; k < 6; k++) value += coefficients[k]! * basis[k]!
  return value
}

/** The coefficients of each channel. */
function solveFits(
  basis: number[][],
  ring: number[],
  channels: readonly Float32Array[],
  weights: Float64Array,
): Float64Array[] {
  const matrix = Array.from({ length: 6 }, () => new Float64Array(6 + channels.length))
  for (let i = 0; i < ring.length; i++) {
    const row = basis[i]!
    for (let r = 0; r < 6; r++) {
      const target = matrix[r]!
      const weighted = weights[i]! * row[r]!
      for (let c = 0; c < 6; c++) target[c]! += weighted * row[c]!
      for (let k = 0; k < channels.length; k++) target[6 + k]! += weighted * channels[k]![ring[i]!]!
    }
  }
  // Ridge regression: in pictures one pixel wide some terms are undetermined.
  for (let r = 1; r < 6; r++) matrix[r]![r] = matrix[r]![r]! + RIDGE * ring.length
  eliminate(matrix)
  return channels.map((_, k) => Float64Array.from(matrix, (row) => row[6 + k]!))
}

/** Gauss–Jordan elimination, in place, of a square matrix with right-hand sides in the columns behind it. */
function eliminate(matrix: Float64Array[]): void {
  const size = matrix.length
  for (let pivot = 0; pivot < size; pivot++) {
    let best = pivot
    for (let r = pivot + 1; r < size; r++) {
      if (Math.abs(matrix[r]![pivot]!) > Math.abs(matrix[best]![pivot]!)) best = r
    }
    const row = matrix[best]!
    matrix[best] = matrix[pivot]!
    matrix[pivot] = row
    const head = row[pivot]! || ALMOST_ZERO
    for (let c = pivot; c < row.length; c++) row[c] = row[c]! / head
    for (let r = 0; r < size; r++) {
      const other = matrix[r]!
      const factor = other[pivot]!
      if (r === pivot || factor === 0) continue
      for (let c = pivot; c < row.length; c++) other[c] = other[c]! - factor * row[c]!
    }
  }
}

// Colour models: mixtures of Gaussians in Oklab, read through a table.
import type { Lab } from '../oklab.ts'
import { clamp } from '../raster.ts'

interface Gaussian {
  /** log of weight and norm */
  offset: number
  mean: [number, number, number]
  /** The inverse of the covariance: LL, aa, bb, La, Lb, ab. */
  inverse: [number, number, number, number, number, number]
}

/** The cost (negative log density, from 0 to CAP) of each colour, by `colourIndex`. */
export type ColourCosts = Float32Array

/** The table's bins for lightness and for each of a and b, which reach from -AB_REACH to AB_REACH in Oklab. */
const L_BINS = 40
const AB_BINS = 40
const AB_REACH = 0.3
/** The log density of the narrowest Gaussian allowed is about 10; of all colours alike about 2. */
export const OFFSET = 10
/** The most that a colour can cost. By experiment. */
export const CAP = 14

const bin = (value: number, low: number, high: number, bins: number) =>
  clamp(Math.floor(((value - low) / (high - low)) * bins), 0, bins - 1)

/** Where the colours of the listed pixels are in the tables. */
export function colourIndices(lab: Lab, pixels: Int32Array): Uint16Array {
  const indices = new Uint16Array(pixels.length)
  for (let k = 0; k < pixels.length; k++) {
    const i = pixels[k]!
    const L = bin(lab.L[i]!, 0, 1, L_BINS)
    const a = bin(lab.a[i]!, -AB_REACH, AB_REACH, AB_BINS)
    const b = bin(lab.b[i]!, -AB_REACH, AB_REACH, AB_BINS)
    indices[k] = (L * AB_BINS + a) * AB_BINS + b
  }
  return indices
}

/** The number of Gaussians for clothes, which have prints, and their least deviation in Oklab lightness. By experiment. */
export const CLOTH = { parts: 5, slack: 0.025 }
/** Fewer pixels, by experiment, say nothing of a colour. */
const LEAST_PIXELS = 12
/** Fewer pixels make no Gaussian. */
const LEAST_CLUSTER = 4
/** The cost of every colour where nothing is known. */
const UNKNOWN = OFFSET - 2

/** The costs of a mixture fitted to the given pixels; of all colours alike when there are too few. */
export function colourCosts(
  lab: Lab,
  pixels: number[],
  components: number,
  slack: number,
): ColourCosts {
  const table = new Float32Array(L_BINS * AB_BINS * AB_BINS)
  if (pixels.length < LEAST_PIXELS) return table.fill(UNKNOWN)
  table.fill(-Infinity)
  for (const gaussian of fit(lab, pixels, components, slack)) raiseTo(table, gaussian)
  for (let at = 0; at < table.length; at++) table[at] = clamp(OFFSET - table[at]!, 0, CAP)
  return table
}

const tintOf = (bin: number) => ((bin + 0.5) / AB_BINS - 0.5) * 2 * AB_REACH

/** Raises each entry to the log density of its colour. */
function raiseTo(table: Float32Array, { offset, mean, inverse }: Gaussian): void {
  const [LL, aa, bb, La, Lb, ab] = inverse
  for (let l = 0, at = 0; l < L_BINS; l++) {
    const x = (l + 0.5) / L_BINS - mean[0]
    for (let i = 0; i < AB_BINS; i++) {
      const y = tintOf(i) - mean[1]
      const constant = offset - 0.5 * (LL * x * x + aa * y * y + 2 * La * x * y)
      const linear = Lb * x + ab * y
      for (let j = 0; j < AB_BINS; j++, at++) {
        const z = tintOf(j) - mean[2]
        const value = constant - z * (linear + 0.5 * bb * z)
        if (value > table[at]!) table[at] = value
      }
    }
  }
}

/** Of k-means. By experiment. */
const ROUNDS = 6

/** k-means, then one Gaussian per cluster. `slack` is added to each deviation. */
function fit(lab: Lab, pixels: number[], components: number, slack: number): Gaussian[] {
  const centres = firstCentres(lab, pixels, components)
  const assigned = new Uint8Array(pixels.length)
  for (let round = 0; round < ROUNDS; round++) {
    const sums = centres.map(() => new Float64Array(4))
    const flat = Float64Array.from(centres.flat())
    for (let k = 0; k < pixels.length; k++) {
      const i = pixels[k]!
      const c = nearest(flat, lab.L[i]!, lab.a[i]!, lab.b[i]!)
      assigned[k] = c
      const sum = sums[c]!
      sum[0]! += lab.L[i]!
      sum[1]! += lab.a[i]!
      sum[2]! += lab.b[i]!
      sum[3]! += 1
    }
    for (const [c, sum] of sums.entries()) {
      if (sum[3]! > 0) centres[c] = [sum[0]! / sum[3]!, sum[1]! / sum[3]!, sum[2]! / sum[3]!]
    }
  }
  return centres.flatMap((mean, c) => gaussian(lab, pixels, assigned, c, mean, slack) ?? [])
}

type Colour = [number, number, number]

/** Chroma counts double: it varies less within one material. @param centres three values each */
function nearest(centres: Float64Array, L: number, a: number, b: number): number {
  let best = 0
  let least = Infinity
  for (let at = 0; at < centres.length; at += 3) {
    const dL = L - centres[at]!
    const da = a - centres[at + 1]!
    const db = b - centres[at + 2]!
    const distance = dL * dL + 4 * (da * da + db * db)
    if (distance >= least) continue
    best = at
    least = distance
  }
  return best / 3
}

/** The middles of equal shares by lightness: the same each time, and spread along the widest axis. */
function firstCentres(lab: Lab, pixels: number[], components: number): Colour[] {
  const sorted = [...pixels].sort((i, j) => lab.L[i]! - lab.L[j]!)
  return Array.from({ length: components }, (_, c) => {
    const i = sorted[Math.floor(((c + 0.5) / components) * sorted.length)]!
    return [lab.L[i]!, lab.a[i]!, lab.b[i]!]
  })
}

function gaussian(
  lab: Lab,
  pixels: number[],
  assigned: Uint8Array,
  component: number,
  mean: Colour,
  slack: number,
): Gaussian | null {
  let count = 0
  const cov = [0, 0, 0, 0, 0, 0]
  for (let k = 0; k < pixels.length; k++) {
    if (assigned[k] !== component) continue
    const i = pixels[k]!
    const x = lab.L[i]! - mean[0]
    const y = lab.a[i]! - mean[1]
    const z = lab.b[i]! - mean[2]
    cov[0]! += x * x
    cov[1]! += y * y
    cov[2]! += z * z
    cov[3]! += x * y
    cov[4]! += x * z
    cov[5]! += y * z
    count++
  }
  if (count < LEAST_CLUSTER) return null
  for (let k = 0; k < 6; k++) cov[k]! /= count
  cov[0]! += slack * slack
  cov[1]! += (slack * slack) / 5
  cov[2]! += (slack * slack) / 5
  const [A, B, C, D, E, F] = cov as [number, number, number, number, number, number]
  const det = A * (B * C - F * F) - D * (D * C - F * E) + E * (D * F - B * E)
  return {
    offset: Math.log(count / pixels.length) - 0.5 * Math.log(det) - 1.5 * Math.log(2 * Math.PI),
    mean,
    inverse: [
      (B * C - F * F) / det,
      (A * C - E * E) / det,
      (A * B - D * D) / det,
      (E * F - D * C) / det,
      (D * F - E * B) / det,
      (D * E - A * F) / det,
    ],
  }
}

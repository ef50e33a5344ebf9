// How the person's skin looks in this light: its tone, and how it darkens across a limb.
import type { LabColour } from '../oklab.ts'
import { median, percentile } from '../plane.ts'
import { clamp } from '../raster.ts'
import { placeIn, type Limb } from './limbs.ts'
import { labAt, type Small } from './small.ts'

export interface SkinModel {
  /** The usual lightness. */
  tone: number
  /** Oklab a and b at a lightness. */
  chroma(lightness: number): [number, number]
  /** Lightness relative to the middle of the limb; `across` from −1 to 1. */
  shade(limb: Limb, across: number): number
  /** Whether the colour could be skin of this person, also in shadow or light. */
  isLike(colour: LabColour, tolerance: number): boolean
}

interface Sample {
  L: number
  a: number
  b: number
  limb: Limb | null
  across: number
}

// Chosen by experiment on the development photographs; lightness, a and b are Oklab's.
const MIN_SAMPLES = 40
const MAX_SAMPLES = 6000
/** The percentiles of the lightness of skin: the usual one, and the ends of what is believed. */
const TONE = 0.55
const DARKEST = 0.03
const LIGHTEST = 0.98
/** How much darker or lighter than those ends skin in shadow or light can be. */
const SHADOW = 0.16
const HIGHLIGHT = 0.08
/** The part of a limb, as on its axis, whose shading is learned: without the shoulder and the hand. */
const LEARNED = { from: 0.2, to: 1.9 }
/** How far from the median of lightness, and of a and b, samples are skin. */
const OUTLIER = { lightness: 0.22, hue: 0.05 }
/** Draws the slope of a line to the mean: a variance of the lightness. */
const SLOPE_PRIOR = 2e-4

/**
 * Learns from the pixels of `usable`, or of `second` when there are too few.
 *
 * @returns null when no skin is visible
 */
export function learnSkin(
  small: Small,
  usable: (at: number) => boolean,
  second: (at: number) => boolean,
  limbs: readonly Limb[],
): SkinModel | null {
  let samples = collect(small, usable, limbs)
  if (samples.length < 4 * MIN_SAMPLES) samples = [...samples, ...collect(small, second, limbs)]
  samples = withoutOutliers(samples)
  if (samples.length < MIN_SAMPLES) return null
  const lightness = samples.map(({ L }) => L)
  const tone = percentile(lightness, TONE)
  const [low, high] = [percentile(lightness, DARKEST), percentile(lightness, LIGHTEST)]
  const a = lineOf(samples.map(({ L, a }) => [L, a]))
  const b = lineOf(samples.map(({ L, b }) => [L, b]))
  const shades = learnShades(samples, limbs)
  return {
    tone,
    chroma(lightness) {
      const L = clamp(lightness, low, high)
      return [a(L), b(L)]
    },
    shade(limb, across) {
      return dot(shades.get(limb) ?? DEFAULT, featuresOf(limb, across))
    },
    isLike([L, colourA, colourB], tolerance) {
      if (L < low - SHADOW || L > high + HIGHLIGHT) return false
      return Math.hypot(colourA - a(L), colourB - b(L)) < tolerance
    },
  }
}

function collect(small: Small, usable: (at: number) => boolean, limbs: readonly Limb[]): Sample[] {
  const { width, height } = small
  const places: number[] = []
  for (let at = 0; at < width * height; at++) if (usable(at)) places.push(at)
  const step = Math.max(1, Math.ceil(places.length / MAX_SAMPLES))
  const samples: Sample[] = []
  for (let i = 0; i < places.length; i += step) {
    const at = places[i]!
    const [L, a, b] = labAt(small, at)
    let limb: Limb | null = null
    let across = 0
    for (const candidate of limbs) {
      const place = placeIn(candidate, (at % width) + 0.5, Math.floor(at / width) + 0.5)
      if (!place || place.inside < 0) continue
      if (place.at < LEARNED.from || place.at > LEARNED.to) continue
      limb = candidate
      across = place.across
    }
    samples.push({ L, a, b, limb, across })
  }
  return samples
}

/** Leaves out lips, nails, jewellery and what is not skin. */
function withoutOutliers(samples: readonly Sample[]): Sample[] {
  if (samples.length === 0) return []
  const L = median(samples.map((sample) => sample.L))
  const a = median(samples.map((sample) => sample.a))
  const b = median(samples.map((sample) => sample.b))
  return samples.filter(
    (sample) =>
      Math.abs(sample.L - L) < OUTLIER.lightness &&
      Math.hypot(sample.a - a, sample.b - b) < OUTLIER.hue,
  )
}

/** The straight line of least squares, drawn a little towards the mean. */
function lineOf(pairs: [number, number][]): (x: number) => number {
  let [x, y] = [0, 0]
  for (const pair of pairs) {
    x += pair[0] / pairs.length
    y += pair[1] / pairs.length
  }
  let [xx, xy] = [0, 0]
  for (const pair of pairs) {
    xx += (pair[0] - x) ** 2
    xy += (pair[0] - x) * (pair[1] - y)
  }
  const slope = xy / (xx + pairs.length * SLOPE_PRIOR)
  return (at) => y + slope * (at - x)
}

/** The factors of u, of u towards the body, of u² and of u⁶. */
type Shade = [slope: number, inner: number, bulge: number, rim: number]
/** Means over photographs in studio light. Towards the body arms are darker. */
const DEFAULT: Shade = [0, -0.03, -0.055, -0.045]
/** How many samples weigh as much as the expectation. */
const TRUST = 60
/** The mean of the squared factors, which turns samples into the weight of an expectation. */
const MEAN_SQUARE = 0.3
/** The fewest samples of a limb that are learned from, and the rounds of the regression. */
const MIN_LIMB_SAMPLES = 20
const ROUNDS = 40
/** The least and the most of each factor. */
const RANGES = [
  [-0.1, 0.1],
  [-0.1, 0.03],
  [-0.13, 0],
  [-0.12, 0],
] as const

function learnShades(samples: readonly Sample[], limbs: readonly Limb[]): Map<Limb, Shade> {
  const shades = new Map<Limb, Shade>()
  const onLimbs = samples.filter(({ limb }) => limb !== null)
  const common = fit(onLimbs, DEFAULT)
  for (const limb of limbs) {
    const own = onLimbs.filter((sample) => sample.limb === limb)
    shades.set(limb, fit(own, common))
  }
  return shades
}

/** Ridge regression of lightness around the expected factors, by coordinate descent on the sums of products. */
function fit(samples: readonly Sample[], expected: Shade): Shade {
  const shade: Shade = [...expected]
  if (samples.length < MIN_LIMB_SAMPLES) return shade
  // Of the features with each other, of each with lightness, and of each with 1.
  const products = [0, 1, 2, 3].map(() => new Float64Array(4))
  const withL = new Float64Array(4)
  const sums = new Float64Array(4)
  let sumL = 0
  for (const { limb, across, L } of samples) {
    const f = featuresOf(limb!, across)
    sumL += L
    for (let c = 0; c < 4; c++) {
      withL[c]! += L * f[c]!
      sums[c]! += f[c]!
      for (let k = 0; k < 4; k++) products[c]![k]! += f[c]! * f[k]!
    }
  }
  for (let round = 0; round < ROUNDS; round++) {
    const base = (sumL - dot(shade, sums)) / samples.length
    for (let c = 0; c < 4; c++) {
      const square = products[c]![c]!
      const rest = withL[c]! - base * sums[c]! - dot(shade, products[c]!) + shade[c]! * square
      shade[c] = (TRUST * MEAN_SQUARE * expected[c]! + rest) / (TRUST * MEAN_SQUARE + square)
    }
  }
  return RANGES.map(([least, most], c) => clamp(shade[c]!, least, most)) as Shade
}

function featuresOf({ inner }: Limb, u: number): Shade {
  const u2 = u * u
  return [u, u * inner, u2, u2 * u2 * u2]
}

const dot = (shade: Shade, f: ArrayLike<number>) =>
  shade[0] * f[0]! + shade[1] * f[1]! + shade[2] * f[2]! + shade[3] * f[3]!

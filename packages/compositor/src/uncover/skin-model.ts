// How the person's skin looks in this light: its tone, and how it darkens across a limb.
import { labOf, type LabColour } from '../oklab.ts'
import { clamp } from '../raster.ts'
import { placeIn, type Limb } from './limbs.ts'
import type { Small } from './small.ts'

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

const MIN_SAMPLES = 40
const MAX_SAMPLES = 6000

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
  const tone = quantile(
    samples.map(({ L }) => L),
    0.55,
  )
  const a = lineOf(samples.map(({ L, a }) => [L, a]))
  const b = lineOf(samples.map(({ L, b }) => [L, b]))
  const low = quantile(
    samples.map(({ L }) => L),
    0.03,
  )
  const high = quantile(
    samples.map(({ L }) => L),
    0.98,
  )
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
      if (L < low - 0.16 || L > high + 0.08) return false
      return Math.hypot(colourA - a(L), colourB - b(L)) < tolerance
    },
  }
}

function collect(small: Small, usable: (at: number) => boolean, limbs: readonly Limb[]): Sample[] {
  const { width, height, rgb } = small
  const places: number[] = []
  for (let at = 0; at < width * height; at++) if (usable(at)) places.push(at)
  const step = Math.max(1, Math.ceil(places.length / MAX_SAMPLES))
  const samples: Sample[] = []
  for (let i = 0; i < places.length; i += step) {
    const at = places[i]!
    const [L, a, b] = labOf(
      Math.round(rgb[0][at]!),
      Math.round(rgb[1][at]!),
      Math.round(rgb[2][at]!),
    )
    let limb: Limb | null = null
    let across = 0
    for (const candidate of limbs) {
      const place = placeIn(candidate, (at % width) + 0.5, Math.floor(at / width) + 0.5)
      if (!place || place.inside < 0 || place.at > 1.9 || place.at < 0.2) continue
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
  const middle = (of: (sample: Sample) => number) => quantile(samples.map(of), 0.5)
  const L = middle((sample) => sample.L)
  const a = middle((sample) => sample.a)
  const b = middle((sample) => sample.b)
  return samples.filter(
    (sample) => Math.abs(sample.L - L) < 0.22 && Math.hypot(sample.a - a, sample.b - b) < 0.05,
  )
}

export function quantile(values: number[], share: number): number {
  if (values.length === 0) return 0
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
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
  const slope = xy / (xx + pairs.length * 2e-4)
  return (at) => y + slope * (at - x)
}

/** The factors of u, of u towards the body, of u² and of u⁶. */
type Shade = [slope: number, inner: number, bulge: number, rim: number]
/** Means over photographs in studio light. Towards the body arms are darker. */
const DEFAULT: Shade = [0, -0.03, -0.055, -0.045]
/** How many samples weigh as much as the expectation. */
const TRUST = 60

function learnShades(samples: readonly Sample[], limbs: readonly Limb[]): Map<Limb, Shade> {
  const shades = new Map<Limb, Shade>()
  const onLimbs = samples.filter(({ limb }) => limb !== null)
  const common = fit(onLimbs, DEFAULT)
  for (const limb of limbs) {
    shades.set(
      limb,
      fit(
        onLimbs.filter((sample) => sample.limb === limb),
        common,
      ),
    )
  }
  return shades
}

/** Ridge regression of lightness around the expected factors, by coordinate descent. */
function fit(samples: readonly Sample[], expected: Shade): Shade {
  const shade: Shade = [...expected]
  if (samples.length < 20) return shade
  const features = samples.map(({ limb, across }) => featuresOf(limb!, across))
  for (let round = 0; round < 40; round++) {
    let base = 0
    for (const [i, f] of features.entries()) base += samples[i]!.L - dot(shade, f)
    base /= samples.length
    for (let c = 0; c < 4; c++) {
      let over = TRUST * 0.3 * expected[c]!
      let under = TRUST * 0.3
      for (const [i, f] of features.entries()) {
        over += f[c]! * (samples[i]!.L - base - dot(shade, f) + shade[c]! * f[c]!)
        under += f[c]! * f[c]!
      }
      shade[c] = over / under
    }
  }
  return [
    clamp(shade[0], -0.1, 0.1),
    clamp(shade[1], -0.1, 0.03),
    clamp(shade[2], -0.13, 0),
    clamp(shade[3], -0.12, 0),
  ]
}

function featuresOf({ inner }: Limb, u: number): Shade {
  const u2 = u * u
  return [u, u * inner, u2, u2 * u2 * u2]
}

const dot = (shade: Shade, f: Shade) =>
  shade[0] * f[0] + shade[1] * f[1] + shade[2] * f[2] + shade[3] * f[3]

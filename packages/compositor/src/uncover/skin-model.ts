// How the person's skin looks in this light: its tone, and how it darkens across a limb.
import type { LabColour } from '../oklab.ts'
import { median, percentile } from '../plane.ts'
import { clamp, pixelsWhere } from '../raster.ts'
import type { Limb } from './limbs.ts'
import { labAt, type Small } from './small.ts'

export interface SkinModel {
  /** The usual lightness. */
  tone: number
  /** Oklab a and b at a lightness. */
  chroma(lightness: number): [number, number]
  /** Whether the colour could be skin of this person, also in shadow or light. */
  isLike(colour: LabColour, tolerance: number): boolean
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
/** How far from the median of lightness, and of a and b, samples are skin. */
const OUTLIER = { lightness: 0.22, hue: 0.05 }
/** Draws the slope of a line to the mean: a variance of the lightness. */
const SLOPE_PRIOR = 2e-4

/** Skin that is so much darker than the face lies in shade: of 56 people seven, by 0.12 and more; the others by 0.108 at most. */
const SHADED = 0.11

/**
 * Learns from the pixels of `usable`, with the face when there are too few, or from the face alone when they lie in shade.
 *
 * @returns null when no skin is visible
 */
export function learnSkin(
  small: Small,
  usable: (at: number) => boolean,
  isFace: (at: number) => boolean,
): SkinModel | null {
  const skin = collect(small, usable)
  const face = collect(small, isFace)
  const isShaded = usualLightness(skin) < usualLightness(face) - SHADED
  const isEnough = skin.length >= 4 * MIN_SAMPLES
  const samples = withoutOutliers(isShaded ? face : isEnough ? skin : [...skin, ...face])
  if (samples.length < MIN_SAMPLES) return null
  const lightness = samples.map(([L]) => L)
  const tone = usualLightness(samples)
  const [low, high] = [percentile(lightness, DARKEST), percentile(lightness, LIGHTEST)]
  const a = lineOf(samples.map(([L, a]) => [L, a]))
  const b = lineOf(samples.map(([L, , b]) => [L, b]))
  return {
    tone,
    chroma(lightness) {
      const L = clamp(lightness, low, high)
      return [a(L), b(L)]
    },
    isLike([L, colourA, colourB], tolerance) {
      if (L < low - SHADOW || L > high + HIGHLIGHT) return false
      return Math.hypot(colourA - a(L), colourB - b(L)) < tolerance
    },
  }
}

const usualLightness = (samples: readonly LabColour[]) =>
  percentile(
    samples.map(([L]) => L),
    TONE,
  )

function collect(small: Small, usable: (at: number) => boolean): LabColour[] {
  const places = pixelsWhere(small.width * small.height, usable)
  const step = Math.max(1, Math.ceil(places.length / MAX_SAMPLES))
  return places.filter((_, i) => i % step === 0).map((at) => labAt(small, at))
}

/** Leaves out lips, nails, jewellery and what is not skin. */
function withoutOutliers(samples: readonly LabColour[]): LabColour[] {
  if (samples.length === 0) return []
  const [L, a, b] = [0, 1, 2].map((c) => median(samples.map((sample) => sample[c]!)))
  return samples.filter(
    (sample) =>
      Math.abs(sample[0] - L!) < OUTLIER.lightness &&
      Math.hypot(sample[1] - a!, sample[2] - b!) < OUTLIER.hue,
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

/**
 * Means over photographs in studio light, at the edges of a limb: towards the body it is darker, and it is round. Bare legs
 * are darker than hands and face: of 67 people half by 0.03 to 0.11.
 */
const SHADE = { inner: -0.03, bulge: -0.055, rim: -0.045, leg: -0.055 }

/** Lightness relative to the person's tone; `across` from −1 to 1. */
export const limbShade = ({ kind, inner }: Limb, across: number) =>
  SHADE.inner * across * inner +
  SHADE.bulge * across ** 2 +
  SHADE.rim * across ** 6 +
  (kind === 'leg' ? SHADE.leg : 0)

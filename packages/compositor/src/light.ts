// The light on the person: shading and folds of the current clothing, carried over to the new cloth.
import type { Label, Parsing } from './parsing.ts'
import { createPlane, median, percentile, type Plane } from './plane.ts'
import type { Lab } from './oklab.ts'
import { clamp, pixelsWhere } from './raster.ts'
import { blur, blurWithin } from './smoothing.ts'

// Differences of Oklab's lightness, unless a line says otherwise; chosen by experiment on the development photographs.
/** The least area of clothing that shows the light, in squared body sizes. */
const LEAST_AREA = 0.2
/** How far a plain top is trusted: its spread of lightness, its lightness, and the share without a print. */
const SPREAD = { most: 1.6, unit: 0.09, low: 0.15, high: 0.85 }
const LIGHT = { from: 0.28, over: 0.2 }
const PLAIN = { from: 0.5, over: 0.2 }
/** The reaches of shading and of folds, in body sizes, and how much of them the new cloth takes over. */
const SHADING = { reach: 0.12, share: 0.7 }
const FOLDS = { reach: 0.012, share: 0.8 }
/** The least and the most of the factor. */
const FACTOR = { least: 0.62, most: 1.18 }
/** How far the colour of a pixel may be from the clothing's own, and the share of such pixels around it. */
const OWN_COLOUR = { lightness: 0.16, hue: 0.05, around: 0.8, reach: 2 }

/**
 * A factor for the lightness of the cloth at each pixel, about 1.
 * @param size the body's size in pixels
 */
export function shadeOf(lab: Lab, parsing: Parsing, label: Label, size: number): Plane {
  const { width, height, labels } = parsing
  const shade = createPlane(width, height)
  shade.data.fill(1)
  const inside = pixelsWhere(labels.length, (i) => labels[i] === label)
  if (inside.length < LEAST_AREA * size * size) return shade
  const values = inside.map((i) => lab.L[i]!)
  const usual = median(values)
  const weight = plainParts(lab, parsing, inside, usual)
  const plain = inside.filter((i) => weight.data[i] === 1).length / inside.length
  const spread = percentile(values, SPREAD.high) - percentile(values, SPREAD.low)
  // A patterned or very dark top shows its pattern, not the light.
  const trust =
    clamp(SPREAD.most - spread / SPREAD.unit, 0, 1) *
    clamp((usual - LIGHT.from) / LIGHT.over, 0, 1) *
    clamp((plain - PLAIN.from) / PLAIN.over, 0, 1)
  if (trust === 0) return shade
  const lightness = { width, height, data: lab.L }
  const low = blurWithin(lightness, weight, size * SHADING.reach)
  const fine = blurWithin(lightness, weight, Math.max(1, size * FOLDS.reach))
  for (let i = 0; i < labels.length; i++) {
    const base = low.data[i]!
    if (Number.isNaN(base)) continue
    const isSeen = weight.data[i]! > 0 && !Number.isNaN(fine.data[i]!)
    const folds = isSeen ? fine.data[i]! - base : 0
    const relative = (base / usual - 1) * SHADING.share + (folds / usual) * FOLDS.share
    shade.data[i] = clamp(1 + trust * relative, FACTOR.least, FACTOR.most)
  }
  return shade
}

/** 1 where the clothing has its own colour, 0 on prints, seams and buttons and close to them. */
function plainParts(
  lab: Lab,
  { width, height }: Parsing,
  inside: readonly number[],
  usual: number,
): Plane {
  const [a, b] = [median(inside.map((i) => lab.a[i]!)), median(inside.map((i) => lab.b[i]!))]
  const plain = createPlane(width, height)
  for (const i of inside) {
    const hue = Math.hypot(lab.a[i]! - a, lab.b[i]! - b)
    if (Math.abs(lab.L[i]! - usual) < OWN_COLOUR.lightness && hue < OWN_COLOUR.hue)
      plain.data[i] = 1
  }
  // The blurred edge of a print is a part of it.
  const around = blur(plain, OWN_COLOUR.reach)
  for (const i of inside) if (around.data[i]! < OWN_COLOUR.around) plain.data[i] = 0
  return plain
}

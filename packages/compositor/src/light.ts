// The light on the person: shading and folds of the current clothing, carried over to the new cloth.
import type { Label, Parsing } from './parsing.ts'
import { blur, blurWithin, createPlane, median, percentile, type Plane } from './plane.ts'
import type { Lab } from './oklab.ts'
import { clamp } from './raster.ts'

/**
 * A factor for the lightness of the cloth at each pixel, about 1.
 * @param size the body's size in pixels
 */
export function shadeOf(lab: Lab, parsing: Parsing, label: Label, size: number): Plane {
  const { width, height, labels } = parsing
  const shade = createPlane(width, height)
  shade.data.fill(1)
  const values: number[] = []
  for (let i = 0; i < labels.length; i++) if (labels[i] === label) values.push(lab.L[i]!)
  if (values.length < 0.2 * size * size) return shade
  const usual = median(values)
  const weight = plainParts(lab, parsing, label, usual)
  const plain = weight.data.reduce((sum, value) => sum + value, 0) / values.length
  const spread = percentile(values, 0.85) - percentile(values, 0.15)
  // A patterned or very dark top shows its pattern, not the light.
  const trust =
    clamp(1.6 - spread / 0.09, 0, 1) *
    clamp((usual - 0.18) / 0.2, 0, 1) *
    clamp((plain - 0.5) / 0.2, 0, 1)
  if (trust === 0) return shade
  const lightness = { width, height, data: lab.L }
  const low = blurWithin(lightness, weight, size * 0.12)
  const fine = blurWithin(lightness, weight, Math.max(1, size * 0.012))
  for (let i = 0; i < labels.length; i++) {
    const base = low.data[i]!
    if (Number.isNaN(base)) continue
    const isSeen = weight.data[i]! > 0 && !Number.isNaN(fine.data[i]!)
    const folds = isSeen ? fine.data[i]! - base : 0
    const relative = (base / usual - 1) * 0.7 + (folds / usual) * 0.8
    shade.data[i] = clamp(1 + trust * relative, 0.62, 1.18)
  }
  return shade
}

/** 1 where the clothing has its own colour, 0 on prints, seams and buttons and close to them. */
function plainParts(
  lab: Lab,
  { width, height, labels }: Parsing,
  label: Label,
  usual: number,
): Plane {
  const inside = Array.from(labels.keys()).filter((i) => labels[i] === label)
  const [a, b] = [median(inside.map((i) => lab.a[i]!)), median(inside.map((i) => lab.b[i]!))]
  const plain = createPlane(width, height)
  for (const i of inside) {
    const hue = Math.hypot(lab.a[i]! - a, lab.b[i]! - b)
    if (Math.abs(lab.L[i]! - usual) < 0.16 && hue < 0.05) plain.data[i] = 1
  }
  // The blurred edge of a print is a part of it.
  const around = blur(plain, 2)
  for (const i of inside) if (around.data[i]! < 0.8) plain.data[i] = 0
  return plain
}

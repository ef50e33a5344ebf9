// Pixels that most likely show a given thing, to learn its colours from.
import type { Lab } from '../oklab.ts'
import { median, type Plane } from '../plane.ts'
import type { Body } from './body.ts'
import type { Frame } from './frame.ts'

/** Skin of any shade: reddish to yellowish, never grey, blue or green. */
export function couldBeSkin(L: number, a: number, b: number): boolean {
  const chroma = Math.hypot(a, b)
  const hue = Math.atan2(b, a)
  return L > 0.12 && L < 0.97 && chroma > 0.018 && chroma < 0.17 && hue > 0.1 && hue < 1.5
}

/** The places, in ascending order, below `size` that pass the test. */
export const pixelsWhere = (size: number, test: (i: number) => boolean): number[] => {
  const pixels: number[] = []
  for (let i = 0; i < size; i++) if (test(i)) pixels.push(i)
  return pixels
}

/** The pixels whose colour is near the median of them all; `reach` in Oklab lightness, a third of it in tint. */
function nearMedian(lab: Lab, pixels: number[], reach: number): number[] {
  const L = median(pixels.map((i) => lab.L[i]!))
  const a = median(pixels.map((i) => lab.a[i]!))
  const b = median(pixels.map((i) => lab.b[i]!))
  return pixels.filter(
    (i) => Math.abs(lab.L[i]! - L) < reach && Math.hypot(lab.a[i]! - a, lab.b[i]! - b) < reach / 3,
  )
}

/** Pixels of bare skin: the face's, and those of neck, hands, arms and legs that look like it. */
export function skinSeeds(lab: Lab, person: Plane, frame: Frame, body: Body): number[] {
  const size = lab.L.length
  const sure = (i: number) => person.data[i]! > 0.8 && couldBeSkin(lab.L[i]!, lab.a[i]!, lab.b[i]!)
  const faceSize = Math.PI * body.head.halfWidth * body.head.halfHeight * 0.5
  const face = pixelsWhere(size, (i) => frame.face[i]! < 0.7 && sure(i))
  const limbs = pixelsWhere(
    size,
    (i) =>
      sure(i) &&
      ((frame.armDistance[i]! < 0.1 && frame.armAt[i]! > 1.2 && frame.armAt[i]! < 2.7) ||
        (frame.legDistance[i]! < 0.12 && frame.legAt[i]! > 1.1) ||
        isNeck(frame, i)),
  )
  const base =
    face.length > 0.4 * faceSize && face.length > 20
      ? face
      : [...face, ...limbs.filter((i) => frame.armAt[i]! > 1.9 || isNeck(frame, i))]
  if (base.length < 12) return base
  const core = nearMedian(lab, base, 0.2)
  const alike = limbs.filter(likeThose(lab, core))
  return [...core, ...alike]
}

const isNeck = (frame: Frame, i: number) =>
  frame.down[i]! < -0.02 &&
  frame.down[i]! > -0.3 &&
  Math.abs(frame.across[i]!) < 0.14 &&
  frame.face[i]! > 1

/** Whether a pixel has about the tint of the given ones; lightness may differ more, as on the shaded side. */
function likeThose(lab: Lab, pixels: number[]): (i: number) => boolean {
  const L = median(pixels.map((i) => lab.L[i]!))
  const a = median(pixels.map((i) => lab.a[i]!))
  const b = median(pixels.map((i) => lab.b[i]!))
  return (i) => Math.abs(lab.L[i]! - L) < 0.25 && Math.hypot(lab.a[i]! - a, lab.b[i]! - b) < 0.045
}

// Pixels that most likely show a given thing, to learn its colours from.
import type { Lab } from '../oklab.ts'
import { median, type Plane } from '../plane.ts'
import type { Body } from './body.ts'
import type { Frame } from './frame.ts'

/** Skin of any shade: reddish to yellowish, never grey, blue or green. */
function couldBeSkin(L: number, a: number, b: number): boolean {
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

/** Whether a pixel is within `light` and `tint`, in Oklab, of the median of the given ones. */
function likeThose(lab: Lab, pixels: number[], light: number, tint: number) {
  const [L, a, b] = [lab.L, lab.a, lab.b].map((channel) => median(pixels.map((i) => channel[i]!)))
  return (i: number) =>
    Math.abs(lab.L[i]! - L!) < light && Math.hypot(lab.a[i]! - a!, lab.b[i]! - b!) < tint
}

/** How far skin differs from its median in one photo, in Oklab; on the shaded side lightness differs more. */
const CORE = { light: 0.2, tint: 0.2 / 3 }
const SHADED = { light: 0.25, tint: 0.045 }
/** The share of the face that has to look like skin, and the least pixels of it, to learn from it alone. */
const SEEN_FACE = 0.4
const LEAST_FACE = 20
/** Fewer pixels than this have no median worth comparing with. */
const LEAST_BASE = 12

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
    face.length > SEEN_FACE * faceSize && face.length > LEAST_FACE
      ? face
      : [...face, ...limbs.filter((i) => frame.armAt[i]! > 1.9 || isNeck(frame, i))]
  if (base.length < LEAST_BASE) return base
  const core = base.filter(likeThose(lab, base, CORE.light, CORE.tint))
  const alike = limbs.filter(likeThose(lab, core, SHADED.light, SHADED.tint))
  return [...core, ...alike]
}

const isNeck = (frame: Frame, i: number) =>
  frame.down[i]! < -0.02 &&
  frame.down[i]! > -0.3 &&
  Math.abs(frame.across[i]!) < 0.14 &&
  frame.face[i]! > 1

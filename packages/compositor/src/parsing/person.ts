// The person mask, moved onto the edges of the photo. Needs no joints.
import { toLab, type Lab } from '../oklab.ts'
import { blur, createPlane, type Plane } from '../plane.ts'
import { clamp, type Raster } from '../raster.ts'
import { borderCosts } from './borders.ts'
import { improve, type Labelling } from './expansion.ts'
import { groundCosts, learnGround, openGround } from './ground.ts'
import { colourIndices } from './mixture.ts'

const STRENGTH = 3
const COLOUR = 0.5
/** What the colours of a person cost on the average. */
const USUAL = 1.5
/** How far the mask is trusted at most: less where the open ground seems to continue. */
const TRUST = 5
const OPEN_TRUST = 1.5
/** Below this the mask is believed. */
const NOBODY = 0.01
/** The reach of the soft edge in pixels, and the contrast in lightness that it follows. */
const SOFTNESS = 1
const CONTRAST = 0.02

/**
 * Refines a soft person mask from a coarse model to the edges of the picture, which should be
 * opaque and about 512 pixels long. The result is the share of each pixel that the person covers.
 */
export function refinePerson(picture: Raster, person: Plane): Plane {
  const { width, height } = picture
  const lab = toLab(picture)
  const ground = learnGround(lab, person)
  const labels = Uint8Array.from(person.data, (p) => (p > 0.5 ? 1 : 0))
  const labelling: Labelling = { width, height, labels }
  if (ground) {
    const all = Int32Array.from({ length: width * height }, (_, i) => i)
    const colour = groundCosts(ground, lab, colourIndices(lab, all), all)
    const open = openGround(colour, person)
    const pixels = all.filter((i) => person.data[i]! > NOBODY)
    const costs = new Float32Array(pixels.length * 2)
    for (const [k, i] of pixels.entries()) {
      const p = person.data[i]!
      const trust = open[i] ? OPEN_TRUST : TRUST
      const inside = clamp(Math.log((p + 0.003) / (1 - p + 0.003)), -TRUST, trust)
      costs[k * 2] = COLOUR * colour[i]! + Math.max(0, inside)
      costs[k * 2 + 1] = USUAL + Math.max(0, -inside)
    }
    improve(labelling, { count: 2, costs, borders: borderCosts(lab, STRENGTH) }, pixels, 1)
  }
  return softened(labelling, lab)
}

/** A guided filter (He, Sun, Tang 2010): the mask as a local linear function of lightness. */
function softened({ width, height, labels }: Labelling, lab: Lab): Plane {
  const plane = (data: Float32Array): Plane => ({ width, height, data })
  const mask = Float32Array.from(labels)
  const mean = blur(plane(lab.L), SOFTNESS).data
  const meanMask = blur(plane(mask), SOFTNESS).data
  const square = blur(plane(lab.L.map((L) => L * L)), SOFTNESS).data
  const product = blur(plane(lab.L.map((L, i) => L * mask[i]!)), SOFTNESS).data
  const slope = new Float32Array(mask.length)
  const offset = new Float32Array(mask.length)
  for (let i = 0; i < mask.length; i++) {
    const variance = Math.max(0, square[i]! - mean[i]! ** 2)
    slope[i] = (product[i]! - mean[i]! * meanMask[i]!) / (variance + CONTRAST ** 2)
    offset[i] = meanMask[i]! - slope[i]! * mean[i]!
  }
  const slopes = blur(plane(slope), SOFTNESS).data
  const offsets = blur(plane(offset), SOFTNESS).data
  const result = createPlane(width, height)
  for (let i = 0; i < mask.length; i++) {
    result.data[i] = clamp(slopes[i]! * lab.L[i]! + offsets[i]!, 0, 1)
  }
  return result
}

// The ground of a product photo: what each pixel would look like without the garment.
import { smoothBackdrop, type Backdrop } from './background.ts'
import type { Lab } from '../oklab.ts'
import { createPlane, percentile, resize } from '../plane.ts'
import { clamp } from '../raster.ts'
import { borderOf, distanceTo, type Mask } from './mask.ts'
import { blurWithin } from '../smoothing.ts'

export interface Ground extends Backdrop {
  /** The distance below which four of five ground pixels lie, measured at the border. */
  noise: number
  /** Whether one gradient describes the ground exactly. */
  exact: boolean
}

/** The noise of a ground that a gradient describes exactly. */
const EXACT = 0.003
/** Pixels around the cloth on which its shadow may fall, and cells around a place that correct it. */
const SHADOW = 8
const AROUND = 6
/** In Oklab. What differs more is not the ground. */
const MOST_CORRECTION = 0.05
/** Noise is measured in a ring of this share of the shorter side, as this percentile of the distances. */
const RING = 0.02
const BELOW_NOISE = 0.8
/**
 * Where this share of the ring has hardly any noise, and others this many times as much, cloth reaches into the ring: the noise
 * is so many times what that share has, as with a normal distribution.
 */
const TYPICAL = { share: 0.55, noise: 0.002, leap: 4, times: 1.7 }

/** The ground as a smooth gradient. */
export function groundOf(lab: Lab): Ground {
  const backdrop = smoothBackdrop(lab)
  const noise = noiseBesideCloth(lab, backdrop.distance)
  return { ...backdrop, noise, exact: noise < EXACT }
}

/**
 * The same, corrected in place by the local mean of the pixels outside the cloth; follows steps and falls
 * of light. Not for exact grounds: there, what differs is pale cloth.
 */
export function groundAround(ground: Ground, lab: Lab, cloth: Mask): Ground {
  const { width, height } = lab
  const { distance, chroma, darker, redder, yellower } = ground
  const depth = distanceTo(cloth, 1)
  const weight = createPlane(Math.ceil(width / CELL), Math.ceil(height / CELL))
  const centreOf = (cell: number) =>
    Math.min(height - 1, Math.floor(cell / weight.width) * CELL + 2) * width +
    Math.min(width - 1, (cell % weight.width) * CELL + 2)
  // Close to the cloth its shadow falls.
  const cells = weight.data.length
  for (let i = 0; i < cells; i++) if (depth[centreOf(i)]! > SHADOW) weight.data[i] = 1
  for (const values of [darker, redder, yellower]) {
    const small = createPlane(weight.width, weight.height)
    for (let i = 0; i < cells; i++) small.data[i] = values[centreOf(i)]!
    const local = resize(blurWithin(small, weight, AROUND), width, height)
    for (let i = 0; i < values.length; i++) {
      if (!Number.isNaN(local.data[i]!))
        values[i] = values[i]! - clamp(local.data[i]!, -MOST_CORRECTION, MOST_CORRECTION)
    }
  }
  for (let i = 0; i < distance.length; i++) {
    chroma[i] = Math.sqrt(redder[i]! * redder[i]! + yellower[i]! ** 2)
    distance[i] = Math.sqrt(chroma[i]! * chroma[i]! + darker[i]! ** 2)
  }
  return ground
}

/** The side of the cells whose colours are averaged. */
const CELL = 4

/** The noise at the border; where cloth reaches into the ring, that of the rest. */
function noiseBesideCloth(lab: Lab, distance: Float32Array): number {
  const values = ring(lab, distance)
  const [typical, noise] = [percentile(values, TYPICAL.share), percentile(values, BELOW_NOISE)]
  const hasCloth = typical < TYPICAL.noise && noise > Math.max(EXACT, TYPICAL.leap * typical)
  return hasCloth ? TYPICAL.times * typical : noise
}

/** The distances in the ring in which noise is measured. */
function ring(lab: Lab, distance: Float32Array): number[] {
  const depth = Math.max(1, Math.round(Math.min(lab.width, lab.height) * RING))
  return borderOf(lab, depth).map((i) => distance[i]!)
}

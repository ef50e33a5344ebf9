// The ground of a product photo: what each pixel would look like without the garment.
import { smoothBackdrop, type Backdrop } from './background.ts'
import type { Lab } from '../oklab.ts'
import { pause } from '../pause.ts'
import { createPlane, percentile, resize } from '../plane.ts'
import { clamp, lerp } from '../raster.ts'
import { borderOf, distanceTo, type Mask } from './mask.ts'
import { blurWithin } from '../smoothing.ts'

export interface Ground extends Backdrop {
  /** The distance below which four of five ground pixels lie, measured at the border. */
  noise: number
  /** Whether one gradient describes the ground so well that nothing else need be tried. */
  exact: boolean
}

/** The noise of a ground that a gradient describes exactly. */
const EXACT = 0.003
/** Pixels around the cloth on which its shadow may fall, and cells around a place that correct it. */
const SHADOW = 8
const AROUND = 6
/** In Oklab. What differs more is not the ground. */
const MOST_CORRECTION = 0.05
/** The depth of the rows' ends as a share of the width, and of the median over them as a share of the height. */
const END_DEPTH = 0.03
const END_REACH = 0.012
/** The noise of a ground of rows at the most, in Oklab, unless it is measured. By experiment. */
const ROW_NOISE = 0.005
/** Noise is measured in a ring of this share of the shorter side, as this percentile of the distances. */
const RING = 0.02
const BELOW_NOISE = 0.8
/**
 * Where this share of the ring has hardly any noise, and others this many times as much, cloth reaches into the ring: the noise
 * is so many times what that share has, as with a normal distribution.
 */
const TYPICAL = { share: 0.55, noise: 0.002, leap: 4, times: 1.7 }

/** The ground as a smooth gradient; where that is inexact, also as the rows' two ends continued. */
export async function groundOf(lab: Lab): Promise<Ground> {
  const { distance, chroma, darker, redder, yellower } = smoothBackdrop(lab)
  await pause()
  const noise = noiseBesideCloth(lab, distance)
  const exact = noise < EXACT
  const smooth = { distance, chroma, darker, redder, yellower, noise, exact }
  return exact ? smooth : closerToRows(smooth, lab)
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

/** The colours of one channel at the ends of each row. */
interface Ends {
  left: Float64Array
  right: Float64Array
}

/** Continues the rows from their ends where that is nearer; suits walls that meet floors. */
function closerToRows(ground: Ground, lab: Lab): Ground {
  const { width, height } = lab
  const depth = Math.max(1, Math.round(width * END_DEPTH))
  const ends = [lab.L, lab.a, lab.b].map((channel) => ({
    left: endOfRows(channel, width, height, 0, depth),
    right: endOfRows(channel, width, height, width - depth, depth),
  }))
  const [endL, endA, endB] = ends as [Ends, Ends, Ends]
  for (let i = 0; i < width * height; i++) {
    const y = Math.floor(i / width)
    const share = ((i % width) + 0.5) / width
    const L = lab.L[i]! - lerp(endL.left[y]!, endL.right[y]!, share)
    const a = lab.a[i]! - lerp(endA.left[y]!, endA.right[y]!, share)
    const b = lab.b[i]! - lerp(endB.left[y]!, endB.right[y]!, share)
    const chroma = a * a + b * b
    const distance = Math.sqrt(L * L + chroma)
    if (distance >= ground.distance[i]!) continue
    ground.distance[i] = distance
    ground.chroma[i] = Math.sqrt(chroma)
    ground.darker[i] = -L
    ground.redder[i] = a
    ground.yellower[i] = b
  }
  // Rows fit their own ends better than what lies between them.
  const noise = Math.max(noiseAt(lab, ground.distance), Math.min(ROW_NOISE, ground.noise * 0.6))
  return { ...ground, noise }
}

/** The mean colour at one end of each row, smoothed downwards by a median. */
function endOfRows(
  channel: Float32Array,
  width: number,
  height: number,
  left: number,
  depth: number,
): Float64Array {
  const means = new Float64Array(height)
  for (let y = 0; y < height; y++) {
    for (let d = 0; d < depth; d++) means[y] = means[y]! + channel[y * width + left + d]! / depth
  }
  const reach = Math.max(1, Math.round(height * END_REACH))
  return means.map((_, y) => percentile(means.subarray(Math.max(0, y - reach), y + reach + 1), 0.5))
}

function noiseAt(lab: Lab, distance: Float32Array): number {
  return percentile(ring(lab, distance), BELOW_NOISE)
}

/** The same; where cloth reaches into the ring, that of the rest. */
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

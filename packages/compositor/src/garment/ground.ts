// The ground of a product photo: what each pixel would look like without the garment.
import { smoothBackdrop, type Backdrop } from './background.ts'
import type { Lab } from '../oklab.ts'
import { blurWithin, createPlane, percentile, resize } from '../plane.ts'
import { clamp, lerp } from '../raster.ts'
import type { Mask } from './regions.ts'
import { distanceTo } from './distance.ts'

export interface Ground extends Backdrop {
  /** The distance below which four of five ground pixels lie, measured at the border. */
  noise: number
  /** Whether one gradient describes the ground so well that nothing else need be tried. */
  exact: boolean
}

/** The noise of a ground that a gradient describes exactly. */
const EXACT = 0.003

/** The ground as a smooth gradient; where that is inexact, also as the rows' two ends continued. */
export function groundOf(lab: Lab): Ground {
  const { distance, chroma, darker, redder, yellower } = smoothBackdrop(lab, { bottom: true })
  const noise = noiseAt(lab, distance)
  const exact = noise < EXACT
  const smooth = { distance, chroma, darker, redder, yellower, noise, exact }
  return exact ? smooth : closerToRows(smooth, lab)
}

/**
 * The same, corrected by the local mean of the pixels outside the cloth; follows steps and falls of
 * light. Not for exact grounds: there, what differs is pale cloth.
 */
export function groundAround(ground: Ground, lab: Lab, cloth: Mask): Ground {
  const { width, height } = lab
  const depth = distanceTo(cloth, 1)
  const weight = createPlane(Math.ceil(width / CELL), Math.ceil(height / CELL))
  for (let y = 0; y < weight.height; y++) {
    for (let x = 0; x < weight.width; x++) {
      // Close to the cloth its shadow falls.
      if (depth[cellCentre(x, y, width, height)]! > 8) weight.data[y * weight.width + x] = 1
    }
  }
  for (const values of [ground.darker, ground.redder, ground.yellower]) {
    const small = createPlane(weight.width, weight.height)
    for (let y = 0; y < small.height; y++) {
      for (let x = 0; x < small.width; x++) {
        small.data[y * small.width + x] = values[cellCentre(x, y, width, height)]!
      }
    }
    const local = resize(blurWithin(small, weight, 6), width, height)
    for (let i = 0; i < values.length; i++) {
      if (!Number.isNaN(local.data[i]!)) values[i] = values[i]! - clamp(local.data[i]!, -0.05, 0.05)
    }
  }
  return { ...ground, ...measured(ground), noise: ground.noise }
}

/** The side of the cells whose colours are averaged. */
const CELL = 4

const cellCentre = (x: number, y: number, width: number, height: number) =>
  Math.min(height - 1, y * CELL + 2) * width + Math.min(width - 1, x * CELL + 2)

function measured({ darker, redder, yellower }: Ground): Pick<Ground, 'distance' | 'chroma'> {
  const chroma = redder.map((a, i) => Math.hypot(a, yellower[i]!))
  return { chroma, distance: chroma.map((value, i) => Math.hypot(value, darker[i]!)) }
}

/** Continues the rows from their ends where that is nearer; suits walls that meet floors. */
function closerToRows(ground: Ground, lab: Lab): Ground {
  const { width, height } = lab
  const depth = Math.max(1, Math.round(width * 0.03))
  const ends = [lab.L, lab.a, lab.b].map((channel) => ({
    left: endOfRows(channel, width, height, 0, depth),
    right: endOfRows(channel, width, height, width - depth, depth),
  }))
  const off = [0, 0, 0]
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const share = (x + 0.5) / width
      for (const [c, channel] of [lab.L, lab.a, lab.b].entries()) {
        const end = ends[c]!
        off[c] = channel[i]! - lerp(end.left[y]!, end.right[y]!, share)
      }
      const [L, a, b] = off as [number, number, number]
      const distance = Math.hypot(L, a, b)
      if (distance >= ground.distance[i]!) continue
      ground.distance[i] = distance
      ground.chroma[i] = Math.hypot(a, b)
      ground.darker[i] = -L
      ground.redder[i] = a
      ground.yellower[i] = b
    }
  }
  // Rows fit their own ends better than what lies between them.
  const noise = Math.max(noiseAt(lab, ground.distance), Math.min(0.005, ground.noise * 0.6))
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
  const reach = Math.max(1, Math.round(height * 0.012))
  return means.map((_, y) => percentile(means.subarray(Math.max(0, y - reach), y + reach + 1), 0.5))
}

function noiseAt({ width, height }: Lab, distance: Float32Array): number {
  const depth = Math.max(1, Math.round(Math.min(width, height) * 0.02))
  const values: number[] = []
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const inside = x >= depth && x < width - depth && y >= depth && y < height - depth
      if (!inside) values.push(distance[y * width + x]!)
    }
  }
  return percentile(values, 0.8)
}

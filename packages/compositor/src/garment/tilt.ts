// Garments that lie or hang aslant in their photo.
import { pauseInRows } from '../pause.ts'
import { mean } from '../plane.ts'
import { clamp, type Point, type Raster } from '../raster.ts'
import { createWarpMap, render } from '../warp.ts'
import { isSet, type Mask } from './mask.ts'

/**
 * The angles that are tried, in degrees, and the least that counts; the least symmetry about the axis, and how much more it is
 * than about an upright one at least. Of some 760 product photos without a wearer 16 have such an axis; with a symmetry of 0.92
 * there are three more, of which one is a person and one is cut out with a part of the ground.
 */
const TILT = { most: 45, step: 1.5, least: 4, symmetry: 0.93, gain: 0.04 }
/** Less of the picture, as a share, is no garment. */
const LEAST = 0.04
/** The pixels from one to the next, across and down, of which the symmetry is measured. */
const STEP = 3
/** The ground around the garment, as a share of its longer side. */
const MARGIN = 0.05

/** By how many degrees, clockwise, a garment is turned from upright; 0 where it has no axis that is aslant. */
export function tiltOf(mask: Mask): number {
  const { points, centre } = clothOf(mask, 1)
  if (points.length * STEP ** 2 < LEAST * mask.data.length) return 0
  const symmetryAt = (degrees: number) => {
    const [cos, sin] = direction(degrees)
    const opposite = points.filter(({ x, y }) => {
      const off = 2 * ((x - centre.x) * cos + (y - centre.y) * sin)
      return isSet(mask, x - off * cos, y - off * sin)
    })
    return opposite.length / points.length
  }
  const least = Math.max(TILT.symmetry, symmetryAt(0) + TILT.gain)
  if (least >= 1) return 0
  let [best, most] = [0, least]
  for (let degrees = -TILT.most; degrees <= TILT.most; degrees += TILT.step) {
    const symmetry = symmetryAt(degrees)
    if (symmetry > most) [best, most] = [degrees, symmetry]
  }
  return Math.abs(best) < TILT.least ? 0 : best
}

/** The garment upright, with the ground around it; beyond the photo its border continues. */
export async function straighten(picture: Raster, mask: Mask, degrees: number): Promise<Raster> {
  const scale = picture.width / mask.width
  const { points, centre } = clothOf(mask, scale)
  const [cos, sin] = direction(degrees)
  const across = points.map(({ x, y }) => (x - centre.x) * cos + (y - centre.y) * sin)
  const down = points.map(({ x, y }) => (y - centre.y) * cos - (x - centre.x) * sin)
  const [left, top] = [leastOf(across), leastOf(down)]
  const [right, bottom] = [mostOf(across), mostOf(down)]
  const margin = Math.max(right - left, bottom - top) * MARGIN
  const map = createWarpMap(
    Math.ceil(right - left + 2 * margin),
    Math.ceil(bottom - top + 2 * margin),
  )
  for (let row = 0, at = 0; row < map.height; row++) {
    await pauseInRows(row, map)
    const v = top - margin + row + 0.5
    for (let column = 0; column < map.width; column++, at++) {
      const u = left - margin + column + 0.5
      map.x[at] = clamp(centre.x + u * cos - v * sin, 0.5, picture.width - 0.5)
      map.y[at] = clamp(centre.y + u * sin + v * cos, 0.5, picture.height - 0.5)
    }
  }
  return render(map, picture)
}

const direction = (degrees: number) => {
  const angle = (degrees * Math.PI) / 180
  return [Math.cos(angle), Math.sin(angle)] as const
}

const leastOf = (values: readonly number[]) => values.reduce((one, other) => Math.min(one, other))
const mostOf = (values: readonly number[]) => values.reduce((one, other) => Math.max(one, other))

/** Some pixels of the cloth and their centre, in a larger picture of the mask. */
function clothOf({ width, height, data }: Mask, scale: number) {
  const points: Point[] = []
  for (let y = 0; y < height; y += STEP) {
    for (let x = 0; x < width; x += STEP) {
      if (data[y * width + x] === 1) points.push({ x: (x + 0.5) * scale, y: (y + 0.5) * scale })
    }
  }
  const centre = { x: mean(points.map(({ x }) => x)), y: mean(points.map(({ y }) => y)) }
  return { points, centre }
}

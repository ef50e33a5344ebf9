// How much a warp distorts the cloth.
import { median } from '../plane.ts'
import type { WarpMap } from '../warp.ts'

/**
 * The distortion at samples of the warp: how many times larger or smaller than usual the cloth is drawn
 * in its worst direction. 1 is the usual size of this warp; 3 is three times too large or too small.
 * Places where the cloth jumps, as between two layers, are left out.
 *
 * @param step the distance of the samples in pixels
 */
export function stretchesOf({ width, height, x, y }: WarpMap, step: number): number[] {
  const found: { large: number; small: number }[] = []
  for (let row = 0; row + 1 < height; row += step) {
    for (let column = 0; column + 1 < width; column += step) {
      const at = row * width + column
      const [right, down] = [at + 1, at + width]
      const across = { x: x[right]! - x[at]!, y: y[right]! - y[at]! }
      const along = { x: x[down]! - x[at]!, y: y[down]! - y[at]! }
      const values = singularValues(across.x, along.x, across.y, along.y)
      if (Number.isFinite(values.large) && values.large < JUMP) found.push(values)
    }
  }
  const usual = median(found.map(({ large, small }) => Math.sqrt(large * small)))
  if (!(usual > 0)) return []
  return found.map(({ large, small }) => Math.min(MOST, Math.max(large / usual, usual / small)))
}

/** Pixels of the cloth for one pixel of the picture, beyond which neighbours lie on different pieces. */
const JUMP = 40
/** Beyond this distortion the numbers mean nothing more. */
const MOST = 100

function singularValues(a: number, b: number, c: number, d: number) {
  const sum = a * a + b * b + c * c + d * d
  const area = Math.abs(a * d - b * c)
  const root = Math.sqrt(Math.max(0, sum * sum - 4 * area * area))
  return { large: Math.sqrt((sum + root) / 2), small: Math.sqrt(Math.max(0, (sum - root) / 2)) }
}

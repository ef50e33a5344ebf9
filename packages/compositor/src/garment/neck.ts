// The neck points on the outline of a garment whose inner back has been cut away.
import type { Bounds } from './profile.ts'
import type { Point } from '../raster.ts'
import type { Way } from './contour.ts'

/** Indices in the outline of the two points where the neckline ends. */
export interface Necks {
  left: number
  right: number
}

/** The innermost of the highest points on both sides of the axis. */
export function necksOf(
  outline: readonly Point[],
  axis: number,
  half: number,
  bounds: Bounds,
): Necks {
  const left = peakOf(outline, axis, half, bounds, -1)
  const right = peakOf(outline, axis, half, bounds, 1)
  return { left, right }
}

function peakOf(
  outline: readonly Point[],
  axis: number,
  half: number,
  bounds: Bounds,
  way: Way,
): number {
  const limit = bounds.top + (bounds.bottom - bounds.top) * 0.5
  let best = 0
  let most = -Infinity
  for (let i = 0; i < outline.length; i++) {
    const point = outline[i]!
    const out = (way * (point.x - axis)) / half
    if (out < 0.14 || out > 1 || point.y > limit) continue
    // Height decides; of equally high points the inner one.
    const score = -point.y - 0.12 * out * half
    if (score > most) {
      most = score
      best = i
    }
  }
  return best
}

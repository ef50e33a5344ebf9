// The garment's body read row by row: the run of cloth that contains the axis of symmetry.
import { percentile } from '../plane.ts'
import {
  boundsOf,
  isSet,
  maskWhere,
  rowAt,
  runsOf,
  type Bounds,
  type Mask,
  type Run,
} from './mask.ts'
import type { Way } from './contour.ts'

export interface BodyRows {
  bounds: Bounds
  /** The column of symmetry. */
  axis: number
  /** For each row of the mask the edges of the run at the axis; NaN where there is none. */
  left: Float64Array
  right: Float64Array
  /** For each row the outermost edges of all cloth; NaN where there is none. */
  farLeft: Float64Array
  farRight: Float64Array
  /** The edges of the gap at the axis, as between legs or between sleeves below the hem. */
  gapLeft: Float64Array
  gapRight: Float64Array
}

/** @returns null for an empty mask */
export function bodyRowsOf(mask: Mask): BodyRows | null {
  const bounds = boundsOf(mask)
  if (!bounds) return null
  const axis = axisOf(mask, bounds)
  const empty = () => new Float64Array(mask.height).fill(NaN)
  const rows: BodyRows = {
    bounds,
    axis,
    left: empty(),
    right: empty(),
    farLeft: empty(),
    farRight: empty(),
    gapLeft: empty(),
    gapRight: empty(),
  }
  const gap = (bounds.right - bounds.left) * 0.06
  for (let y = bounds.top; y < bounds.bottom; y++) {
    const runs = runsOf(mask, y, 2)
    if (runs.length === 0) continue
    rows.farLeft[y] = runs[0]!.left
    rows.farRight[y] = runs[runs.length - 1]!.right
    const body = bodyOf(runs, axis, gap)
    if (!body) {
      const after = runs.findIndex((run) => run.left > axis)
      if (after < 1) continue
      rows.gapLeft[y] = runs[after - 1]!.right
      rows.gapRight[y] = runs[after]!.left
      continue
    }
    rows.left[y] = body.left
    rows.right[y] = body.right
  }
  return rows
}

/** The run at the axis, or the two beside it when the gap between them is small, as in an open front. */
function bodyOf(runs: readonly Run[], axis: number, gap: number): Run | null {
  const at = runs.findIndex((run) => run.right > axis)
  const after = runs[at]
  if (!after) return null
  if (after.left <= axis) return after
  const before = runs[at - 1]
  return before && after.left - before.right < gap
    ? { left: before.left, right: after.right }
    : null
}

/** How far the body's edge is from the axis on one side; NaN where there is no body. */
export const reachOf = (rows: BodyRows, y: number, way: Way): number =>
  way < 0 ? rows.axis - (rows.left[y] ?? NaN) : (rows.right[y] ?? NaN) - rows.axis

/** How wide a row is from its outermost cloth on the left to that on the right; NaN where there is none. */
export const extentOf = ({ farLeft, farRight }: BodyRows, y: number): number =>
  farRight[y]! - farLeft[y]!

/** The same as `extentOf` of the row at a share of the garment's height, from above. */
export const extentAtShare = (rows: BodyRows, share: number): number =>
  extentOf(rows, rowAt(rows.bounds, share))

/** How far the outermost cloth of a row is from the axis on one side; NaN where there is none. */
export const farReachOf = ({ axis, farLeft, farRight }: BodyRows, y: number, way: Way): number =>
  way < 0 ? axis - farLeft[y]! : farRight[y]! - axis

/** How wide the cloth of a row is on one side of the gap at the axis; Infinity where there is no gap. */
export function widthBesideGap(
  { farLeft, farRight, gapLeft, gapRight }: BodyRows,
  y: number,
  way: Way,
): number {
  const width = way < 0 ? gapLeft[y]! - farLeft[y]! : farRight[y]! - gapRight[y]!
  return Number.isNaN(width) ? Infinity : width
}

/** The median of the rows' centres, weighted by their width: long rows are the more telling ones. */
function axisOf(mask: Mask, bounds: Bounds): number {
  const weights = new Float64Array(mask.width * 2 + 2)
  let total = 0
  for (let y = bounds.top; y < bounds.bottom; y++) {
    const runs = runsOf(mask, y, 2)
    if (runs.length === 0) continue
    const left = runs[0]!.left
    const right = runs[runs.length - 1]!.right
    weights[left + right] = weights[left + right]! + right - left
    total += right - left
  }
  let sum = 0
  for (let i = 0; i < weights.length; i++) {
    sum += weights[i]!
    if (sum >= total / 2) return i / 2
  }
  return (bounds.left + bounds.right) / 2
}

/** The cloth that lies opposite to cloth, across the axis of symmetry. */
export const evenPartOf = (mask: Mask, rows: BodyRows): Mask =>
  maskWhere(mask, (i) => mask.data[i] === 1 && isOpposite(mask, rows, i))

/** The cloth, and what lies opposite to it. */
export const withMirrored = (mask: Mask, rows: BodyRows): Mask =>
  maskWhere(mask, (i) => mask.data[i] === 1 || isOpposite(mask, rows, i))

/** Whether a pixel lies opposite to cloth. */
const isOpposite = (mask: Mask, { axis }: BodyRows, i: number): boolean =>
  isSet(mask, Math.round(2 * axis) - 1 - (i % mask.width), Math.floor(i / mask.width))

/** Below the collar and above the hem, in shares of the height. */
const BODY = { from: 0.2, to: 0.95 }

/** How much wider the widest row of the body with its sleeves is than the narrowest one, as a share. */
export function taperOf({ bounds, farLeft, farRight }: BodyRows): number {
  const first = rowAt(bounds, BODY.from)
  const widths = farRight
    .subarray(first, rowAt(bounds, BODY.to))
    .map((right, i) => right - farLeft[first + i]!)
    .filter((width) => !Number.isNaN(width))
  return Math.max(...widths) / Math.min(...widths) - 1
}

/** Half the typical width of the upper body. */
export function chestHalf({ bounds, left, right }: BodyRows): number {
  const height = bounds.bottom - bounds.top
  const widths: number[] = []
  for (let y = Math.round(bounds.top + height * 0.3); y < bounds.top + height * 0.7; y++) {
    const width = right[y]! - left[y]!
    if (width > 0) widths.push(width)
  }
  return percentile(widths, 0.3) / 2
}

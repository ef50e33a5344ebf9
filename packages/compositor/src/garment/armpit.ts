// Where the sleeve and the side meet, or where the armhole of a sleeveless garment ends.
import { distance } from '../lines.ts'
import { median } from '../plane.ts'
import type { Point } from '../raster.ts'
import { chestHalf, reachOf, type BodyRows } from './body-rows.ts'
import { turnOn, type Way } from './contour.ts'

export interface Armpit extends Point {
  /** The index in the outline where sleeve and body come apart, at or below the armpit. */
  at: number
  sleeved: boolean
}

/** @returns null when there is no body on this side */
export function armpitOf(outline: readonly Point[], rows: BodyRows, way: Way): Armpit | null {
  const jump = jumpOf(rows, way)
  if (jump !== null) {
    return sleeved(outline, rows, { x: rows.axis + way * reachOf(rows, jump, way), y: jump }, way)
  }
  const corner = hangingOf(rows, way)
  return corner ? sleeved(outline, rows, corner, way) : holeEnd(outline, rows, way)
}

/** Whether sleeves stand out on both sides of the upper part. */
export function hasSleeves(rows: BodyRows): boolean {
  const { top, bottom } = rows.bounds
  const lowest = top + (bottom - top) * 0.65
  return ([-1, 1] as const).every((way) => (jumpOf(rows, way) ?? Infinity) < lowest)
}

/** The row, searched from the hem upwards, above which the body's edge leaps outwards. */
function jumpOf(rows: BodyRows, way: Way): number | null {
  const { bounds } = rows
  const height = bounds.bottom - bounds.top
  const step = Math.max(2, Math.round(height * 0.022))
  const half = chestHalf(rows)
  // Higher up there are only collars and straps.
  const highest = bounds.top + Math.max(step, half * 0.3)
  let upright = 0
  let widest = 0
  for (let y = bounds.bottom - 1; y > highest; y--) {
    const here = reachOf(rows, y, way)
    const above = reachOf(rows, y - step, way)
    if (Number.isNaN(here) || Number.isNaN(above)) continue
    widest = Math.max(widest, here)
    const growth = above - here
    if (Math.abs(growth) < step * 0.7) upright++
    const leap = Math.max(step * 1.3, widest * 0.07)
    // A rounded hem also grows upwards, but nothing below it is upright.
    if (growth > leap && upright > height * 0.06 && here > half * 0.42) return y
  }
  return null
}

/**
 * Where a wide sleeve that covers the body's side leaves it: at the hem, below which only the sleeves
 * hang. Null when nothing hangs there on both sides.
 */
function hangingOf(rows: BodyRows, way: Way): Point | null {
  const { bounds, gapLeft, gapRight, axis } = rows
  const height = bounds.bottom - bounds.top
  let hem = bounds.bottom - 1
  while (hem > bounds.top && Number.isNaN(rows.left[hem]!)) hem--
  if (bounds.bottom - hem < height * 0.03 || hem < bounds.top + height * 0.4) return null
  // The median, because an uneven hem has pieces below its last full row.
  const gaps = (edges: Float64Array) =>
    median(edges.subarray(hem, bounds.bottom).filter((x) => !Number.isNaN(x)))
  const left = axis - gaps(gapLeft)
  const right = gaps(gapRight) - axis
  const full = (rows.farRight[hem]! - rows.farLeft[hem]!) / 2
  if (!(Math.min(left, right) > full * 0.4 && Math.max(left, right) < full * 0.92)) return null
  return { x: axis + way * (way < 0 ? left : right), y: hem }
}

function sleeved(outline: readonly Point[], rows: BodyRows, corner: Point, way: Way): Armpit {
  const { bounds, axis } = rows
  const height = bounds.bottom - bounds.top
  const at = innermost(outline, corner, height * 0.04, axis, way)
  const apex = outline[at]!
  const half = Math.abs(apex.x - axis)
  // A sleeve that hangs close to the body hides the armpit: its gap begins far below.
  const lowest = shoulderTop(rows, axis + way * half * 0.9) + half * 1.05
  return apex.y <= lowest
    ? { x: apex.x, y: apex.y, at, sleeved: true }
    : { x: apex.x, y: lowest, at, sleeved: true }
}

/** The outline's point within the radius that reaches deepest into the notch: inwards and upwards. */
function innermost(
  outline: readonly Point[],
  corner: Point,
  radius: number,
  axis: number,
  way: Way,
): number {
  let best = 0
  let most = -Infinity
  for (let i = 0; i < outline.length; i++) {
    const point = outline[i]!
    const off = distance(point, corner)
    const score = off <= radius ? -way * (point.x - axis) - point.y : -1e6 - off
    if (score > most) {
      most = score
      best = i
    }
  }
  return best
}

/** The first row with cloth at or outside of column x. */
function shoulderTop(rows: BodyRows, x: number): number {
  const { bounds } = rows
  for (let y = bounds.top; y < bounds.bottom; y++) {
    if (rows.farLeft[y]! <= x && rows.farRight[y]! >= x) return y
  }
  return bounds.top
}

/** Where armholes usually end: this many half widths below the shoulders. */
const USUAL_DEPTH = 0.85

/** The armhole's lower end: an outer corner of the outline at the usual depth below the shoulder. */
function holeEnd(outline: readonly Point[], rows: BodyRows, way: Way): Armpit | null {
  const { bounds, axis } = rows
  const half = chestHalf(rows)
  const reach = Math.max(3, Math.round(half * 0.16))
  let best = -1
  let most = -Infinity
  for (let i = 0; i < outline.length; i++) {
    const point = outline[i]!
    const out = (way * (point.x - axis)) / half
    const depth = (point.y - bounds.top) / half
    if (out <= 0.4 || depth < 0.35 || depth > 1.9) continue
    const turn = turnOn(outline, i, reach) * way
    const score = out + 0.5 * Math.max(0, turn) - ((depth - USUAL_DEPTH) / 0.7) ** 2
    if (score > most) {
      most = score
      best = i
    }
  }
  if (best < 0) return null
  return { x: outline[best]!.x, y: outline[best]!.y, at: best, sleeved: false }
}

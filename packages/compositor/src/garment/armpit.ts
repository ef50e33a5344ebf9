// Where the sleeve and the side meet, or where the armhole of a sleeveless garment ends.
import { distance } from '../lines.ts'
import type { Point } from '../raster.ts'
import { chestHalf, farReachOf, reachOf, widthBesideGap, type BodyRows } from './body-rows.ts'
import { bestIndex, turnOn, type Way } from './contour.ts'

export interface Armpit extends Point {
  /** The index in the outline where sleeve and body come apart, at or below the armpit. */
  at: number
  sleeved: boolean
}

/**
 * A leap of the body's edge from one step to the next above it. The step and the length of the upright
 * edge below are shares of the garment's height; the rest is counted in steps, in the greatest reach
 * below, and in half widths of the chest. By experiment on product photos.
 */
const LEAP = {
  step: 0.022,
  /** Above this depth there are only collars and straps. */
  highest: 0.3,
  /** The growth of an edge that still is upright, in steps. */
  upright: 0.7,
  /** A rounded hem also grows upwards, but nothing below it is upright. */
  uprightLength: 0.06,
  leastSteps: 1.3,
  leastReach: 0.07,
  /** The body reaches at least so far from the axis, and what stands out above it so far: collars and hangers do not. */
  body: 0.42,
  sleeve: 0.8,
}

/** Where the body's edge, searched from the hem upwards, leaps outwards; null where it does not. */
export function leapOf(rows: BodyRows, way: Way): Point | null {
  const { bounds } = rows
  const height = bounds.bottom - bounds.top
  const step = Math.max(2, Math.round(height * LEAP.step))
  const half = chestHalf(rows)
  const highest = bounds.top + Math.max(step, half * LEAP.highest)
  let upright = 0
  let widest = 0
  for (let y = bounds.bottom - 1; y > highest; y--) {
    const here = reachOf(rows, y, way)
    const above = reachOf(rows, y - step, way)
    // Above the end of a deep neck opening all cloth is the body's.
    const growth = (Number.isNaN(above) ? farReachOf(rows, y - step, way) : above) - here
    if (Number.isNaN(growth)) continue
    widest = Math.max(widest, here)
    if (Math.abs(growth) < step * LEAP.upright) upright++
    const leaps = growth > Math.max(step * LEAP.leastSteps, widest * LEAP.leastReach)
    // The leg of a bodysuit also widens upwards, but the sleeve beside it is still apart.
    if (besideBody(rows, y - step, way) > FRINGE) continue
    const isUpright = upright > height * LEAP.uprightLength
    const isSleeve = here > half * LEAP.body && here + growth > half * LEAP.sleeve
    if (leaps && isUpright && isSleeve) return { x: rows.axis + way * here, y }
  }
  return null
}

/** How far a row has cloth beside the body on one side; NaN where there is no body. */
const besideBody = ({ left, right, farLeft, farRight }: BodyRows, y: number, way: Way): number =>
  way < 0 ? left[y]! - farLeft[y]! : farRight[y]! - right[y]!

/** The fringe of the cloth in pixels of the analysed picture. */
const FRINGE = 2

/** The radius, as a share of the garment's height, in which the notch of an armpit is looked for. */
const NOTCH = 0.04
/** The lowest armpit, in half widths of the chest below the shoulder. */
export const LOWEST_ARMPIT = 1.05

/** @param corner about where a sleeve leaves the body; null for no sleeve */
export function armpitOf(
  outline: readonly Point[],
  rows: BodyRows,
  corner: Point | null,
  way: Way,
): Armpit | null {
  if (!corner) return holeEnd(outline, rows, way)
  const { bounds, axis } = rows
  const radius = (bounds.bottom - bounds.top) * NOTCH
  const at = innermost(outline, corner, radius, axis, way)
  const { x, y } = distance(outline[at]!, corner) <= radius ? outline[at]! : corner
  const half = Math.abs(x - axis)
  // A sleeve that hangs close to the body hides the armpit: its gap begins far below.
  const lowest = shoulderTop(rows, axis + way * half * 0.9) + half * LOWEST_ARMPIT
  return { x, y: Math.min(y, lowest), at, sleeved: true }
}

/** The outline's point within the radius that reaches deepest into the notch: inwards and upwards. */
const innermost = (
  outline: readonly Point[],
  corner: Point,
  radius: number,
  axis: number,
  way: Way,
): number =>
  bestIndex(outline, (point) => {
    const off = distance(point, corner)
    return off <= radius ? -way * (point.x - axis) - point.y : FAR - off
  })

/** Makes every point outside the radius worse than those within, and the nearest the best of them. */
const FAR = -1e6

/** The first row with cloth at or outside of column x. */
function shoulderTop(rows: BodyRows, x: number): number {
  const { bounds } = rows
  for (let y = bounds.top; y < bounds.bottom; y++) {
    if (rows.farLeft[y]! <= x && rows.farRight[y]! >= x) return y
  }
  return bounds.top
}

/** Where necks are, in half widths of the chest from the axis, and in the garment's height. By experiment. */
const NECK = { inner: 0.14, outer: 1, lowest: 0.5 }
/** Height decides on the neck point; of equally high points the inner one. */
const INNER = 0.12

/** The index of the point where the neckline ends, on an outline without the inner back. */
export function neckOf(
  outline: readonly Point[],
  { axis, bounds }: BodyRows,
  half: number,
  way: Way,
): number {
  const lowest = bounds.top + (bounds.bottom - bounds.top) * NECK.lowest
  const best = bestIndex(outline, ({ x, y }) => {
    const out = (way * (x - axis)) / half
    if (out < NECK.inner || out > NECK.outer || y > lowest) return -Infinity
    return -y - INNER * out * half
  })
  return Math.max(0, best)
}

/**
 * Where armholes end, in half widths of the chest: at least `out` from the axis, and between the highest
 * and the lowest depth below the shoulders, where a difference of `spread` from the usual depth costs as
 * much as one half width. A corner is a turn over `reach`, which counts as `corner`. The way to them from the
 * neck falls more steeply than `slope`: shoulders are flatter. Cloth narrower than `strap` has no armhole, and below it
 * the spread is `ofStraps` times as large. By experiment.
 */
const HOLE = {
  out: 0.4,
  highest: 0.35,
  usual: 0.85,
  lowest: 1.9,
  spread: 0.7,
  reach: 0.16,
  corner: 0.5,
  slope: 1.3,
  strap: 0.2,
  ofStraps: 2,
}

/** The armhole's lower end: an outer corner of the outline at the usual depth below the shoulder. */
function holeEnd(outline: readonly Point[], rows: BodyRows, way: Way): Armpit | null {
  const { bounds, axis } = rows
  const half = chestHalf(rows)
  const reach = Math.max(3, Math.round(half * HOLE.reach))
  const neck = outline[neckOf(outline, rows, half, way)]!
  const isStrap = (y: number) => widthBesideGap(rows, Math.round(y), way) < HOLE.strap * half
  // Straps are longer or shorter than shoulders are high.
  const spread = HOLE.spread * (isStrap(bounds.top + HOLE.highest * half) ? HOLE.ofStraps : 1)
  const best = bestIndex(outline, (point, i) => {
    const out = (way * (point.x - axis)) / half
    const depth = (point.y - bounds.top) / half
    if (out <= HOLE.out || depth < HOLE.highest || depth > HOLE.lowest) return -Infinity
    if (point.y - neck.y < HOLE.slope * way * (point.x - neck.x)) return -Infinity
    if (isStrap(point.y)) return -Infinity
    const turn = turnOn(outline, i, reach)
    return out + HOLE.corner * Math.max(0, turn) - ((depth - HOLE.usual) / spread) ** 2
  })
  return best < 0 ? null : { x: outline[best]!.x, y: outline[best]!.y, at: best, sleeved: false }
}

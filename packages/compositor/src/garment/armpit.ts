// Where the sleeve and the side meet, or where the armhole of a sleeveless garment ends.
import { distance } from '../lines.ts'
import { median } from '../plane.ts'
import type { Point } from '../raster.ts'
import {
  chestHalf,
  extentOf,
  farReachOf,
  reachOf,
  widthBesideGap,
  type BodyRows,
} from './body-rows.ts'
import { bestIndex, turnOn, type Way } from './contour.ts'

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
  const atHem = besideHem(rows, way)
  if (atHem) return sleeved(outline, rows, atHem, way, atHem.half)
  const corner = hangingOf(rows, way)
  if (!corner) return holeEnd(outline, rows, way)
  return sleeved(outline, rows, corner, way, Math.abs(corner.x - rows.axis))
}

/** Sleeves part from the body above this share of the garment's height; lower down hems widen, that of a flared skirt at 0.86. */
const SLEEVES_END = 0.84

/** Whether sleeves stand out on both sides of the upper part, or hang beside the body down to the hem. */
export function hasSleeves(rows: BodyRows): boolean {
  const { top, bottom } = rows.bounds
  const lowest = top + (bottom - top) * SLEEVES_END
  return ([-1, 1] as const).every(
    (way) => (jumpOf(rows, way) ?? Infinity) < lowest || besideHem(rows, way) !== null,
  )
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

/** The row, searched from the hem upwards, above which the body's edge leaps outwards. */
function jumpOf(rows: BodyRows, way: Way): number | null {
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
    if (leaps && isUpright && isSleeve) return y
  }
  return null
}

/** How far a row has cloth beside the body on one side; NaN where there is no body. */
const besideBody = ({ left, right, farLeft, farRight }: BodyRows, y: number, way: Way): number =>
  way < 0 ? left[y]! - farLeft[y]! : farRight[y]! - right[y]!

/** The fringe of the cloth in pixels of the analysed picture. */
const FRINGE = 2

/**
 * How far sleeves hang below the hem at least, and how high the hem is at most, in heights of the garment; how wide the hem is
 * at least with what is beside it, in widths of the garment; and where the gap beside the sleeves ends, in half widths of the
 * garment and of that row. By experiment.
 */
const HANGING = { below: 0.03, highest: 0.4, hem: 0.5, inner: 0.4, outer: 0.92 }
/**
 * Sleeves that end at the hem: how high above it their gap shows at most, in heights; how wide the cuff and its gap,
 * and the body between, are at least; how wide the garment is at most at the height of the shoulders, in widths
 * and heights of the garment; and how many times as long as wide it is: ragged hems have gaps, too. By experiment.
 */
const AT_HEM = {
  above: 0.1,
  cuff: 0.08,
  body: 0.45,
  shoulders: { at: 0.15, width: 0.7 },
  longest: 1.5,
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
  if (bounds.bottom - hem < height * HANGING.below || hem < bounds.top + height * HANGING.highest) {
    return null
  }
  // The median, because an uneven hem has pieces below its last full row.
  const gaps = (edges: Float64Array) =>
    median(edges.subarray(hem, bounds.bottom).filter((x) => !Number.isNaN(x)))
  const left = axis - gaps(gapLeft)
  const right = gaps(gapRight) - axis
  const full = extentOf(rows, hem) / 2
  const half = (bounds.right - bounds.left) / 2
  const isHanging =
    full > half * HANGING.hem &&
    Math.min(left, right) > half * HANGING.inner &&
    Math.max(left, right) < full * HANGING.outer
  if (!isHanging) return null
  return { x: axis + way * (way < 0 ? left : right), y: hem }
}

/**
 * The top of the gap between the body and a cuff that ends at the hem, and half the width of the shoulders, which
 * is that of the hidden armholes; null when there is no such gap on both sides.
 */
function besideHem(rows: BodyRows, way: Way): (Point & { half: number }) | null {
  const { bounds, left, right } = rows
  const [width, height] = [bounds.right - bounds.left, bounds.bottom - bounds.top]
  const top = bounds.top + Math.round(height * AT_HEM.shoulders.at)
  const shoulders = extentOf(rows, top)
  if (!(shoulders < width * AT_HEM.shoulders.width) || height > width * AT_HEM.longest) return null
  const isCuff = (y: number, side: Way) => besideBody(rows, y, side) > width * AT_HEM.cuff
  for (let y = bounds.bottom - 1; y > bounds.bottom - height * AT_HEM.above; y--) {
    if (!isCuff(y, -1) || !isCuff(y, 1) || right[y]! - left[y]! < width * AT_HEM.body) continue
    while (besideBody(rows, y - 1, way) > FRINGE) y--
    return { x: way < 0 ? left[y]! : right[y]!, y, half: shoulders / 2 }
  }
  return null
}

/** The radius, as a share of the garment's height, in which the notch of an armpit is looked for. */
const NOTCH = 0.04
/** The lowest armpit, in half widths of the chest below the shoulder. */
const LOWEST_ARMPIT = 1.05

/** @param hidden half the width between armholes that the sleeves hide */
function sleeved(
  outline: readonly Point[],
  rows: BodyRows,
  corner: Point,
  way: Way,
  hidden?: number,
): Armpit {
  const { bounds, axis } = rows
  const height = bounds.bottom - bounds.top
  const at = innermost(outline, corner, height * NOTCH, axis, way)
  const apex = outline[at]!
  const half = hidden ?? Math.abs(apex.x - axis)
  // A sleeve that hangs close to the body hides the armpit: its gap begins far below.
  const lowest = shoulderTop(rows, axis + way * half * 0.9) + half * LOWEST_ARMPIT
  return { x: axis + way * half, y: Math.min(apex.y, lowest), at, sleeved: true }
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
export function holeEnd(outline: readonly Point[], rows: BodyRows, way: Way): Armpit | null {
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

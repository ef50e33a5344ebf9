// Landmarks of trousers, shorts and skirts.
import type { LowerGarment } from '../garment.ts'
import { resample, smoothLine } from '../lines.ts'
import type { Point } from '../raster.ts'
import { runsOf } from './profile.ts'
import type { Mask } from './regions.ts'
import type { BodyRows } from './body-rows.ts'
import { stretch, type Way } from './contour.ts'

export type LowerShape = Omit<LowerGarment, 'picture'>

const POINTS = 17

/**
 * @param outline the smoothed outline, clockwise
 * @param crotch where the legs part; null for a skirt
 */
export function lowerShapeOf(
  outline: readonly Point[],
  rows: BodyRows,
  crotch: Point | null,
): LowerShape {
  const { axis, bounds } = rows
  const corner = (way: Way, down: Way) => extreme(outline, axis, way, down, bounds)
  const [topLeft, topRight] = [corner(-1, -1), corner(1, -1)]
  const [lowLeft, lowRight] = [corner(-1, 1), corner(1, 1)]
  const line = (points: Point[]) => resample(smoothLine(points, 2), POINTS)
  return {
    kind: crotch ? 'trousers' : 'skirt',
    waist: line(stretch(outline, topLeft, topRight, 1)),
    left: line(stretch(outline, topLeft, lowLeft, -1)),
    right: line(stretch(outline, topRight, lowRight, 1)),
    legs: crotch && legsOf(rows, crotch),
  }
}

/** The index of the corner of the outline in one quarter. */
function extreme(
  outline: readonly Point[],
  axis: number,
  way: Way,
  down: Way,
  { top, bottom }: { top: number; bottom: number },
): number {
  const height = bottom - top
  let best = 0
  let most = -Infinity
  for (let i = 0; i < outline.length; i++) {
    const { x, y } = outline[i]!
    // At the waist, height decides: the hips are wider than it.
    const share = down < 0 ? 0.4 : 0.8
    if (down < 0 ? y > top + height * 0.15 : y < bottom - height * 0.3) continue
    const score = down * y + share * way * (x - axis)
    if (score > most) {
      most = score
      best = i
    }
  }
  return best
}

function legsOf(rows: BodyRows, crotch: Point): NonNullable<LowerShape['legs']> {
  const inner = (way: Way): Point[] => {
    const points: Point[] = [crotch]
    const { gapLeft, gapRight } = rows
    for (let y = Math.ceil(crotch.y) + 1; y < rows.bounds.bottom; y++) {
      const x = way < 0 ? gapLeft[y]! : gapRight[y]!
      if (!Number.isNaN(x)) points.push({ x, y: y + 0.5 })
    }
    if (points.length < 2) points.push({ x: crotch.x, y: rows.bounds.bottom })
    return resample(smoothLine(points, 3), POINTS)
  }
  return { crotch, leftInner: inner(-1), rightInner: inner(1) }
}

/** Long trousers are at least this many times as tall as wide. */
const LONG = 1.9
/** Where the legs of long trousers part at the latest, and usually, from waist to hem. */
const LOWEST_CROTCH = 0.42
const USUAL_CROTCH = 0.31

/**
 * Where the legs part, searched from the hem upwards. Legs that touch part above the gap that shows.
 * @returns null when there is no gap between legs
 */
export function crotchOf(mask: Mask, rows: BodyRows): Point | null {
  const { axis, bounds } = rows
  const height = bounds.bottom - bounds.top
  const long = height > (bounds.right - bounds.left) * LONG
  let count = 0
  let top: Point | null = null
  for (let y = bounds.bottom - 1; y > bounds.top + height * 0.12; y--) {
    const gap = gapAt(mask, y, axis, (bounds.right - bounds.left) * 0.22)
    if (!gap) {
      if (top && top.y - y > height * 0.03) break
      continue
    }
    rows.gapLeft[y] = gap.left
    rows.gapRight[y] = gap.right
    count++
    top = { x: (gap.left + gap.right) / 2, y }
  }
  // The slit of a skirt is short as well, but few long skirts are this narrow.
  if (!top || count < height * (long ? 0.02 : 0.1)) return null
  if (!long || top.y < bounds.top + height * LOWEST_CROTCH) return top
  return { x: (top.x + axis) / 2, y: bounds.top + height * USUAL_CROTCH }
}

function gapAt(mask: Mask, y: number, axis: number, reach: number) {
  const runs = runsOf(mask, y, 2)
  for (let i = 1; i < runs.length; i++) {
    const left = runs[i - 1]!.right
    const right = runs[i]!.left
    if (Math.abs((left + right) / 2 - axis) < reach) return { left, right }
  }
  return null
}

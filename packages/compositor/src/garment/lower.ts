// Landmarks of trousers, shorts and skirts.
import type { LowerGarment } from '../garment.ts'
import { resample } from '../lines.ts'
import type { Point } from '../raster.ts'
import { areaOfRow, boundsOf, maskWhere, runsOf, type Bounds, type Mask } from './mask.ts'
import { extentAtShare, widthBesideGap, type BodyRows } from './body-rows.ts'
import { bestIndex, HEM_WIDTH, stretch, type Way } from './contour.ts'
import { median } from '../plane.ts'
import { smoothLine } from '../smoothing.ts'

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
  const corner = (way: Way, down: Way) => cornerOf(outline, axis, way, down, bounds)
  const [topLeft, topRight] = [corner(-1, -1), corner(1, -1)]
  const [lowLeft, lowRight] = [corner(-1, 1), corner(1, 1)]
  const line = (points: Point[]) => resample(smoothLine(points, 2), POINTS)
  return {
    kind: crotch ? 'trousers' : 'skirt',
    waist: line(stretch(outline, topLeft, topRight, 1)),
    left: line(stretch(outline, topLeft, lowLeft, -1)),
    right: line(stretch(outline, topRight, lowRight, 1)),
    legs: crotch && legsOf(rows, crotch),
    wearer: null,
  }
}

/** The weight of width against height in the search of the waist's corners. Height decides: the hips are wider. */
const WAIST_WIDTH = 0.4
/** At the inner corner of a leg width decides: its side is almost upright. */
const INNER_HEM = 1.5
/** The shares of the garment's height within which its upper and its lower corners lie. */
const WAIST_ZONE = 0.15
const HEM_ZONE = 0.3

/** The index of the corner of the outline in one quarter. */
function cornerOf(
  outline: readonly Point[],
  axis: number,
  way: Way,
  down: Way,
  { top, bottom }: Bounds,
): number {
  const height = bottom - top
  const best = bestIndex(outline, ({ x, y }) => {
    if (down < 0 ? y > top + height * WAIST_ZONE : y < bottom - height * HEM_ZONE) return -Infinity
    return down * y + (down < 0 ? WAIST_WIDTH : HEM_WIDTH) * way * (x - axis)
  })
  return Math.max(0, best)
}

function legsOf(rows: BodyRows, crotch: Point): NonNullable<LowerShape['legs']> {
  const inner = (way: Way): Point[] => {
    const points: Point[] = [crotch]
    const { gapLeft, gapRight } = rows
    for (let y = Math.ceil(crotch.y) + 1; y < rows.bounds.bottom; y++) {
      const x = way < 0 ? gapLeft[y]! : gapRight[y]!
      if (!Number.isNaN(x)) points.push({ x, y: y + 0.5 })
    }
    // Below the inner corner of a hem aslant, the gap's edge is the hem.
    points.length = bestIndex(points, ({ x, y }) => y - INNER_HEM * way * x) + 1
    if (points.length < 2) points.push({ x: crotch.x, y: rows.bounds.bottom })
    return resample(smoothLine(points, 3), POINTS)
  }
  return { crotch, leftInner: inner(-1), rightInner: inner(1) }
}

/**
 * Below the hem, threads and ties cover at most the share `thin` of the widest row of the lower half. Within the share
 * `edge` of the height above them a row is at least `hem` wide: pointed hems narrow slowly. By experiment.
 */
const TASSELS = { thin: 0.3, edge: 0.03, hem: 0.75 }

/** The mask without what is narrow below the hem: threads, ties, a gap between legs that was taken for cloth. */
export function withoutTassels(mask: Mask): Mask {
  const bounds = boundsOf(mask)
  if (!bounds) return mask
  const height = bounds.bottom - bounds.top
  const widths = Array.from({ length: height }, (_, row) => areaOfRow(mask, bounds.top + row))
  const widest = Math.max(...widths.slice(Math.floor(height / 2)))
  const last = widths.findLastIndex((width) => width > TASSELS.thin * widest)
  const above = widths.slice(Math.max(0, last - Math.round(TASSELS.edge * height)), last + 1)
  if (Math.max(...above) < TASSELS.hem * widest) return mask
  return maskWhere(mask, (i) => mask.data[i] === 1 && i < (bounds.top + last + 1) * mask.width)
}

/** Long trousers are at least this many times as tall as wide. */
const LONG = 1.9
/** How wide they are at the hips at least, as a share of their width, and where that is in heights: skirts flare more. */
const HIPS = { at: 0.3, wide: 0.78 }
/**
 * Where legs part, as shares of the garment's height and, `aside` of the axis, of its width: the highest
 * crotch at all, as higher gaps are those of open fronts and beside sleeves; the lowest and the usual one of long
 * trousers; how long legs may touch between two pieces of the gap, how deep a notch in a hem is at most, and the least
 * length of the gap. Of 50 trousers and shorts the highest crotch is at 0.24. By experiment on product photos.
 */
const CROTCH = {
  highest: 0.18,
  lowest: 0.42,
  usual: 0.31,
  aside: 0.22,
  seam: 0.03,
  notch: 0.01,
  gap: 0.1,
  longGap: 0.02,
}

/**
 * Where the legs part, searched from the hem upwards, above notches in it. Legs that touch part above the gap that shows.
 * @param highest the highest crotch, as a share of the height: that of a garment that shows all of its upper edge
 * @returns null when there is no gap between legs
 */
export function crotchOf(mask: Mask, rows: BodyRows, highest = CROTCH.highest): Point | null {
  const { axis, bounds } = rows
  const height = bounds.bottom - bounds.top
  const width = bounds.right - bounds.left
  const long = height > width * LONG
  const flares = extentAtShare(rows, HIPS.at) < width * HIPS.wide
  let count = 0
  let top: Point | null = null
  for (let y = bounds.bottom - 1; y > bounds.top + height * highest; y--) {
    const gap = gapAt(mask, y, axis, width * CROTCH.aside)
    if (!gap) {
      if (!top || top.y - y <= height * CROTCH.seam) continue
      if (count > height * CROTCH.notch) break
      top = null
      count = 0
      continue
    }
    rows.gapLeft[y] = gap.left
    rows.gapRight[y] = gap.right
    count++
    top = { x: (gap.left + gap.right) / 2, y }
  }
  if (top && top.y - 1 <= bounds.top + height * highest) return null
  // The slit of a skirt is short as well, but few long skirts are this narrow and straight.
  if (!top || count < height * (long && !flares ? CROTCH.longGap : CROTCH.gap)) return null
  if (!long || top.y < bounds.top + height * CROTCH.lowest) return top
  return { x: (top.x + axis) / 2, y: bounds.top + height * CROTCH.usual }
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

/** The part of long legs that is compared, in shares of their length: hems aslant are narrow. */
const LEG = { from: 0.1, to: 0.8, least: 0.3 }

/** How wide the narrowest place of a leg is, in usual widths of it; 1 for short legs. */
export function narrowestLeg(rows: BodyRows, crotch: Point): number {
  const { top, bottom } = rows.bounds
  const length = bottom - crotch.y
  if (length < LEG.least * (bottom - top)) return 1
  const rowsOfLegs = Array.from(
    { length: Math.floor((LEG.to - LEG.from) * length) },
    (_, row) => Math.round(crotch.y + LEG.from * length) + row,
  )
  const shares = ([-1, 1] as const).map((way) => {
    const widths = rowsOfLegs.map((y) => widthBesideGap(rows, y, way)).filter(Number.isFinite)
    return widths.length > 0 ? Math.min(...widths) / median(widths) : 1
  })
  return Math.min(...shares)
}

// Whether the cloth of a product photo can be the kind of garment it was taken for.
import type { Garment } from '../garment.ts'
import { percentile } from '../plane.ts'
import type { Raster } from '../raster.ts'

/** Heights of the cloth, in equal steps, at which its width is read. */
const ROWS = 48
/** The alpha from which on a pixel is cloth. */
const OPAQUE = 128
/** The row that shows the upper edge; above it the cloth may be frayed. */
const EDGE_ROW = 4
/** The least cloth in a row, as a share of the picture's width. */
const LEAST_CLOTH = 0.02
/** The rim of the upper edge that is left out on both sides, as a share of its width. */
const SIDE_RIM = 0.12
/** The part of the rows that is searched for a waist: down to a little below the middle. */
const SEARCHED = 0.55

interface Row {
  left: number
  right: number
}

/**
 * How much a skirt looks like a top or a dress: the depth of the upper edge and the excess of the upper
 * part over a narrower place below it, relative to the width. 0 for other kinds, which are not checked:
 * the gap between two legs leaves no doubt.
 */
export function doubtOf(garment: Garment): number {
  if (garment.kind !== 'skirt') return 0
  const rows = rowsOf(garment.picture)
  return Math.max(edgeDepth(garment.picture, rows), narrowing(rows))
}

/** The widths of the cloth at heights from its top to its bottom. */
function rowsOf({ width, height, data }: Raster): Row[] {
  const isCloth = (x: number, y: number) => data[(y * width + x) * 4 + 3]! > OPAQUE
  const found: (Row & { y: number })[] = []
  for (let y = 0; y < height; y++) {
    let [left, right, count] = [-1, -1, 0]
    for (let x = 0; x < width; x++) {
      if (!isCloth(x, y)) continue
      if (left < 0) left = x
      right = x
      count++
    }
    if (count > LEAST_CLOTH * width) found.push({ y, left, right })
  }
  const first = found[0]?.y ?? 0
  const length = (found.at(-1)?.y ?? 0) - first
  return Array.from({ length: ROWS }, (_, i) => {
    const y = first + ((i + 0.5) / ROWS) * length
    return found.find((row) => row.y >= y) ?? { left: 0, right: 0 }
  })
}

/** How far the upper edge lies below the cloth's top in the middle, relative to the waist's width. */
function edgeDepth({ width, height, data }: Raster, rows: readonly Row[]): number {
  const { left, right } = rows[EDGE_ROW] ?? { left: 0, right: 0 }
  const span = right - left
  if (span < 8) return 1
  const tops: number[] = []
  for (let x = Math.ceil(left + SIDE_RIM * span); x <= right - SIDE_RIM * span; x++) {
    let y = 0
    while (y < height && data[(y * width + x) * 4 + 3]! <= OPAQUE) y++
    tops.push(y)
  }
  return (percentile(tops, 0.9) - percentile(tops, 0.03)) / span
}

/** How much wider the widest of the upper third is than the narrowest row below it, down to the middle. */
function narrowing(rows: readonly Row[]): number {
  const width = ({ left, right }: Row) => right - left
  let [widest, most] = [0, 0]
  for (const row of rows.slice(1, Math.floor(ROWS * SEARCHED))) {
    widest = Math.max(widest, width(row))
    if (width(row) > 0) most = Math.max(most, widest / width(row) - 1)
  }
  return most
}

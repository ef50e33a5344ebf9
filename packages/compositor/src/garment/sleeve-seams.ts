// The seams of sleeves that lie against the body. Such a garment has the silhouette of one without sleeves.
import { median, percentile } from '../plane.ts'
import { bodyRowsOf, type BodyRows } from './body-rows.ts'
import { bestIndex, type Way } from './contour.ts'
import type { Edges } from './edges.ts'
import { topOf, type Mask } from './mask.ts'

/**
 * Where a seam is: between two heights in shares of the garment's, so far from the axis at least and at most in
 * shares of the way to the outline, and a sleeve's least width inside of it, in widths of the garment.
 */
const SEAM = { from: 0.25, to: 0.92, inner: 0.42, outer: 0.9, sleeve: 0.04 }
/**
 * The colour change that counts half: at least, and the one that so large a share of the cloth stays below, which is
 * much in a pattern; and the cost of a step aside.
 */
const HALF = { least: 0.015, share: 0.9 }
const ASIDE = 0.08
/**
 * The least mean of the change along a seam, where 1 is the most. Of some 50 garments that look sleeveless, among 280 photos,
 * twelve have more on both sides, and all of them have sleeves. Of those without sleeves none has more than 0.49.
 */
const LEAST = 0.53
/**
 * The armpit is at least so deep below the garment's upper end beside it, and where the seam is nearly as far from the
 * axis as usual, in its usual distances: above, it follows the armhole inwards.
 */
const ARMPIT = { depth: 0.95, near: 0.94 }
/** How wide the cut is, in pixels. */
const CUT = 2

/** For each row how far the seam is from the axis; 0 above it. */
type Seam = Float64Array

/** @returns the mask cut along both seams, from the armpits down; null when there are none */
export function sleevesApart(mask: Mask, edges: Edges): Mask | null {
  const rows = bodyRowsOf(mask)
  if (!rows) return null
  const half = halfChange(mask, edges)
  const cut = { ...mask, data: mask.data.slice() }
  for (const way of [-1, 1] as const) {
    const seam = seamOf(rows, edges, half, way)
    if (!seam) return null
    cutAt(cut, rows, seam, way)
  }
  return cut
}

function halfChange({ data }: Mask, { right }: Edges): number {
  const isInside = (i: number) => data[i - 1] === 1 && data[i] === 1 && data[i + 2] === 1
  const changes = Array.from(data.keys(), (i) => (isInside(i) ? Math.sqrt(right[i]!) : NaN))
  const known = changes.filter((change) => change >= 0)
  return Math.max(HALF.least, percentile(known, HALF.share))
}

/** The strongest line from above to below on one side, by dynamic programming; null when it is too weak. */
function seamOf(
  { bounds, axis, farLeft, farRight }: BodyRows,
  { width, right }: Edges,
  half: number,
  way: Way,
): Seam | null {
  const breadth = bounds.right - bounds.left
  const height = bounds.bottom - bounds.top
  const first = Math.round(bounds.top + height * SEAM.from)
  const last = Math.round(bounds.top + height * SEAM.to)
  const gain = (y: number, off: number) => {
    const far = way < 0 ? axis - farLeft[y]! : farRight[y]! - axis
    if (!(off > far * SEAM.inner && off < Math.min(far * SEAM.outer, far - breadth * SEAM.sleeve)))
      return -1
    const change = Math.sqrt(right[y * width + Math.round(axis + way * off)]!)
    return change / (change + half)
  }
  const offsets = Array.from({ length: breadth }, (_, off) => off)
  let totals = offsets.map((off) => gain(first, off))
  const origins: number[][] = []
  for (let y = first + 1; y <= last; y++) {
    const above = (off: number) => (totals[off] ?? -Infinity) - ASIDE
    const origin = offsets.map((off) => {
      const aside = above(off - 1) > above(off + 1) ? off - 1 : off + 1
      return totals[off]! >= above(aside) ? off : aside
    })
    totals = offsets.map((off) => {
      const from = origin[off]!
      return totals[from]! - (from === off ? 0 : ASIDE) + gain(y, off)
    })
    origins.push(origin)
  }
  let off = bestIndex(totals, (total) => total)
  if (!(totals[off]! > LEAST * (last - first + 1))) return null
  const seam = new Float64Array(bounds.bottom).fill(off, first)
  for (let y = last; y > first; y--) {
    off = origins[y - first - 1]![off]!
    seam[y - 1] = off
  }
  return seam
}

function cutAt(mask: Mask, { bounds, axis }: BodyRows, seam: Seam, way: Way): void {
  const usual = median(seam.filter((off) => off > 0))
  const top = topOf(mask, axis + way * usual) ?? bounds.top
  const armhole = seam.findIndex((off) => off > usual * ARMPIT.near)
  for (let y = Math.max(armhole, Math.round(top + usual * ARMPIT.depth)); y < bounds.bottom; y++) {
    const at = y * mask.width + Math.round(axis + way * seam[y]!)
    mask.data.fill(0, at, at + CUT)
  }
}

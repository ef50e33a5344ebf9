// The kind of a garment and its landmarks, from its silhouette.
import { traceOutline } from './outline.ts'
import type { Mask } from './regions.ts'
import { runsOf } from './profile.ts'
import { keepLarge } from './regions.ts'
import { hasSleeves } from './armpit.ts'
import { bodyRowsOf } from './body-rows.ts'
import { smoothClosed } from './contour.ts'
import { crotchOf, lowerShapeOf, type LowerShape } from './lower.ts'
import { upperShapeOf, type UpperShape } from './upper.ts'

export type Shape = UpperShape | LowerShape

/** @returns null when the silhouette cannot be a garment */
export function shapeOfGarment(mask: Mask): Shape | null {
  const rows = bodyRowsOf(mask)
  if (!rows) return null
  const { bounds } = rows
  const height = bounds.bottom - bounds.top
  const width = bounds.right - bounds.left
  if (height < 12 || width < 8 || height > width * 7 || width > height * 5) return null
  const outline = smoothClosed(traceOutline(keepLarge(mask, 1)), 1)
  if (outline.length < 24) return null
  if (startsWithWaist(mask)) {
    const crotch = crotchOf(mask, rows)
    return lowerShapeOf(outline, rows, crotch)
  }
  return upperShapeOf(outline, rows)
}

/** Trousers and skirts begin with their full waist; garments with shoulders begin narrow. */
export function startsWithWaist(mask: Mask): boolean {
  const rows = bodyRowsOf(mask)
  if (!rows) return false
  const { bounds, farLeft, farRight } = rows
  const height = bounds.bottom - bounds.top
  const covered = (share: number) => {
    const y = Math.round(bounds.top + share * height)
    return runsOf(mask, y).reduce((sum, run) => sum + run.right - run.left, 0)
  }
  const extent = (share: number) => {
    const y = Math.round(bounds.top + share * height)
    return farRight[y]! - farLeft[y]!
  }
  if (hasSleeves(rows) && !crotchOf(mask, rows)) return false
  return (
    covered(0.01) > extent(0.04) * 0.82 &&
    covered(0.02) > extent(0.08) * 0.7 &&
    covered(0.02) > extent(0.2) * 0.55
  )
}

// The kind of a garment and its landmarks, from its silhouette.
import { traceOutline } from './outline.ts'
import type { Mask } from './mask.ts'
import { keepLarge } from './regions.ts'
import { bodyRowsOf } from './body-rows.ts'
import { crotchOf, lowerShapeOf, type LowerShape } from './lower.ts'
import { upperShapeOf, type UpperShape } from './upper.ts'
import { smoothClosed } from '../smoothing.ts'

export type Shape = UpperShape | LowerShape

/** Pixels of the analysed picture below which no landmarks can be placed. */
const LEAST = { height: 12, width: 8, outline: 24 }
/** No garment is so many times as tall as wide, or as wide as tall. */
const TALLEST = 7
const WIDEST = 5

/**
 * @param isLower whether it is that of trousers or a skirt
 * @returns null when the silhouette cannot be a garment
 */
export function shapeOfGarment(mask: Mask, isLower: boolean): Shape | null {
  const rows = bodyRowsOf(mask)
  if (!rows) return null
  const { bounds } = rows
  const height = bounds.bottom - bounds.top
  const width = bounds.right - bounds.left
  if (
    height < LEAST.height ||
    width < LEAST.width ||
    height > width * TALLEST ||
    width > height * WIDEST
  )
    return null
  const outline = smoothClosed(traceOutline(keepLarge(mask, 1)), 1)
  if (outline.length < LEAST.outline) return null
  return isLower ? lowerShapeOf(outline, rows, crotchOf(mask, rows)) : upperShapeOf(outline, rows)
}

/** Whether a shape has both sleeves or both legs. */
export const hasParts = (shape: Shape) =>
  'neckline' in shape ? shape.left.sleeve && shape.right.sleeve : shape.legs

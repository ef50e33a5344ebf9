// The landmarks of a garment of a known kind, from its silhouette.
import { traceOutline } from './outline.ts'
import { area, type Mask } from './mask.ts'
import { keepLarge } from './regions.ts'
import { bodyRowsOf, type BodyRows } from './body-rows.ts'
import { crotchOf, lowerShapeOf, type LowerShape } from './lower.ts'
import { armpitsIn } from './product.ts'
import { upperShapeOf, type UpperShape } from './upper.ts'
import { sleeveOutline } from '../garment.ts'
import { areaWithin } from '../lines.ts'
import type { Point } from '../raster.ts'
import { smoothClosed } from '../smoothing.ts'

export type Shape = UpperShape | LowerShape

/** Pixels of the analysed picture below which no landmarks can be placed. */
const LEAST = { height: 12, width: 8, outline: 24 }
/** No garment is so many times as tall as wide, or as wide as tall. */
const TALLEST = 7
const WIDEST = 5
/** The share of its bounding box from which it is a picture in a frame: of 700 garments one has 0.969. */
const RECTANGLE = 0.98

/** @returns the smoothed outline of a silhouette and its rows; null when it cannot be a garment */
function outlineOf(mask: Mask): { outline: Point[]; rows: BodyRows } | null {
  const rows = bodyRowsOf(mask)
  if (!rows) return null
  const { bounds } = rows
  const height = bounds.bottom - bounds.top
  const width = bounds.right - bounds.left
  if (
    height < LEAST.height ||
    width < LEAST.width ||
    height > width * TALLEST ||
    width > height * WIDEST ||
    area(mask) > height * width * RECTANGLE
  )
    return null
  const outline = smoothClosed(traceOutline(keepLarge(mask, 1)), 1)
  return outline.length < LEAST.outline ? null : { outline, rows }
}

/**
 * @param sleeves what the model sees as such
 * @returns the shape as that of a top or a dress; null when the silhouette cannot be one
 */
export function upperShape(mask: Mask, sleeves: Mask): UpperShape | null {
  const { mask: open, ...armpits } = armpitsIn(mask, sleeves)
  const found = outlineOf(open)
  return found && upperShapeOf(found.outline, found.rows, armpits)
}

/** @returns the shape as that of trousers or a skirt; null when the silhouette cannot be one */
export function lowerShape(mask: Mask): LowerShape | null {
  const found = outlineOf(mask)
  return found && lowerShapeOf(found.outline, found.rows, crotchOf(mask, found.rows))
}

/** Whether a shape has both sleeves or both legs. */
export const hasParts = (shape: Shape) =>
  'neckline' in shape ? shape.left.sleeve && shape.right.sleeve : shape.legs

/** How many times as large as the other one a sleeve is at most. Of 440 tops and dresses nine exceed it; seven are read wrongly. */
const UNLIKE = 3

/** Whether one sleeve is seen and the other one is not, or hardly. */
export function hasOneSleeve(shape: Shape): boolean {
  if (!('neckline' in shape)) return false
  const areas = [shape.left, shape.right].map(({ sleeve }) =>
    sleeve ? areaWithin(sleeveOutline(sleeve)) : 0,
  )
  return Math.max(...areas) > UNLIKE * Math.min(...areas)
}
